"""Where tensors are computed."""

import torch
from torch import Tensor

from mtl.errors import InputError


def device_of(accelerator: str, key: str = "trainer.accelerator") -> torch.device:
    """The device that an accelerator's name (cpu, gpu, cuda, mps, or auto) means; auto: a GPU where there is one.

    Raises InputError, which names the key that the name stood under, where there is no such device.
    """
    found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    present = ["auto", "cpu", *(["gpu", found.type] if found is not None else [])]
    if accelerator not in present:
        raise InputError(f"{key}={accelerator}: torch finds no such device; use {' or '.join(present)}")
    return torch.device("cpu") if found is None or accelerator == "cpu" else found


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor of the CPU on a device; a GPU is not waited for."""
    return (tensor.pin_memory() if device.type == "cuda" else tensor).to(device, non_blocking=True)
