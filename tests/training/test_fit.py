"""A stage that is cut off and taken up again ends as one that was not."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

from mtl.config import TrainerConfig
from mtl.data.batches import Batch
from mtl.model.multitask import Heads, Multitask
from mtl.suite import Task
from mtl.training import fit as fitting
from mtl.training.fit import Stage, fit

TASK = Task(id="t", text=["x"], target="y", labels=["a", "b"], metric="accuracy")


class Cut(Exception):
    pass


def module() -> Multitask:
    torch.manual_seed(3)
    return Multitask([TASK], Heads([TASK], 6, 8, 0.5), None, 0.02, 0.002, 40)


def stage(folder: Path, patience: int = 100, cut: int | None = None, checkpoint: str = "best") -> Stage:
    def batches(key: int, count: int) -> DataLoader[Batch]:
        generator = torch.Generator().manual_seed(key)
        made = []
        for _ in range(count):
            vectors = torch.randn(8, 6, generator=generator)
            made.append(Batch("t", (vectors[:, 0] * vectors[:, 1] > 0).float(), vectors=vectors))
        return DataLoader(made, batch_size=None)  # type: ignore[arg-type]

    def train(epoch: int) -> DataLoader[Batch]:
        if epoch == cut:
            raise Cut
        return batches(epoch + 1, 4)

    return Stage("test", folder, 1, 10, 40, patience, 5.0, train, batches(99, 5), lines=False, checkpoint=checkpoint)


def without_seconds(module: Multitask) -> list[dict[str, float]]:
    return [{key: value for key, value in row.items() if key != "seconds"} for row in module.curve]


CPU = TrainerConfig("cpu", "32-true")


@pytest.mark.parametrize("checkpoint", ["best", "last"])
@pytest.mark.parametrize("cuts", [[1], [2, 5, 9], [3, 3, 4]])
def test_taken_up_again_it_ends_the_same(tmp_path: Path, cuts: list[int], checkpoint: str) -> None:
    plain = module()
    average = fit(plain, stage(tmp_path / "plain" / "stage", checkpoint=checkpoint), CPU)
    for cut in cuts:
        with pytest.raises(Cut):
            fit(module(), stage(tmp_path / "cut" / "stage", cut=cut, checkpoint=checkpoint), CPU)
    resumed = module()
    assert fit(resumed, stage(tmp_path / "cut" / "stage", checkpoint=checkpoint), CPU) == average
    for name, tensor in plain.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name])
    assert without_seconds(plain) == without_seconds(resumed)
    seconds = [row["seconds"] for row in resumed.curve]
    assert seconds == sorted(seconds) and seconds[0] > 0  # what was trained before a cut counts
    assert not (tmp_path / "cut" / "stage" / "last.ckpt").exists()


@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_patience_that_was_spent_stays_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: str) -> None:
    plain = module()
    average = fit(plain, stage(tmp_path / "plain" / "stage", patience=1, checkpoint=checkpoint), CPU)
    assert len(plain.curve) < 10

    def killed(*_: object) -> None:
        raise Cut

    # Cut off after the last validation, before the stage is wound up.
    with monkeypatch.context() as patch, pytest.raises(Cut):
        patch.setattr(fitting, "load_weights", killed)
        fit(module(), stage(tmp_path / "cut" / "stage", patience=1, checkpoint=checkpoint), CPU)
    resumed = module()
    assert fit(resumed, stage(tmp_path / "cut" / "stage", patience=1, checkpoint=checkpoint), CPU) == average
    assert len(resumed.curve) == len(plain.curve)
    assert all(torch.equal(t, resumed.state_dict()[name]) for name, t in plain.state_dict().items())


def test_a_moved_folder_keeps_its_best(tmp_path: Path) -> None:
    plain = module()
    best = fit(plain, stage(tmp_path / "plain" / "stage"), CPU)
    with pytest.raises(Cut):
        fit(module(), stage(tmp_path / "before" / "stage", cut=8), CPU)
    (tmp_path / "before").rename(tmp_path / "after")
    resumed = module()
    assert fit(resumed, stage(tmp_path / "after" / "stage"), CPU) == best
    assert all(torch.equal(t, resumed.state_dict()[name]) for name, t in plain.state_dict().items())


def test_checkpoints_hold_plain_tensors_and_types(tmp_path: Path) -> None:
    folder = tmp_path / "stage"
    with pytest.raises(Cut):
        fit(module(), stage(folder, cut=2), CPU)
    for name in ("last.ckpt", "best.ckpt"):
        assert "state_dict" in torch.load(folder / name, weights_only=True)
    assert (folder / "log/from-epoch-0/metrics.csv").exists()
    assert list((folder / "tensorboard").glob("events.*"))


def test_the_best_weights_are_those_of_the_best_validation(tmp_path: Path) -> None:
    trained = module()
    best = fit(trained, stage(tmp_path / "stage"), CPU)
    assert best == max(row["dev/average"] for row in trained.curve)
    with torch.no_grad():
        hits = [(trained.outputs(b).argmax(1) == b.targets).float() for b in stage(tmp_path).dev]
    assert abs(100 * float(torch.cat(hits).mean()) - best) < 1e-4


def test_dropout_is_on_in_training_whatever_was_before(tmp_path: Path) -> None:
    class Seen(Multitask):
        modes: list[bool] = []

        def training_step(self, batch: Batch, batch_idx: int) -> torch.Tensor:
            self.modes.append(all(part.training for part in self.modules()))
            return super().training_step(batch, batch_idx)

    evaluated = Seen([TASK], Heads([TASK], 6, 8, 0.5), None, 0.02, 0.002, 40).eval()
    fit(evaluated, stage(tmp_path / "stage"), CPU)
    assert len(evaluated.modes) == 40 and all(evaluated.modes)
    assert not evaluated.training


def test_nothing_but_our_own_checkpoints_is_left(tmp_path: Path) -> None:
    for resumable in (True, False):
        folder = tmp_path / f"{resumable}"
        fit(module(), replace(stage(folder), resumable=resumable), CPU)
        assert [path.name for path in folder.rglob("*.ckpt")] == ["best.ckpt"]


class Watched(Multitask):
    """Remembers its weights at every validation."""

    def on_validation_epoch_end(self) -> None:
        super().on_validation_epoch_end()
        self.seen = [*getattr(self, "seen", []), {name: t.clone() for name, t in self.state_dict().items()}]


@pytest.mark.parametrize("patience", [100, 1])
def test_the_last_weights_are_those_of_the_last_validation(tmp_path: Path, patience: int) -> None:
    torch.manual_seed(3)
    trained = Watched([TASK], Heads([TASK], 6, 8, 0.5), None, 0.02, 0.002, 40)
    average = fit(trained, stage(tmp_path / "stage", patience, checkpoint="last"), CPU)
    averages = [row["dev/average"] for row in trained.curve]
    assert average == averages[-1] < max(averages)
    kept = torch.load(tmp_path / "stage/final.ckpt", weights_only=True)
    assert (kept["epoch"], kept["average"]) == (len(averages) - 1, average)
    for name, tensor in trained.seen[-1].items():
        assert torch.equal(tensor, kept["state_dict"][name]) and torch.equal(tensor, trained.state_dict()[name])
    assert not (tmp_path / "stage/best.ckpt").exists()
    # It trains as a stage does that keeps the best.
    best = module()
    fit(best, stage(tmp_path / "best" / "stage", patience), CPU)
    assert without_seconds(best) == without_seconds(trained)
    assert not all(torch.equal(t, trained.state_dict()[name]) for name, t in best.state_dict().items())
