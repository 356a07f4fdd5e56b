"""The precision in which networks train, encode and predict: what `trainer.precision` means on a device."""

from typing import Any

import torch

from mtl.base.device import device_of, multiplies_bfloat16
from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.settings.schema import TrainerConfig

DTYPES = {"16-mixed": torch.float16, "bf16-mixed": torch.bfloat16}  # the types of the factors of matrix products


def used_precision(config: TrainerConfig, device: torch.device) -> str:
    """The precision that a device computes in: `trainer.precision`, or 32-true where that is not possible or would be slower. On a CPU, 16-mixed is
    not possible. bf16-mixed is slower on a CPU without instructions for it, and is used there only with `trainer.force_precision`."""
    wanted = config.precision
    if wanted == "16-mixed" and device.type == "cpu":
        return "32-true"
    if wanted == "bf16-mixed" and not (config.force_precision or multiplies_bfloat16(device)):
        return "32-true"
    return wanted


def training_precision(config: TrainerConfig) -> str:
    """`used_precision` on the device that trains."""
    return used_precision(config, device_of(config.accelerator))


def check_precision(config: TrainerConfig) -> None:
    """Log a line if training will be in float32 instead of bfloat16. Raises InputError if the device cannot train in `trainer.precision`."""
    wanted, used = config.precision, training_precision(config)
    if wanted == used:
        return
    if wanted == "16-mixed":
        message = "needs a GPU; on a CPU set trainer.precision=bf16-mixed or 32-true"
        raise InputError(message, key="trainer.precision", value=wanted)
    reason = "would be slower than float32, because no bfloat16 instructions were found that torch can use on this CPU"
    remedy = "trainer.force_precision=true uses bfloat16"
    logger.info("trainer.precision=%s: %s; training uses float32 (%s)", wanted, reason, remedy)


def choose_attention(model: Any, config: TrainerConfig, device: torch.device) -> None:
    """Make a model of the transformers library compute attention as plain matrix products where that is faster: in bfloat16 on a CPU. A training step
    with PyTorch's fused attention takes 1.1 to 1.5 times as long there; in float32 both take the same time."""
    if device.type == "cpu" and used_precision(config, device) == "bf16-mixed":
        model.set_attn_implementation("eager")


def mixed_precision(config: TrainerConfig, device: torch.device) -> torch.autocast:
    """Within the block, a network on this device computes in `used_precision`; outside it, in float32."""
    dtype = DTYPES.get(used_precision(config, device))
    return torch.autocast(device.type, dtype, enabled=dtype is not None)
