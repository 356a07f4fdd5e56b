import doctest
from dataclasses import replace
from pathlib import Path

import mtl.tasks.task
from mtl.tasks.scale import SCALES
from mtl.tasks.task import Task

PAIR = Task("t", kind="labels", text=["a", "b"], target="y", labels=["0", "1"], metric="accuracy", folder="f")
CHOICE = Task("c", kind="choice", text=["q"], candidates=["answers[]"], target="y", metric="accuracy")


def test_texts_of_an_input_files_and_the_scored_split() -> None:
    assert (PAIR.sides, PAIR.is_pair, PAIR.text_columns) == (2, True, ["a", "b"])
    assert (replace(PAIR, text=["a"]).sides, replace(PAIR, text=["a"]).is_pair) == (1, False)
    assert (CHOICE.sides, CHOICE.is_pair, CHOICE.text_columns) == (2, True, ["q", "answers[]"])
    assert (replace(CHOICE, text=[]).sides, replace(CHOICE, text=[]).is_pair) == (1, False)
    assert PAIR.scored_split == "dev" and not PAIR.has_targets("test")
    on_test = replace(PAIR, scored="test")
    assert on_test.scored_split == "test"
    assert all(on_test.has_targets(split) for split in ("train", "dev", "test"))
    assert PAIR.has_targets("train") and PAIR.has_targets("dev")
    task = replace(PAIR, files={"train": "t.jsonl", "dev": None})
    assert task.path("train", Path("data")) == Path("data/f/t.jsonl")
    assert task.path("dev", Path("data")) is None and task.path("test", Path("data")) is None


def test_marked_spans_are_in_the_order_of_the_texts() -> None:
    task = replace(PAIR, spans={"b": ["x.at"], "a": ["y", "z"]})
    assert task.marked == [(0, "y"), (0, "z"), (1, "x.at")]
    assert task.span_columns == ["y.start", "y.stop", "z.start", "z.stop", "x.at.start", "x.at.stop"]
    assert PAIR.marked == [] and PAIR.span_columns == []


def test_scores_and_differences_as_a_suite_shows_them() -> None:
    assert doctest.testmod(mtl.tasks.task).failed == 0
    assert [SCALES[100].difference(points) for points in (1.26, -1.26)] == ["+1.3", "-1.3"]
    assert [SCALES[1].difference(points) for points in (1.26, -1.26)] == ["+0.013", "-0.013"]
    assert [SCALES[1].difference(points) for points in (0.0, -0.0, -0.01)] == ["+0.000"] * 3
    assert (SCALES[100].show(-54.1), SCALES[1].show(-54.1)) == ("-54.1", "-0.541")
