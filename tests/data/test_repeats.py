"""Dev rows that repeat a training row, alone and through whole runs."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import job
from kinds_suite import write_kinds_suite
from tiny_transformers import write_bert

import mtl.data.repeats as repeats
from mtl.data.dataset import Dataset, build_dataset
from mtl.data.examples import Example
from mtl.data.repeats import choosing_notes, without_repeats
from mtl.data.splits import TaskExamples
from mtl.jobs.ensemble import ensemble_job
from mtl.jobs.together import run_baseline
from mtl.tasks.task import Task

TEXT = Task(id="text", kind="labels", text=["x"], target="y", labels=["n", "p"], metric="accuracy")
PAIR = replace(TEXT, id="pair", text=["x", "z"])
TRIPLE = replace(TEXT, id="triple", text=["x", "y", "z"])
MARKED = replace(PAIR, id="marked", spans={"x": ["a"], "z": ["b"]})
CHOICE = Task(id="choice", kind="choice", text=["q"], candidates=["a[]"], target="y", metric="accuracy")


def choosing(monkeypatch: pytest.MonkeyPatch, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> Dataset:
    """The dataset of this task, where one new dev row is enough to choose."""
    monkeypatch.setattr(repeats, "LEAST", 1)
    return without_repeats(build_dataset([TaskExamples(task, {"train": list(train), "dev": list(dev)}, [])]))


def single(*texts: str) -> list[Example]:
    return rows(*((text,) for text in texts))


def rows(*texts: tuple[str, ...], spans: tuple[tuple[int, int], ...] = ()) -> list[Example]:
    return [Example(line, (own,), 1.0, spans=spans) for line, own in enumerate(texts, 2)]


def test_the_order_of_a_pair_and_spaces_do_not_make_a_row_new(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = choosing(monkeypatch, TEXT, single("a  b", "c"), single("a b", "A b", " c ", "d"))
    assert texts.choosing_rows(TEXT).tolist() == [1, 3]
    pairs = choosing(
        monkeypatch, PAIR, rows(("a", "b"), ("c", "d")), rows(("b", "a"), ("a", "c"), ("c", "d "), ("a", "a"))
    )
    assert pairs.choosing_rows(PAIR).tolist() == [1, 3]
    triples = choosing(monkeypatch, TRIPLE, rows(("a", "b", "c")), rows(("b", "a", "c"), ("a", "b", "c")))
    assert triples.choosing_rows(TRIPLE).tolist() == [0]


def test_the_same_texts_with_another_marked_word_are_a_new_row(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("one bank", "the bank")
    train, again = rows(texts, spans=((4, 8), (4, 8))), rows(texts, spans=((4, 8), (4, 8)))
    other, swapped = rows(texts, spans=((0, 3), (4, 8))), rows(texts[::-1], spans=((4, 8), (4, 8)))
    dataset = choosing(monkeypatch, MARKED, train, [*again, *other, *swapped])
    assert dataset.choosing_rows(MARKED).tolist() == [1]


def test_the_order_of_candidates_does_not_make_a_row_new(monkeypatch: pytest.MonkeyPatch) -> None:
    train = [Example(2, (("q", "a"), ("q", "b"), ("q", "c")), 0.0), Example(3, (("q", "d"), ("q", "e")), 0.0)]
    dev = [
        Example(2, (("q", "c"), ("q", "a"), ("q", "b")), 1.0),
        Example(3, (("q", "a"), ("q", "b")), 0.0),
        Example(4, (("r", "d"), ("r", "e")), 0.0),
        Example(5, (("q", "e"), ("q", "d")), 1.0),
    ]
    dataset = choosing(monkeypatch, CHOICE, train, dev)
    assert dataset.choosing_rows(CHOICE).tolist() == [1, 2]
    taken = dataset.splits["choice"]["dev"].take(np.array([2, 0]))
    assert taken.sizes is not None and taken.sizes.tolist() == [2, 3] and taken.targets.tolist() == [0.0, 1.0]
    assert [[dataset.texts[text] for text in own] for own in taken.texts] == [
        *(["r", "d"], ["r", "e"]),
        *(["q", "c"], ["q", "a"], ["q", "b"]),
    ]


def test_a_note_counts_the_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = choosing(monkeypatch, TEXT, single("a", "b"), single("a", "c", "b"))
    assert choosing_notes(dataset) == ["Dev rows that repeat a training row chose nothing: 2 of 3 (text)."]
    new = choosing(monkeypatch, TEXT, single("a", "b"), single("c", "d"))
    assert choosing_notes(new) == [] and new.choosing_rows(TEXT).tolist() == [0, 1]


def test_with_few_new_rows_all_rows_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    said = list[str]()
    monkeypatch.setattr(repeats, "remark", said.append)
    dev = single("a", *(f"new {number}" for number in range(repeats.LEAST)))
    for rows_of_dev, count in ((dev, repeats.LEAST), (dev[:-1], repeats.LEAST)):
        dataset = without_repeats(
            build_dataset([TaskExamples(TEXT, {"train": single("a", "b"), "dev": rows_of_dev}, [])])
        )
        assert len(dataset.choosing_rows(TEXT)) == count
    assert dataset.choosing == {} and choosing_notes(dataset) == []
    assert said == ["text: only 49 dev rows repeat no training row, so all dev rows choose"]


REPEATED = 10


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two suites with a task of each kind. In the second, the first dev rows of `mood` and `answer` are training rows; no other dev row is."""
    plain, repeated = (tmp_path_factory.mktemp(name) for name in ("plain", "repeated"))
    for folder in (plain, repeated):
        suite = write_kinds_suite(folder)
        text = suite.read_text(encoding="utf-8").replace("metric: macro_f1", "metric: f1\n    positive: good", 1)
        suite.write_text(text, encoding="utf-8")
        for task, old, new in (("mood", " number ", " piece "), ("answer", "which one", "which thing")):
            dev = folder / "data" / task / "dev.jsonl"
            dev.write_text(dev.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    for task in ("mood", "answer"):
        data = repeated / "data" / task
        again = data.joinpath("train.jsonl").read_text(encoding="utf-8").splitlines()[:REPEATED]
        if task == "answer":
            again = [json.dumps(turned(json.loads(line))) for line in again]
        dev = data / "dev.jsonl"
        dev.write_text("".join(line + "\n" for line in again) + dev.read_text(encoding="utf-8"), encoding="utf-8")
    return plain, repeated


def turned(row: dict[str, object]) -> dict[str, object]:
    """The row with its last candidate first."""
    candidates, label = row["candidates"], row["label"]
    assert isinstance(candidates, list) and isinstance(label, int)
    return {**row, "candidates": [candidates[-1], *candidates[:-1]], "label": (label + 1) % len(candidates)}


@pytest.mark.parametrize(
    "settings",
    [
        ("method=svm",),
        ("embeddings.dim=12", "finetune.threshold=dev", "head.linear=true"),
        ("method=transformer", "transformer.epochs=2", "tasks=[mood,answer]"),
    ],
)
def test_a_run_chooses_as_if_the_repeated_rows_were_not_there(
    folders: tuple[Path, Path], settings: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats, "LEAST", 10)
    if "method=transformer" in settings:
        texts = [line for path in folders[0].rglob("train.jsonl") for line in path.read_text(encoding="utf-8").split()]
        settings = (*settings, f"transformer.path={write_bert(tmp_path / 'bert', texts)}")
    for folder, choose in zip(folders, ("true", "false"), strict=True):
        own = [f"suite={folder / 'kinds.yaml'}", f"data_dir={folder / 'data'}", f"cache_dir={tmp_path / 'cache'}"]
        run = tmp_path / folder.name
        run_baseline(job([*own, "seeds=[1,2]", f"run_dir={run}", f"choose_on_repeats={choose}", *settings]))
        if "head.linear=true" in settings:
            given = {"cache_dir": str(tmp_path / "cache"), "run_dir": str(run / "ensemble")}
            run_baseline(ensemble_job([str(run)], given))
    plain, repeated = (tmp_path / folder.name for folder in folders)
    compared = 0
    for path in sorted(plain.rglob("predictions/*.tsv")):
        header, *answers = (repeated / path.relative_to(plain)).read_text(encoding="utf-8").splitlines()
        first = REPEATED if path.name in ("dev_pred_mood.tsv", "dev_pred_answer.tsv") else 0
        assert [header, *answers[first:]] == path.read_text(encoding="utf-8").splitlines(), path
        compared += 1
    assert compared >= 6
    table = (repeated / "table.md").read_text(encoding="utf-8")
    assert "Dev rows that repeat a training row chose nothing: 10 of 34 (mood), 10 of 34 (answer)." in table
    assert "chose nothing" not in (plain / "table.md").read_text(encoding="utf-8")
