import logging

import pytest
import torch
from input_errors import refused
from torch import nn

from mtl.base.settings.schema import TrainerConfig
from mtl.training.precision import check_precision, mixed_precision, used_precision

CPU, GPU = torch.device("cpu"), torch.device("cuda")


def trainer(precision: str, force: bool = False) -> TrainerConfig:
    return TrainerConfig(accelerator="cpu", precision=precision, force_precision=force)


@pytest.fixture(params=[True, False], ids=["instructions", "none"])
def has_instructions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the CPU has bfloat16 instructions."""
    found: bool = request.param
    monkeypatch.setattr("mtl.training.precision.multiplies_bfloat16", lambda device: found or device.type != "cpu")
    return found


def test_the_precision_that_is_used(has_instructions: bool) -> None:
    for precision in ("32-true", "16-mixed", "bf16-mixed"):
        assert used_precision(trainer(precision), GPU) == precision
        on_cpu = used_precision(trainer(precision), CPU)
        assert on_cpu == (precision if has_instructions and precision == "bf16-mixed" else "32-true")
    assert used_precision(trainer("bf16-mixed", force=True), CPU) == "bf16-mixed"
    assert used_precision(trainer("16-mixed", force=True), CPU) == "32-true"
    refused(lambda: check_precision(trainer("16-mixed")), key="trainer.precision")


def test_float32_instead_of_bfloat16_is_one_line(has_instructions: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mtl")
    for config in (trainer("32-true"), trainer("bf16-mixed", force=True)):
        check_precision(config)
    assert caplog.messages == []
    check_precision(trainer("bf16-mixed"))
    if has_instructions:
        assert caplog.messages == []
    else:
        (line,) = caplog.messages
        assert line.startswith("trainer.precision=bf16-mixed: would be slower than float32") and "\n" not in line


def test_a_network_computes_in_the_precision_that_is_used(has_instructions: bool) -> None:
    layer, vectors = nn.Linear(3, 2), torch.randn(4, 3)
    for config, dtype in (
        (trainer("32-true"), torch.float32),
        (trainer("16-mixed"), torch.float32),
        (trainer("bf16-mixed"), torch.bfloat16 if has_instructions else torch.float32),
        (trainer("bf16-mixed", force=True), torch.bfloat16),
    ):
        with mixed_precision(config, CPU):
            assert layer(vectors).dtype == dtype
    assert layer(vectors).dtype == torch.float32
