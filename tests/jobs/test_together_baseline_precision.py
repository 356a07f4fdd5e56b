"""Runs in bfloat16 on a CPU, with and without instructions for it."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from command_line import job
from data_files import read_json
from input_errors import refused

from mtl.data.examples import read_targets
from mtl.jobs.baseline import run_baseline
from mtl.jobs.job import Job
from mtl.methods.predictor import Predictor
from mtl.model.lstm import BiLSTM
from mtl.training import stage as fitting

pytestmark = pytest.mark.slow
MORE = ("seeds=[1]", "trainer.accelerator=cpu", "trainer.precision=bf16-mixed")
FORCED = (*MORE, "trainer.force_precision=true")


@pytest.fixture(autouse=True)
def without_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU has no bfloat16 instructions."""
    set_instructions(monkeypatch, False)


def set_instructions(monkeypatch: pytest.MonkeyPatch, found: bool) -> None:
    monkeypatch.setattr("mtl.training.precision.multiplies_bfloat16", lambda device: found)


def begin(baseline: Job) -> None:
    """Run until stage 1 has trained."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(fitting, "write_json", interrupt)
        run_baseline(baseline)


@contextmanager
def lstm_dtypes() -> Iterator[set[torch.dtype]]:
    """The dtypes of all outputs of BiLSTMs within the block."""
    seen: set[torch.dtype] = set()
    forward = BiLSTM.forward

    def spy(lstm: BiLSTM, inputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        outputs = forward(lstm, inputs, lengths)
        seen.add(outputs.dtype)
        return outputs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BiLSTM, "forward", spy)
        yield seen


@pytest.mark.parametrize(
    "more",
    [
        ("variant=frozen",),
        ("variant=finetune", "finetune.threshold=dev"),
        ("variant=attention", "head.attention_size=6"),
        ("architecture=jiant", "head.projection=6"),
    ],
)
def test_a_whole_run_and_its_predictor_compute_in_bfloat16(settings: list[str], more: tuple[str, ...]) -> None:
    baseline = job([*settings, *FORCED, *more])
    before = torch.backends.cudnn.rnn.fp32_precision
    with lstm_dtypes() as trained:
        summary = run_baseline(baseline)
    assert torch.backends.cudnn.rnn.fp32_precision == before
    assert trained == {torch.bfloat16} and summary["precision"] == "bf16-mixed"
    folder = baseline.folder
    for id, task in baseline.suite.tasks.items():
        # Reading a prediction that is not finite would raise.
        gold = read_targets(task, folder.gold("dev", id))
        assert len(read_targets(task, folder.predictions(1, "dev", id))) == len(gold)
        curve = read_json(folder.seed(1) / f"finetune/{id}/done.json")["curve"]
        assert all(math.isfinite(row["train/loss"]) for row in curve[1:])
    with lstm_dtypes() as used:
        predictor = Predictor.load(folder.path)
        predictor.predict("kansla", [["solen skiner"]])
        assert predictor.encode(["solen skiner", "regnet"]).dtype == "float32"
    assert used == {torch.bfloat16}


def test_a_run_continues_only_in_its_own_precision(
    settings: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plain, forced = job([*settings, *MORE]), job([*settings, *FORCED])
    begin(plain)
    for other in (forced, plain):
        set_instructions(monkeypatch, other is plain)
        refused(run_baseline, other)
    set_instructions(monkeypatch, False)
    caplog.clear()
    with caplog.at_level("INFO", "mtl"), lstm_dtypes() as seen:
        assert run_baseline(plain)["precision"] == "32-true"
    slower = "trainer.precision=bf16-mixed: would be slower than float32"
    assert seen == {torch.float32} and sum(line.startswith(slower) for line in caplog.messages) == 1
    # A finished run is read on any machine.
    set_instructions(monkeypatch, True)
    assert run_baseline(forced)["precision"] == "32-true"
