"""The device that computes, and its floating-point precision."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from mtl.errors import InputError


def device_of(accelerator: str, key: str = "trainer.accelerator") -> torch.device:
    """The device for an accelerator's name: cpu, gpu, cuda, mps, or auto (a GPU if there is one, else the CPU).

    key: the configuration key that the name comes from, for the message. Raises InputError if there is no such device.
    """
    found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    present = ["auto", "cpu", *(["gpu", found.type] if found is not None else [])]
    if accelerator not in present:
        raise InputError(f"{key}={accelerator}: torch finds no such device; use {' or '.join(present)}")
    return torch.device("cpu") if found is None or accelerator == "cpu" else found


def check_precision(precision: str, device: torch.device) -> None:
    """Raise InputError if the device cannot train in this `trainer.precision`."""
    if precision == "16-mixed" and device.type == "cpu":
        raise InputError(
            f"trainer.precision={precision}: needs a GPU; on a CPU set trainer.precision=bf16-mixed or 32-true"
        )


@contextmanager
def exact_arithmetic() -> Iterator[None]:
    """Within the block, a GPU computes float32 as IEEE 754 says, as a CPU does, and cuDNN's algorithms are deterministic.

    By default, cuDNN computes LSTMs and convolutions in TF32 on recent GPUs: it rounds each factor from 23 to 10 bits.
    """
    cudnn = torch.backends.cudnn
    operations: list[Any] = [cudnn.rnn, cudnn.conv, torch.backends.cuda.matmul]  # type: ignore[attr-defined]
    before, deterministic = [operation.fp32_precision for operation in operations], cudnn.deterministic
    for operation in operations:
        operation.fp32_precision = "ieee"
    cudnn.deterministic = True
    try:
        yield
    finally:
        cudnn.deterministic = deterministic
        for operation, precision in zip(operations, before, strict=True):
            operation.fp32_precision = precision


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy a CPU tensor to a device, without waiting for a GPU."""
    return (tensor.pin_memory() if device.type == "cuda" else tensor).to(device, non_blocking=True)
