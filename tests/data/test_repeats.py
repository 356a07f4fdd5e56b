"""Dev rows that repeat a training row, alone and through whole runs."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import job
from data_files import read_json
from kinds_suite import write_kinds_suite
from tiny_transformers import write_bert

import mtl.data.repeats as repeats
from mtl.base.files import write_json
from mtl.data.dataset import Dataset, Split
from mtl.data.examples import Example
from mtl.data.loading import build_dataset
from mtl.data.repeats import choosing_notes, without_repeats
from mtl.data.splits import TaskExamples
from mtl.jobs.baseline import run_baseline
from mtl.jobs.ensemble import ensemble_job
from mtl.methods.predictor import Predictor
from mtl.tasks.task import Task

TEXT = Task(id="text", kind="labels", text=["x"], target="y", labels=["n", "p"], metric="accuracy")
PAIR = replace(TEXT, id="pair", text=["x", "z"])
TRIPLE = replace(TEXT, id="triple", text=["x", "y", "z"])
MARKED = replace(PAIR, id="marked", spans={"x": ["a"], "z": ["b"]})
CHOICE = Task(id="choice", kind="choice", text=["q"], candidates=["a[]"], target="y", metric="accuracy")


def choosing(monkeypatch: pytest.MonkeyPatch, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> Dataset:
    """The dataset of this task, where one new dev row is enough to choose."""
    monkeypatch.setattr(repeats, "LEAST_ROWS", 1)
    return without_repeats(build_dataset([TaskExamples(task, {"train": list(train), "dev": list(dev)}, [])]))


def single(*texts: str) -> list[Example]:
    return rows(*((text,) for text in texts))


def rows(*texts: tuple[str, ...], spans: tuple[tuple[int, int], ...] = ()) -> list[Example]:
    return [Example(line, (row,), 1.0, spans=spans) for line, row in enumerate(texts, 2)]


def test_what_makes_a_dev_row_new(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = choosing(monkeypatch, TEXT, single("a  b", "c"), single("a b", "A b", " c ", "d"))
    assert texts.choosing_rows(TEXT).tolist() == [1, 3]
    dev = rows(("b", "a"), ("a", "c"), ("c", "d "), ("a", "a"))
    pairs = choosing(monkeypatch, PAIR, rows(("a", "b"), ("c", "d")), dev)
    assert pairs.choosing_rows(PAIR).tolist() == [1, 3]
    triples = choosing(monkeypatch, TRIPLE, rows(("a", "b", "c")), rows(("b", "a", "c"), ("a", "b", "c")))
    assert triples.choosing_rows(TRIPLE).tolist() == [0]
    texts = ("one bank", "the bank")
    train, again = rows(texts, spans=((4, 8), (4, 8))), rows(texts, spans=((4, 8), (4, 8)))
    other, swapped = rows(texts, spans=((0, 3), (4, 8))), rows(texts[::-1], spans=((4, 8), (4, 8)))
    dataset = choosing(monkeypatch, MARKED, train, [*again, *other, *swapped])
    assert dataset.choosing_rows(MARKED).tolist() == [1]
    train = rows(("the  one bank", "a  bank"), spans=((9, 13), (3, 7)))
    again = rows(("a bank", "the one  bank"), spans=((2, 6), (9, 13)))
    other = rows(("a bank", "the one  bank"), spans=((2, 6), (4, 7)))
    assert choosing(monkeypatch, MARKED, train, [*again, *other]).choosing_rows(MARKED).tolist() == [1]
    train = [Example(2, (("q", "a"), ("q", "b"), ("q", "c")), 0.0), Example(3, (("q", "d"), ("q", "e")), 0.0)]
    dev = [
        Example(2, (("q", "c"), ("q", "a"), ("q", "b")), 1.0),
        Example(3, (("q", "a"), ("q", "b")), 0.0),
        Example(4, (("r", "d"), ("r", "e")), 0.0),
        Example(5, (("q", "e"), ("q", "d")), 1.0),
    ]
    dataset = choosing(monkeypatch, CHOICE, train, dev)
    assert dataset.choosing_rows(CHOICE).tolist() == [1, 2]


def test_a_note_counts_the_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = choosing(monkeypatch, TEXT, single("a", "b"), single("a", "c", "b"))
    assert choosing_notes(dataset) == ["Dev rows that repeat a training row chose nothing: 2 of 3 (text)."]
    new = choosing(monkeypatch, TEXT, single("a", "b"), single("c", "d"))
    assert choosing_notes(new) == [] and new.choosing_rows(TEXT).tolist() == [0, 1]


def test_with_few_new_rows_all_rows_choose() -> None:
    dev = single("a", *(f"new {number}" for number in range(repeats.LEAST_ROWS)))
    train = single("a", "b")
    enough = without_repeats(build_dataset([TaskExamples(TEXT, {"train": train, "dev": dev}, [])]))
    assert enough.choosing_rows(TEXT).tolist() == list(range(1, repeats.LEAST_ROWS + 1))
    few = without_repeats(build_dataset([TaskExamples(TEXT, {"train": train, "dev": dev[:-1]}, [])]))
    assert few.choosing_rows(TEXT).tolist() == list(range(repeats.LEAST_ROWS))
    assert choosing_notes(few) == ["All dev rows chose, since fewer than 50 repeat no training row: text."]


def test_all_that_a_split_holds_is_taken() -> None:
    by_row = {name: np.arange(12).reshape(3, 2, 2) + start for start, name in enumerate(("spans", "token_spans"))}
    names = ("texts", "overlap", "base")
    by_input = {name: np.arange(12).reshape(6, 2) + start for start, name in enumerate(names)}
    columns = {"topic": ["sun", "rain", "snow"], "unknown": []}
    sizes = np.array([2, 1, 3])
    split = Split(targets=np.array([1.0, 0.0, 0.0]), sizes=sizes, columns=columns, **by_row, **by_input)
    rows_taken, inputs = np.array([2, 0]), [3, 4, 5, 0, 1]
    taken = split.take(rows_taken)
    assert taken.columns == {"topic": ["snow", "sun"], "unknown": []}
    for name in ("targets", "sizes", "spans", "token_spans"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(split, name)[rows_taken])
    for name in names:
        np.testing.assert_array_equal(getattr(taken, name), getattr(split, name)[inputs])
    plain = Split(np.array([[4], [5]]), np.array([1.0, 0.0])).take(np.array([1]))
    assert plain.texts.tolist() == [[5]] and plain.sizes is None and plain.overlap is None


REPEATED = 10


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two suites with a task of each kind, and wrong labels in the first training rows of `mood` and `answer`. In the second suite, the
    first dev rows of both are these rows; no other dev row is a training row."""
    plain, repeated = (tmp_path_factory.mktemp(name) for name in ("plain", "repeated"))
    for folder in (plain, repeated):
        suite = write_kinds_suite(folder)
        text = suite.read_text(encoding="utf-8").replace("metric: macro_f1", "metric: f1\n    positive: good", 1)
        suite.write_text(text, encoding="utf-8")
        for task, old, new in (("mood", " number ", " piece "), ("answer", "which one", "which thing")):
            train, dev = (folder / "data" / task / f"{split}.jsonl" for split in ("train", "dev"))
            lines = [json.loads(line) for line in train.read_text(encoding="utf-8").splitlines()]
            lines[:REPEATED] = [wrong(row) for row in lines[:REPEATED]]
            train.write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")
            new_rows = dev.read_text(encoding="utf-8").replace(old, new)
            again = [turned(row) for row in lines[:REPEATED]] if folder == repeated else []
            dev.write_text("".join(json.dumps(row) + "\n" for row in again) + new_rows, encoding="utf-8")
    return plain, repeated


def wrong(row: dict[str, Any]) -> dict[str, Any]:
    """The row with another label."""
    if "candidates" in row:
        return {**row, "label": (row["label"] + 1) % len(row["candidates"])}
    return {**row, "label": "bad" if row["label"] == "good" else "good"}


def turned(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its last candidate first, if it has candidates."""
    if "candidates" not in row:
        return row
    candidates = row["candidates"]
    return {**row, "candidates": [candidates[-1], *candidates[:-1]], "label": (row["label"] + 1) % len(candidates)}


CHOICES = ("average", "curve", "threshold_shift", "settings", "score", "trials")  # what records say of choices


def choices(run: Path) -> dict[str, Any]:
    """What each training chose, and the scores that it chose by."""
    files = [*run.rglob("done.json"), *run.rglob("chosen/*.json")]
    records = {str(path.relative_to(run)): read_json(path) for path in files}
    kept = {path: {key: record[key] for key in CHOICES if key in record} for path, record in records.items()}
    for record in kept.values():
        for point in record.get("curve", []):
            del point["seconds"]
    return kept


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        ("method=svm",),
        ("embeddings.dim=12", "finetune.threshold=dev", "head.linear=true"),
        ("method=transformer", "transformer.epochs=2", "transformer.checkpoint=best", "tasks=[mood,answer]"),
    ],
)
def test_a_run_chooses_as_if_the_repeated_rows_were_not_there(
    folders: tuple[Path, Path], settings: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats, "LEAST_ROWS", REPEATED)
    if "method=transformer" in settings:
        texts = [line for path in folders[0].rglob("train.jsonl") for line in path.read_text(encoding="utf-8").split()]
        settings = (*settings, f"transformer.path={write_bert(tmp_path / 'bert', texts)}")
    plain, repeated = folders
    for name, folder, choose in (("plain", plain, "true"), ("new", repeated, "false"), ("all", repeated, "true")):
        own = [f"suite={folder / 'kinds.yaml'}", f"data_dir={folder / 'data'}", f"cache_dir={tmp_path / 'cache'}"]
        run = tmp_path / name
        run_baseline(job([*own, "seeds=[1]", f"run_dir={run}", f"choose_on_repeats={choose}", *settings]))
        if "head.linear=true" in settings:
            given = {"cache_dir": str(tmp_path / "cache"), "run_dir": str(tmp_path / f"ensemble-{name}")}
            run_baseline(ensemble_job([str(run)], given))
    assert choices(tmp_path / "plain") and choices(tmp_path / "new") == choices(tmp_path / "plain")
    assert choices(tmp_path / "all") != choices(tmp_path / "plain")
    compared = 0
    for path in sorted(tmp_path.glob("*plain/seed-1/predictions/*.tsv")):
        header, *answers = Path(str(path).replace("plain", "new")).read_text(encoding="utf-8").splitlines()
        first = REPEATED if path.name in ("dev_pred_mood.tsv", "dev_pred_answer.tsv") else 0
        assert [header, *answers[first:]] == path.read_text(encoding="utf-8").splitlines(), path
        compared += 1
    assert compared >= 3
    own = read_json(tmp_path / "new/seed-1/scores.json")
    without = read_json(tmp_path / "plain/seed-1/scores.json")
    assert own["choosing_scores"] == {task: without["dev_scores"][task] for task in ("mood", "answer")}
    table = (tmp_path / "new/table.md").read_text(encoding="utf-8")
    assert "Dev rows that repeat a training row chose nothing: 10 of 34 (mood), 10 of 34 (answer)." in table
    for name in ("plain", "all"):
        assert "chose nothing" not in (tmp_path / name / "table.md").read_text(encoding="utf-8")


def test_the_seed_for_new_rows_is_best_on_the_rows_that_choose(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """Tasks that the average counts as one count as one here, too."""
    text = (folders[1] / "kinds.yaml").read_text(encoding="utf-8")
    (tmp_path / "kinds.yaml").write_text(f"{text}\naverage: [[mood, answer], stars]\n", encoding="utf-8")
    own = [f"suite={tmp_path / 'kinds.yaml'}", f"data_dir={folders[1] / 'data'}", "seeds=[1,2]", "floor.keep=true"]
    run_baseline(job([*own, "method=logistic", "tasks=[mood,answer,stars]", f"run_dir={tmp_path / 'run'}"]))
    # The plain mean is higher for seed 1, the suite's average for seed 2.
    scores = ({"mood": 62.0, "answer": 62.0, "stars": 40.0}, {"mood": 50.0, "answer": 50.0, "stars": 60.0})
    for choosing_scores, best in ((({}, {}), {None: 2, "mood": 1}), (({}, {"mood": 70.0}), {"mood": 2})):
        for seed, (dev, own_choosing) in enumerate(zip(scores, choosing_scores, strict=True), 1):
            path = tmp_path / f"run/seed-{seed}/scores.json"
            write_json(path, {**read_json(path), "dev_scores": dev, "choosing_scores": own_choosing})
        for task, seed in best.items():
            assert Predictor.load(tmp_path / "run", task=task).seed == seed
