"""Several labels of a row: cells, files, what heads learn, thresholds; metrics against scikit-learn, and weights against repeated rows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from data_files import write_jsonl
from input_errors import raises_input_error
from scipy.special import expit, logit
from sklearn.metrics import accuracy_score, f1_score
from torch.nn import functional

from mtl.data.examples import read_examples
from mtl.methods.thresholds import chosen_shifts, shifted_outputs
from mtl.structured.label_f1 import label_scores
from mtl.structured.multi_label import MultiLabel, indicators
from mtl.tasks.metrics import METRICS, best_constant, metric_named, score, weighted_scores
from mtl.tasks.suite import suite_from
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

TASK = Task("t", kind="multi_label", text=["text"], target="y", labels=["joy", "big fear", "rage"], metric="micro_f1")
KIND = target_kind(TASK)
NUMBERED = replace(TASK, indices=["0", "1", "2"], label_separator=",")
TARGETS = np.array(["joy;rage", "", "big fear", "joy;big fear;rage"], dtype=object)


@pytest.mark.parametrize(
    ("task", "cell", "target", "written"),
    [
        (TASK, "rage; joy;", "joy;rage", "joy;rage"),
        (TASK, " ", "", ""),
        (NUMBERED, "2, 0", "joy,rage", "0,2"),
        (replace(TASK, label_separator=" # "), "rage # joy", "joy # rage", "joy # rage"),
    ],
)
def test_a_cell_is_a_set_of_labels(task: Task, cell: str, target: str, written: str) -> None:
    kind = target_kind(task)
    assert (kind.parse(cell), kind.format(target)) == (target, written)
    assert kind.parse(kind.format(target)) == kind.parse(kind.join(kind.to_json(target))) == target


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("joy,rage", "unknown label 'joy,rage'; a row has none or several of joy, big fear, rage, separated by ';'"),
        ("joy;rage;joy", "label 'joy' stands twice"),
        (["joy", "rage;joy"], "label 'rage;joy' holds ';'"),
        ({"joy": "1", "rage": "-1"}, "column 'rage': '-1' does not say whether the row has this label; write 0 or 1"),
    ],
)
def test_what_is_no_set_of_labels(cell: Any, problem: str) -> None:
    kind = target_kind(TASK)
    read = kind.gather if isinstance(cell, dict) else kind.join if isinstance(cell, list) else kind.parse
    with pytest.raises(ValueError) as caught:
        read(cell)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"labels": ["a"]}, "labels: needs at least two"),
        ({"labels": ["a", "b;c"]}, "labels: 'b;c' holds ';', which separates labels; set label_separator"),
        ({"labels": ["a", " b"]}, "labels: ' b' begins or ends with a space"),
        ({"labels": ["a", ""]}, "labels: one is empty"),
        ({"labels": ["a", "b"], "label_separator": "\n"}, "label_separator: "),
        ({"labels": ["a", "b"], "indices": ["0"]}, "indices: names what stands for each of the 2 labels"),
        ({"labels": ["a", "b"], "indices": ["0", "1"]}, None),
        ({"labels": ["a;", "b"], "label_separator": " "}, None),
    ],
)
def test_a_declaration(declared: dict[str, Any], problem: str | None) -> None:
    found = MultiLabel.problem(replace(TASK, **declared))
    assert found == problem if problem is None or found is None else found.startswith(problem)


@pytest.mark.parametrize("keys", [{"target": "y + z"}, {"label_separator": ","}, {"indices": ["0", "1"]}])
def test_a_task_with_one_label_has_one_column_and_no_separator(keys: dict[str, Any], tmp_path: Path) -> None:
    task = {"text": ["text"], "target": "y", "labels": ["a", "b"], "metric": "accuracy", **keys}
    with raises_input_error(file="s.yaml"):
        suite_from({"name": "s", "tasks": {"t": task}}, tmp_path / "s.yaml")


FLAGS = replace(TASK, target="joy + big fear + rage")
FLAG_ROWS = [(1, False, "yes"), (0.0, 0, 0), (False, True, 0)], [("1", "0", "1"), ("0", "0", "0"), ("0", "1", "0")]
AS_JSON, AS_CELLS = ([dict(zip(TASK.labels or (), row, strict=True)) for row in rows] for rows in FLAG_ROWS)
FILES: dict[str, tuple[Task, list[dict[str, Any]]]] = {
    "lists.jsonl": (replace(TASK, target="l[]"), [{"l": ["rage", "joy"]}, {"l": []}, {"l": ["big fear"]}]),
    "numbers.jsonl": (replace(NUMBERED, target="l[]"), [{"l": [2, 0]}, {"l": []}, {"l": [1]}]),
    "flags.jsonl": (FLAGS, AS_JSON),
    "columns.jsonl": (
        replace(TASK, target="first + second"),
        [{"first": "joy", "second": "rage"}, {"first": "", "second": None}, {"first": None, "second": "big fear"}],
    ),
    "cells.tsv": (replace(TASK, target="l"), [{"l": "rage;joy"}, {"l": ""}, {"l": "big fear"}]),
    "flags.tsv": (FLAGS, AS_CELLS),
}


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    rows = [{"text": f"text {number}", **row} for number, row in enumerate(rows)]
    if path.suffix == ".jsonl":
        write_jsonl(path, rows)
    else:
        lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_labels_stand_in_lists_cells_and_columns(name: str, tmp_path: Path) -> None:
    task, rows = FILES[name]
    write(tmp_path / name, rows)
    separator = task.label_separator or ";"
    targets = [example.target for example in read_examples(task, tmp_path / name)]
    assert targets == [f"joy{separator}rage", "", "big fear"]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("lists.jsonl", {"l": ["joy", "anger"]}),
        ("lists.jsonl", {"l": None}),
        ("lists.jsonl", {"l": [{"joy": 1}]}),
        ("flags.jsonl", {"joy": 1, "big fear": None, "rage": 0}),
        ("flags.jsonl", {"joy": 1, "rage": 0}),
        ("columns.jsonl", {"first": "joy", "second": ["rage"]}),
        ("cells.tsv", {"l": "joy|rage"}),
    ],
)
def test_a_bad_target_is_named_with_its_line(name: str, row: dict[str, Any], tmp_path: Path) -> None:
    task, rows = FILES[name]
    write(tmp_path / name, [*rows, row])
    with raises_input_error(file=name, line=len(rows) + (2 if name.endswith("tsv") else 1)):
        read_examples(task, tmp_path / name)


def test_heads_learn_each_label_by_itself() -> None:
    head = KIND.head
    codes = head.encode(TARGETS, [])
    assert codes.tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1]] and head.outputs([]) == 3
    assert head.decode(codes, []).tolist() == TARGETS.tolist()
    assert np.isnan(head.encode(np.array(["joy", None], dtype=object), [])).tolist() == [[False] * 3, [True] * 3]
    outputs = torch.from_numpy(np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32))
    targets = torch.from_numpy(codes).float()
    alone = functional.binary_cross_entropy(outputs.sigmoid(), targets, reduction="none")
    assert head.loss(outputs, targets, None).item() == pytest.approx(alone.sum().item() / 4)
    weighted = head.balanced(codes, 1.0)
    assert weighted.weights.tolist() == [1, 1, 1]  # type: ignore[attr-defined]
    rare = head.balanced(np.array([[1.0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]]), 0.5)
    assert rare.weights.tolist() == pytest.approx([3**0.5, 1, 1])  # type: ignore[attr-defined]
    assert rare.loss(outputs, targets, None) > head.loss(outputs, targets, None)
    assert head.predict(outputs, None).tolist() == (outputs > 0).float().tolist()
    joint = head.joint([outputs, -2 * outputs, outputs + 3], None)
    mean = np.mean([expit(part) for part in (outputs.numpy(), -2 * outputs.numpy(), outputs.numpy() + 3)], axis=0)
    np.testing.assert_allclose(joint.numpy(), logit(mean), atol=1e-5)


def test_floors_and_reports() -> None:
    assert KIND.training_targets(TARGETS, None).tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1]]
    rng = np.random.default_rng(1)
    drawn = KIND.uniform(TARGETS, 4000, None, rng)
    assert indicators(TASK, drawn).toarray().mean(axis=0) == pytest.approx([0.5] * 3, abs=0.05)
    assert set(KIND.draw(TARGETS, 50, None, rng)) == set(TARGETS)
    described = "joy 50.0%, big fear 50.0%, rage 50.0%; 1.50 labels a row, none in 25.0% of the rows; 4 different sets"
    assert KIND.distribution(TARGETS) == described
    assert KIND.absent(np.array(["joy"], dtype=object)) == ["big fear", "rage"]
    assert [KIND.show("joy;rage"), KIND.show("")] == ["joy, rage", "no label"]
    assert [KIND.stratum(target) for target in ["big fear;rage", "", None]] == ["big fear", "", None]
    many = replace(TASK, labels=[f"l{number}" for number in range(30)])
    assert target_kind(many).distribution(np.array(["l7;l9"], dtype=object)).startswith("l7 100.0%, l9 100.0%, ")


@pytest.mark.parametrize("metric", ["micro_f1", "multi_macro_f1", "exact_match"])
def test_thresholds_are_chosen_for_each_label_or_for_all(metric: str) -> None:
    rng = np.random.default_rng(2)
    codes = (rng.permuted(np.tile(np.arange(500), (3, 1)), axis=1).T < [250, 100, 25]).astype(np.float64)
    outputs = (3 * codes + rng.normal(size=codes.shape) - [3, 3, 4]).astype(np.float32)
    task = TASK.measured_by(metric)
    rows = ScoredRows(KIND.head.decode(codes, []))

    def at(shifts: dict[int, float]) -> float:
        shifted = outputs + np.array([shifts.get(label, 0.0) for label in range(3)])
        return score(task, KIND.head.decode(shifted, []), rows)

    if metric == "exact_match":
        assert shifted_outputs(task) == []
        return
    chosen = chosen_shifts("dev", task, outputs, codes)
    assert at(chosen) > at({}) + 5
    tried = np.arange(-1, 6, 0.05)
    if metric == "micro_f1":
        assert len(set(chosen.values())) == 1
        assert at(chosen) >= max(at(dict.fromkeys(range(3), shift)) for shift in tried) - 1e-9
    else:  # dev has 250, 100 and 25 rows of the labels
        assert at(chosen) >= max(at({**chosen, label: shift}) for label in (0, 1) for shift in tried) - 1e-9
        assert chosen[2] == chosen_shifts("dev", TASK, outputs, codes)[2] != chosen[0]
    bagged = chosen_shifts("bagged", task, outputs, codes)
    assert max(abs(bagged[label] - chosen[label]) for label in range(3)) < 1
    assert json.dumps(bagged) == json.dumps(chosen_shifts("bagged", task, outputs, codes))


EXPECTED = {
    "micro_f1": lambda gold, guessed: f1_score(gold, guessed, average="micro", zero_division=0),
    "multi_macro_f1": lambda gold, guessed: f1_score(gold, guessed, average="macro", zero_division=0),
    "exact_match": accuracy_score,
}


def labelled(metric: str = "micro_f1", labels: int = 4) -> Task:
    return Task("t", kind="multi_label", text=["x"], target="y", labels=[*"abcdef"][:labels], metric=metric)


def random_case(rng: np.random.Generator) -> tuple[Task, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A task, predictions and gold sets, and both as matrices: few rows or many, labels that are missing, rows without labels."""
    labels, rows = int(rng.integers(2, 7)), int(rng.choice([1, 2, 3, 17, 100]))
    shares = rng.random(labels) * rng.choice([0, 1], labels, p=[0.2, 0.8])
    gold = (rng.random((rows, labels)) < shares).astype(int)
    flipped = rng.random((rows, labels)) < rng.choice([0, 0.1, 0.5])
    guessed = np.where(flipped, 1 - gold, gold)
    of = labelled(labels=labels)
    decode = target_kind(of).head.decode
    return of, decode(guessed, []), decode(gold, []), guessed, gold


@pytest.mark.parametrize("metric", EXPECTED)
def test_scores_are_those_of_scikit_learn_and_weights_are_repeated_rows(metric: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        of, predicted, gold, guessed, truth = random_case(rng)
        of = of.measured_by(metric)
        assert score(of, predicted, ScoredRows(gold)) == pytest.approx(100 * EXPECTED[metric](truth, guessed))
        by_label = zip(
            of.labels or (), truth.sum(axis=0), f1_score(truth, guessed, average=None, zero_division=0), strict=True
        )
        parts = {label: (count, pytest.approx(f1)) for label, count, f1 in by_label if count}
        assert label_scores(of, predicted, ScoredRows(gold)) == parts
        weights = rng.poisson(1.0, (6, len(gold)))
        weights[np.arange(6), rng.integers(0, len(gold), 6)] += 1  # no set is empty
        found = weighted_scores(of, predicted, ScoredRows(gold), weights.astype(float))
        for counts, weighted in zip(weights, found, strict=True):
            drawn = np.repeat(np.arange(len(gold)), counts)
            assert weighted == pytest.approx(100 * EXPECTED[metric](truth[drawn], guessed[drawn]))


def test_all_metrics_of_the_kind_are_here() -> None:
    assert {name for name, metric in METRICS.items() if "multi_label" in metric.kinds} == set(EXPECTED)
    assert metric_named("micro_f1+exact_match").threshold == "all"


def test_the_best_constant_answer_may_be_a_set_that_no_row_has() -> None:
    gold = np.array(["a", "b", "c", "a", "b", "", "a", "b"], dtype=object)
    sets = {metric: best_constant(labelled(metric), ScoredRows(gold)) for metric in EXPECTED}
    assert sets == {"micro_f1": "a;b", "multi_macro_f1": "a;b;c", "exact_match": "a"}


def test_indicators_have_a_row_for_each_target() -> None:
    assert indicators(labelled(), ["b;d", None, ""]).toarray().tolist() == [[0, 1, 0, 1], [0] * 4, [0] * 4]
