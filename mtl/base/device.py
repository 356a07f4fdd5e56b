"""The device that computes, and its floating-point arithmetic."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mtl.base.errors import InputError
from mtl.base.memory import keep_memory

CPU_INFORMATION = Path("/proc/cpuinfo")


def device_of(accelerator: str, key: str = "trainer.accelerator") -> torch.device:
    """The device for an accelerator's name: cpu, gpu, cuda, mps, or auto (a GPU if there is one, else the CPU). auto never means mps, where packed
    LSTMs have had wrong gradients (pytorch#102911); gpu and mps do. Raises InputError, which names `key`, the setting, if there is no such device."""
    gpu = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    present = ["auto", "cpu"] if gpu is None else ["auto", "cpu", "gpu", gpu.type]
    if accelerator not in present:
        raise InputError(f"torch finds no such device; use {' or '.join(present)}", key=key, value=accelerator)
    if gpu is None or accelerator == "cpu" or (accelerator == "auto" and gpu.type == "mps"):
        return torch.device("cpu")
    return gpu


@cache
def bfloat16_instructions() -> tuple[str, ...]:
    """The CPU's instruction sets that multiply bfloat16 numbers: amx_bf16, avx512_bf16, bf16 (Arm); none without /proc/cpuinfo."""
    words = set(_cpu_information().split())
    return tuple(name for name in ("amx_bf16", "avx512_bf16", "bf16") if name in words)


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether a device multiplies bfloat16 numbers faster than float32 numbers. A CPU needs instructions for it, and a torch with oneDNN."""
    return device.type != "cpu" or (torch.backends.mkldnn.is_available() and bool(bfloat16_instructions()))


@contextmanager
def exact_arithmetic() -> Iterator[None]:
    """Within the block, a GPU computes float32 as IEEE 754 says, not in TF32 (factors of 10 bits), and cuDNN's algorithms are deterministic."""
    cudnn = torch.backends.cudnn
    operations: list[Any] = [cudnn.rnn, cudnn.conv, torch.backends.cuda.matmul]  # type: ignore[attr-defined]
    precisions = [operation.fp32_precision for operation in operations]
    was_deterministic = cudnn.deterministic
    for operation in operations:
        operation.fp32_precision = "ieee"
    cudnn.deterministic = True
    try:
        yield
    finally:
        cudnn.deterministic = was_deterministic
        for operation, precision in zip(operations, precisions, strict=True):
            operation.fp32_precision = precision


@contextmanager
def threads_of_torch(threads: int) -> Iterator[None]:
    """Within the block, torch uses this number of threads; 0: as before."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads or before)
        yield
    finally:
        torch.set_num_threads(before)


def use_device(device: torch.device, threads: int | None) -> None:
    """Let this process train on the device: on a CPU with `keep_memory()`, and with this number of CPU threads; None: as many as torch takes."""
    if device.type == "cpu":
        keep_memory()
    if threads:
        torch.set_num_threads(threads)


def describe_device(device: torch.device) -> str:
    """The CPU's model and threads ("CPU: …, 4 of 8 threads"), a CUDA GPU's model and float32 mode ("GPU: …, float32 ieee"), or "GPU: mps"."""
    if device.type == "cuda":
        precision = torch.backends.cudnn.rnn.fp32_precision  # type: ignore[attr-defined]
        return f"GPU: {torch.cuda.get_device_name()}, float32 {precision}"
    if device.type != "cpu":
        return f"GPU: {device.type}"
    lines = _cpu_information().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"CPU: {model}, {torch.get_num_threads()} of {os.cpu_count()} threads"


def _cpu_information() -> str:
    """The text of /proc/cpuinfo; empty on systems without it."""
    return CPU_INFORMATION.read_text(encoding="utf-8", errors="replace") if CPU_INFORMATION.is_file() else ""


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy a CPU tensor to a device, without waiting for a GPU."""
    return (tensor.pin_memory() if device.type == "cuda" else tensor).to(device, non_blocking=True)
