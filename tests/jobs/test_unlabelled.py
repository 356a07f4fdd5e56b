"""Rows without targets, which a teacher labels."""

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from input_errors import raises_input_error
from kinds_suite import dataset_of, lstm, write_kinds_suite
from torch import nn
from torch.nn import functional as F

import mtl.jobs.teacher as teacher_module
from mtl.data.dataset import Dataset, Split
from mtl.jobs.baseline import run_baseline
from mtl.jobs.teacher import ask_teacher
from mtl.jobs.unlabelled import with_unlabelled
from mtl.methods.coded import Coded
from mtl.model.network import Batch, Distillation, TaskNetwork
from mtl.tasks.suite import load_suite
from mtl.tasks.task import Task

TEACHER = "distill.run=teacher"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unlabelled")
    write_kinds_suite(folder)
    return folder


def rows_of(dataset: Dataset, split: Split) -> list[tuple[str, ...]]:
    return [tuple(dataset.texts[text] for text in row) for row in split.texts.tolist()]


def lines(folder: Path, content: Sequence[str], name: str = "lines.txt") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in content), encoding="utf-8")
    return path


def test_lines_without_texts_of_the_data(folder: Path, tmp_path: Path) -> None:
    plain = dataset_of(lstm(folder, "run"))
    dev = plain.texts[plain.splits["mood"]["dev"].texts[0, 0]]
    test = plain.texts[plain.splits["stars"]["test"].texts[0, 0]]
    new = [f"line {number} of a book" for number in range(20)]
    path = tmp_path / "lines.txt.gz"
    path.write_bytes(gzip.compress("\n".join([dev.upper(), *new, "", new[0], f"  {test} "]).encode()))
    run = lstm(folder, "run", TEACHER, f"distill.texts=[{path}]", "distill.rows=8")
    dataset = with_unlabelled(run, plain)
    assert set(dataset.unlabelled) == {"mood", "stars", "opposite"}  # answer has candidates, mood-elsewhere no head
    drawn = rows_of(dataset, dataset.unlabelled["mood"])
    assert len(set(drawn)) == 8 and {text for (text,) in drawn} <= set(new)
    assert drawn == rows_of(dataset, dataset.unlabelled["stars"])
    assert np.isnan(dataset.unlabelled["mood"].targets).all()
    assert dataset.texts[: len(plain.texts)] == plain.texts and dataset.splits == plain.splits
    every = with_unlabelled(lstm(folder, "run", TEACHER, f"distill.texts=[{path}]"), plain)
    assert sorted(text for (text,) in rows_of(every, every.unlabelled["mood"])) == sorted(new)
    shuffled = lines(tmp_path, new[::-1])
    again = with_unlabelled(lstm(folder, "run", TEACHER, f"distill.texts=[{shuffled}]", "distill.rows=8"), plain)
    assert rows_of(again, again.unlabelled["mood"]) == drawn  # whatever the order of the lines


def test_pairs_are_neighbouring_lines(folder: Path, tmp_path: Path) -> None:
    run = lstm(folder, "run", TEACHER, f"distill.texts=[{lines(tmp_path, ['a b', 'c d', '', 'e f', 'g h'])}]")
    plain = dataset_of(run)
    (mood,) = [task for task in plain.tasks if task.id == "mood"]
    pair = replace(mood, text=["first", "second"])
    two_sided = {
        name: replace(split, texts=np.repeat(split.texts, 2, axis=1)) for name, split in plain.splits["mood"].items()
    }
    dataset = with_unlabelled(run, replace(plain, tasks=[pair], splits={"mood": two_sided}))
    assert sorted(rows_of(dataset, dataset.unlabelled["mood"])) == [("a b", "c d"), ("e f", "g h")]


def test_variants_of_training_rows_have_fewer_of_their_words(folder: Path) -> None:
    plain = dataset_of(lstm(folder, "run"))
    dataset = with_unlabelled(lstm(folder, "run", TEACHER, "distill.augment=6"), plain)
    train = [row[0].split() for row in rows_of(dataset, dataset.splits["mood"]["train"])]
    known = {text.lower() for text in plain.texts}
    variants = [row[0] for row in rows_of(dataset, dataset.unlabelled["mood"])]
    assert len(variants) > len(train) and len(set(variants)) == len(variants)

    def within(words: Sequence[str], row: Sequence[str]) -> bool:
        rest = iter(row)
        return all(word in rest for word in words)

    for text in variants:
        assert text.lower() not in known
        assert any(within(text.split(), row) for row in train)
    again = with_unlabelled(lstm(folder, "run", TEACHER, "distill.augment=6"), plain)
    assert rows_of(again, again.unlabelled["mood"]) == rows_of(dataset, dataset.unlabelled["mood"])


class Outputs(TaskNetwork):
    """A network whose outputs are given."""

    def __init__(self, task: Task, outputs: torch.Tensor) -> None:
        super().__init__([task])
        self.outputs = nn.Parameter(outputs)

    def forward(self, batch: Batch) -> torch.Tensor:
        return self.outputs[batch.rows]


def test_rows_without_targets_count_by_the_teacher_alone(folder: Path) -> None:
    task = load_suite(folder / "kinds.yaml").tasks["mood"]
    outputs, teacher = torch.randn(4, 2), torch.randn(4, 2)
    network = Outputs(task, outputs)
    network.distillation = Distillation(0.25, 2.0)
    targets = torch.tensor([0.0, float("nan"), 1.0, float("nan")])
    loss = network.loss(Batch("mood", torch.arange(4), targets, teacher=teacher))
    soft = [
        4 * F.cross_entropy(own[None] / 2, (other / 2).softmax(0)[None])
        for own, other in zip(outputs, teacher, strict=True)
    ]
    hard = [F.cross_entropy(outputs[row, None], targets[row, None].long()) for row in (0, 2)]
    expected = (0.75 * sum(hard) + 0.25 * sum(soft)) / 4
    torch.testing.assert_close(loss, expected)
    part = Batch("mood", torch.arange(1, 2), targets[1:2], teacher=teacher[1:2])
    torch.testing.assert_close(network.loss(part), 0.25 * soft[1])
    assert network.loss_weight(part) == 1


def test_the_teacher_labels_them_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_baseline(
        lstm(folder, "run", "seeds=[1]", "pretrain.max_steps=10", f"run_dir={tmp_path / 'teacher'}", "tasks=[mood]")
    )
    path = lines(tmp_path, [f"line {number} of a fine book" for number in range(20)])
    distilled = (f"distill.run={tmp_path / 'teacher'}", f"distill.texts=[{path}]", "tasks=[mood]", "distill.augment=2")
    run = lstm(folder, "run", *distilled)
    dataset = with_unlabelled(run, dataset_of(run))
    asked = ask_teacher(run, dataset)
    assert "lines of lines.txt; training rows with words left out" in asked.about
    split, train = dataset.unlabelled["mood"], dataset.splits["mood"]["train"]
    assert len(asked.outputs["mood"]) == len(train) + len(split)
    data = Coded(dataset, teacher=asked.outputs)
    rows = data.train(dataset.tasks[0], run.config.loss, 1)
    assert len(rows) == len(train) + len(split) and np.isnan(rows.targets).sum() == len(split)
    assert rows.teacher is not None and (rows.teacher == asked.outputs["mood"]).all()

    with monkeypatch.context() as patched:
        patched.setattr(teacher_module, "_computed", lambda *arguments: pytest.fail("asked again"))
        ask_teacher(run, dataset)
    lines(tmp_path, [f"line {number} of another book" for number in range(20)])
    other = ask_teacher(run, with_unlabelled(run, dataset_of(run)))
    assert other.key != asked.key

    summary = run_baseline(lstm(folder, "run", *distilled, "seeds=[1]", "pretrain.max_steps=10"))
    assert any("Unlabelled rows" in note for note in summary["notes"])


def test_files_without_a_teacher_or_lines(folder: Path, tmp_path: Path) -> None:
    with raises_input_error(key="distill.texts"):
        lstm(folder, "run", "distill.texts=[a.txt]")
    with raises_input_error(key="distill.augment"):
        lstm(folder, "run", "distill.augment=1")
    plain = dataset_of(lstm(folder, "run"))
    with raises_input_error(key="distill.texts"):
        with_unlabelled(lstm(folder, "run", TEACHER, f"distill.texts=[{lines(tmp_path, plain.texts)}]"), plain)
    with raises_input_error(file="nowhere.txt"):
        with_unlabelled(lstm(folder, "run", TEACHER, "distill.texts=[nowhere.txt]"), plain)
