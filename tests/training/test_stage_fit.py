"""A stage that is interrupted and resumed ends as one that was not; its best weights are those of its best validation."""

import errno
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
import torch
from data_files import read_json
from input_errors import refused
from pytorch_lightning.loggers import CSVLogger
from stage_parts import CPU, DEV, TASK, Cut, assert_same_weights, batches, loader, module, network, stage
from torch.nn.utils import parameters_to_vector
from torch.utils.data import DataLoader

from mtl.base.errors import DivergedError, InputError
from mtl.base.files import write_json
from mtl.base.settings.schema import TrainerConfig
from mtl.model.network import Batch, Heads, Network
from mtl.training import stage as fitting
from mtl.training.checkpoints import WEIGHTS_FILES, load_finished
from mtl.training.module import MultitaskModule
from mtl.training.optimizers import Optimization
from mtl.training.stage import Stage, fit


def average_of(folder: Path) -> float:
    """The average of the validation whose weights a finished stage left."""
    return read_json(folder / "done.json")["average"]


def fitted(made: Stage) -> MultitaskModule:
    trained = module()
    fit(trained, made, CPU)
    return trained


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> MultitaskModule:
    """What a stage trains that nothing interrupts."""
    return fitted(stage(tmp_path_factory.mktemp("plain") / "stage"))


def without_seconds(module: MultitaskModule) -> list[dict[str, float]]:
    return [{key: value for key, value in row.items() if key != "seconds"} for row in module.curve]


@pytest.mark.parametrize(
    ("cuts", "checkpoint", "validate_first"),
    [([0, 1], "best", False), ([2, 5, 9], "best", False), ([0, 3, 4], "best", True), ([3, 3, 4], "last", False)],
)
def test_resumed_it_ends_the_same(tmp_path: Path, cuts: list[int], checkpoint: str, validate_first: bool) -> None:
    def run(trained: MultitaskModule, name: str, cut: int | None = None) -> None:
        fit(trained, stage(tmp_path / name / "stage", 100, cut, checkpoint, validate_first), CPU)

    plain, begun = module(), time.monotonic()
    run(plain, "plain")
    assert 0 < plain.curve[0]["seconds"] <= plain.curve[-1]["seconds"] <= time.monotonic() - begun
    for number, cut in enumerate(cuts):
        with pytest.raises(Cut):
            run(module(), f"cut{number}", cut)
        (tmp_path / f"cut{number}").rename(tmp_path / f"cut{number + 1}")  # a folder may move
    (tmp_path / f"cut{len(cuts)}").rename(tmp_path / "cut")
    resumed = module()
    run(resumed, "cut")
    assert average_of(tmp_path / "cut/stage") == average_of(tmp_path / "plain/stage")
    assert_same_weights(plain, resumed)
    assert without_seconds(plain) == without_seconds(resumed)
    assert [row["step"] for row in plain.curve] == [*([0.0] if validate_first else []), *range(4, 41, 4)]
    seconds = [row["seconds"] for row in resumed.curve]
    assert seconds == sorted(seconds) and seconds[0] > 0  # the time before a cut counts
    assert not (tmp_path / "cut/stage/last.ckpt").exists()


@pytest.mark.parametrize(("checkpoint", "validate_first"), [("best", False), ("best", True), ("last", False)])
def test_patience_stays_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: str, validate_first: bool
) -> None:
    def run(trained: MultitaskModule, name: str) -> None:
        fit(trained, stage(tmp_path / name / "stage", 1, None, checkpoint, validate_first), CPU)

    # At this learning rate no validation is better than the one before.
    plain = module(1e-12)
    run(plain, "plain")
    assert len(plain.curve) == 2

    def killed(*_: object) -> None:
        raise Cut

    # Cut off after the last validation, before the stage is finished.
    with monkeypatch.context() as patch, pytest.raises(Cut):
        patch.setattr(fitting, "write_json", killed)
        run(module(1e-12), "cut")
    assert not (tmp_path / "cut/stage/done.json").exists()
    resumed = module(1e-12)
    run(resumed, "cut")
    assert average_of(tmp_path / "cut/stage") == average_of(tmp_path / "plain/stage")
    assert without_seconds(resumed) == without_seconds(plain)
    assert_same_weights(plain, resumed)


def test_killed_at_its_end_it_is_finished(
    plain: MultitaskModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "stage"

    def write_and_be_killed(path: Path, value: object) -> None:
        write_json(path, value)
        raise Cut

    with monkeypatch.context() as patch, pytest.raises(Cut):
        patch.setattr(fitting, "write_json", write_and_be_killed)
        fit(module(), stage(folder), CPU)
    assert (folder / "last.ckpt").exists()
    loaded = network()
    assert load_finished(loaded, folder)
    assert not (folder / "last.ckpt").exists()
    assert all(torch.equal(t, loaded.state_dict()[name]) for name, t in plain.network.state_dict().items())
    assert not loaded.training


class Interrupted(DataLoader[Batch]):
    """Ctrl-C, or a signal that ends the program, comes when an epoch begins."""

    reason: type[BaseException]

    def __iter__(self) -> NoReturn:
        raise self.reason


@pytest.mark.parametrize(("epoch", "reason"), [(0, KeyboardInterrupt), (2, KeyboardInterrupt), (2, SystemExit)])
def test_interrupted_between_epochs_it_is_interrupted(
    plain: MultitaskModule, tmp_path: Path, epoch: int, reason: type[BaseException]
) -> None:
    made = stage(tmp_path / "stage")
    interrupted = Interrupted(batches(epoch + 1, 4), batch_size=None)  # type: ignore[arg-type]
    interrupted.reason = reason
    handler = signal.getsignal(signal.SIGINT)  # Lightning ignores the signal from then on
    try:
        with pytest.raises(reason):
            fitted(replace(made, train=lambda number: interrupted if number == epoch else made.train(number)))
    finally:
        signal.signal(signal.SIGINT, handler)
    assert_same_weights(fitted(made), plain)


@pytest.mark.parametrize("patience", [1, 3])
def test_the_first_weights_are_kept_where_no_others_are_better(tmp_path: Path, patience: int) -> None:
    # At this learning rate no prediction changes: patience counts from the validation before the first step.
    trained, before = module(1e-12), module()
    fit(trained, stage(tmp_path / "stage", patience, validate_first=True), CPU)
    assert [row["step"] for row in trained.curve] == [4.0 * epoch for epoch in range(patience + 1)]
    assert "train/loss" not in trained.curve[0] and "train/loss" in trained.curve[1]
    assert average_of(tmp_path / "stage") == pytest.approx(trained.curve[0]["dev/average"])
    assert_same_weights(before, trained)


def test_validating_first_changes_nothing(
    plain: MultitaskModule, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "mtl"):
        trained = fitted(replace(stage(tmp_path / "stage", validate_first=True), start="before all"))
    assert without_seconds(trained)[1:] == without_seconds(plain)
    scores = [row["dev/average"] for row in trained.curve]
    gained = f"test · finished: {max(scores):.1f}, {scores[0]:.1f} before all · 40 steps in "
    assert caplog.messages[-1].startswith(gained)


def single(epoch: int) -> Batch:
    """A batch of one row."""
    return batches(epoch + 50, 1)[0].parts(8)[0]


@pytest.mark.parametrize("parts", [3, 8, 100])
def test_a_batch_in_parts_gives_the_same_step(tmp_path: Path, parts: int) -> None:
    """Parts of unequal sizes, and a last batch of an epoch with a row alone. Without dropout, and with plain gradient descent."""
    descent = Optimization(lambda network: torch.optim.SGD(network.parameters(), 0.5), lambda step: 1.0)
    made = []
    for name, count in (("whole", 1), (f"parts-{parts}", parts)):
        torch.manual_seed(3)
        heads = Heads([TASK], {"t": 2}, 6, 8, 0.0)
        trained = MultitaskModule(Network([TASK], heads, None), module().scores, descent, count)
        made_stage = stage(tmp_path / name)
        fit(trained, replace(made_stage, train=lambda epoch: loader([*batches(epoch + 1, 3), single(epoch)])), CPU)
        made.append(trained)
    for name, tensor in made[0].network.state_dict().items():
        torch.testing.assert_close(made[1].network.state_dict()[name], tensor, rtol=0, atol=1e-5)
    first, last = (parameters_to_vector(of.parameters()).detach() for of in (network(), made[0].network))
    assert float((first - last).abs().max()) > 0.1
    losses = [[row["train/loss"] for row in trained.curve] for trained in made]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    assert [row["step"] for row in made[1].curve] == list(range(4, 41, 4))


def test_every_part_is_computed_in_the_stage_s_precision(tmp_path: Path) -> None:
    trained, seen = module(), list[tuple[int, bool]]()
    trained.parts, loss = 3, trained.network.loss

    def noted(batch: Batch) -> torch.Tensor:
        seen.append((len(batch.rows), torch.is_autocast_enabled("cpu")))
        return loss(batch)

    trained.network.loss = noted  # type: ignore[method-assign]
    fit(trained, stage(tmp_path / "stage"), TrainerConfig("cpu", "bf16-mixed", force_precision=True))
    assert seen == 40 * [(3, True), (3, True), (2, True)]


class NoLoss(MultitaskModule):
    """Whose loss is not a number in one step."""

    def training_step(self, batch: Batch, batch_idx: int) -> torch.Tensor:
        if self.global_step == 13:
            batch = replace(batch, vectors=torch.full_like(batch.vectors, torch.nan))
        return super().training_step(batch, batch_idx)


class NoWeights(MultitaskModule):
    """One of whose weights is infinite after the last step before a validation, whatever the loss was."""

    def on_train_batch_end(self, outputs: object, batch: Batch, batch_idx: int) -> None:
        if self.global_step == 16:
            next(self.network.parameters()).data[0, 0] = torch.inf


class NoOutputs(MultitaskModule):
    """Whose outputs for dev rows are not numbers in one validation."""

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        if self.global_step == 16:
            batch = replace(batch, vectors=torch.full_like(batch.vectors, torch.nan))
        super().validation_step(batch, batch_idx)


@pytest.mark.parametrize(
    ("kind", "parts", "problem"),
    [
        (NoLoss, 1, "task t, step 14: the loss is nan"),
        (NoLoss, 2, "task t, step 14: the loss is nan"),  # a step in parts is counted once
        (NoWeights, 1, "task t, step 16: weights are not finite"),
        (NoOutputs, 1, "task t, step 16: the outputs for dev rows are not finite"),
    ],
)
@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_divergence_ends_a_stage_and_the_last_good_weights_stay(
    tmp_path: Path, kind: type[MultitaskModule], parts: int, problem: str, checkpoint: str
) -> None:
    folder = tmp_path / "stage"
    weights = folder / WEIGHTS_FILES[checkpoint]
    message = (
        rf"test: training diverged \({problem}\); {weights} keeps the last good weights; "
        r"set a smaller pretrain.learning_rate=, and remove the run's folder or set run_dir="
    )
    for _ in range(2):  # given again, it resumes and ends in the same place
        diverging = module(kind=kind)
        diverging.parts = parts
        with pytest.raises(DivergedError, match=f"^{message}$"):
            fit(diverging, stage(folder, checkpoint=checkpoint), CPU)
        assert [row["step"] for row in diverging.curve] == [4, 8, 12]
        for path in (weights, folder / "last.ckpt"):
            kept = torch.load(path, weights_only=True)
            assert kept["epoch"] <= 2 and all(value.isfinite().all() for value in kept["state_dict"].values())
        assert kept["epoch"] == 2
        assert not (folder / "done.json").exists()


def test_a_first_validation_that_is_not_finite_is_never_the_best(tmp_path: Path) -> None:
    spoilt = module()
    next(spoilt.network.parameters()).data[:] = torch.nan
    said = r"^test: training diverged \(task t, step 0: the outputs .*finite\); set a"
    with pytest.raises(DivergedError, match=said):
        fit(spoilt, stage(tmp_path / "stage", validate_first=True), CPU)
    assert not list(tmp_path.rglob("*.ckpt"))


def cut_off(folder: Path, cut: int = 2) -> Path:
    """The folder of a stage that is cut off when this epoch begins."""
    with pytest.raises(Cut):
        fitted(stage(folder, cut=cut))
    return folder


def test_what_a_stage_that_has_not_finished_leaves(tmp_path: Path) -> None:
    folder = cut_off(tmp_path / "stage")
    for name in ("last.ckpt", "best.ckpt"):  # plain tensors and types
        assert "state_dict" in torch.load(folder / name, weights_only=True)
    assert (folder / "log/from-epoch-0/metrics.csv").exists()
    assert list((folder / "tensorboard").glob("events.*"))
    assert not load_finished(network(), folder) and (folder / "last.ckpt").exists()


def test_a_damaged_checkpoint_is_one_line_and_without_it_all_starts_again(
    plain: MultitaskModule, tmp_path: Path
) -> None:
    folder = cut_off(tmp_path / "stage")
    other = module()
    other.network.heads = Heads([TASK], {"t": 2}, 6, 4, 0.5)
    refused(lambda: fit(other, stage(folder), CPU), file="last.ckpt")
    last, content = folder / "last.ckpt", (folder / "last.ckpt").read_bytes()
    for damaged in (b"", content[:1000], b"not a checkpoint"):
        last.write_bytes(damaged)
        with pytest.raises(InputError, match=r"^\S+last\.ckpt: not a checkpoint that can be read: [^\n]+; delete it$"):
            fitted(stage(folder))
    for value in ({"epoch": 1}, [1]):
        torch.save(value, last)
        refused(lambda: fitted(stage(folder)), file="last.ckpt")
    last.unlink()
    assert_same_weights(fitted(stage(folder)), plain)


@pytest.mark.parametrize("resumable", [False, True])
def test_the_best_weights_are_those_of_the_best_validation(tmp_path: Path, resumable: bool) -> None:
    trained = fitted(replace(stage(tmp_path / "stage"), resumable=resumable))
    assert [path.name for path in tmp_path.rglob("*.ckpt")] == ["best.ckpt"]
    best = max(row["dev/average"] for row in trained.curve)
    assert average_of(tmp_path / "stage") == pytest.approx(best)
    with torch.no_grad():
        hits = [(trained.network(batch).argmax(1) == batch.targets).float() for batch in DEV]
    assert abs(100 * float(torch.cat(hits).mean()) - best) < 1e-4


def test_dropout_is_on_in_training_whatever_was_before(tmp_path: Path) -> None:
    class Seen(MultitaskModule):
        modes: list[bool] = []

        def training_step(self, batch: Batch, batch_idx: int) -> torch.Tensor:
            self.modes.append(all(part.training for part in self.modules()))
            return super().training_step(batch, batch_idx)

    evaluated = module(kind=Seen).eval()
    fit(evaluated, stage(tmp_path / "stage"), CPU)
    assert len(evaluated.modes) == 40 and all(evaluated.modes)
    assert not evaluated.training


class Watched(MultitaskModule):
    """Remembers its weights at every validation."""

    def on_validation_epoch_end(self) -> None:
        super().on_validation_epoch_end()
        self.seen = [*getattr(self, "seen", []), {name: t.clone() for name, t in self.network.state_dict().items()}]


@pytest.mark.parametrize(("patience", "validations"), [(100, 10), (1, 3)])
def test_the_last_weights_are_those_of_the_last_validation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: int, validations: int
) -> None:
    scores = [50.0, 60.0, *[40.0] * 8]  # the second validation is the best one
    for checkpoint, name, number in (("last", "final.ckpt", validations - 1), ("best", "best.ckpt", 1)):
        trained, folder, given = module(kind=Watched), tmp_path / checkpoint / "stage", iter(scores)
        monkeypatch.setattr("mtl.training.module.score", lambda *_, given=given: next(given))
        fit(trained, stage(folder, patience, checkpoint=checkpoint), CPU)
        assert [row["dev/average"] for row in trained.curve] == scores[:validations]
        assert [path.name for path in folder.glob("*.ckpt")] == [name]
        kept = torch.load(folder / name, weights_only=True)
        assert (kept["epoch"], kept["average"], average_of(folder)) == (number, scores[number], scores[number])
        for weights, tensor in trained.seen[number].items():
            assert torch.equal(tensor, kept["state_dict"][weights])
            assert torch.equal(tensor, trained.network.state_dict()[weights])


def test_without_a_terminal_lines_appear_from_time_to_time_and_one_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("mtl.base.display.FIRST_LINE", "mtl.base.display.LINE_EVERY", "mtl.base.progress.EVENT_EVERY"):
        monkeypatch.setattr(name, 0.0)
    with caplog.at_level("INFO", "mtl"):
        trained = fitted(stage(tmp_path / "stage"))
    *steps, outcome = caplog.messages
    assert [line.split(" (")[0] for line in steps] == [f"test · {step} of 40 steps" for step in range(1, 41)]
    assert all(" · t · " in line for line in steps[:4]) and all(" · average " in line for line in steps[4:])
    assert all(line.endswith(" left") for line in steps)
    best = max(row["dev/average"] for row in trained.curve)
    assert outcome.startswith(f"test · finished: {best:.1f} · 40 steps in ")


def test_a_signal_that_the_program_handles_does_not_end_the_training(plain: MultitaskModule, tmp_path: Path) -> None:
    heard: list[int] = []
    made = stage(tmp_path / "stage")

    def train(epoch: int) -> DataLoader[Batch]:
        if epoch:
            os.kill(os.getpid(), signal.SIGTERM)
        return made.train(epoch)

    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        assert_same_weights(fitted(replace(made, train=train)), plain)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard and set(heard) == {signal.SIGTERM}


def test_a_log_that_cannot_be_written_is_an_error_with_a_path(
    plain: MultitaskModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left") as caught:
        patch.setattr(CSVLogger, "save", fail)
        fitted(stage(tmp_path / "stage"))
    assert caught.value.filename == str(tmp_path / "stage")
    assert_same_weights(fitted(stage(tmp_path / "stage")), plain)


def test_torch_is_afterwards_as_it_was_before(tmp_path: Path) -> None:
    assert not torch.are_deterministic_algorithms_enabled() and torch.utils.deterministic.fill_uninitialized_memory
    seen, made = [], stage(tmp_path / "stage", 1)

    def train(epoch: int) -> DataLoader[Batch]:
        seen.append(torch.are_deterministic_algorithms_enabled())
        return made.train(epoch)

    fitted(replace(made, train=train, epochs=1))
    assert seen and all(seen)
    assert not torch.are_deterministic_algorithms_enabled() and torch.utils.deterministic.fill_uninitialized_memory
