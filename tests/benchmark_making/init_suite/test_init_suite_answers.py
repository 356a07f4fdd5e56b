from typing import Any

from mtl.benchmark_making.init_suite.guessing import Guess, choose_answering_tasks

PAIR = ["premise", "hypothesis"]
NLI = ["contradiction", "entailment", "neutral"]


def guess(id: str, rows: dict[str, int], kind: str = "labels", text: list[str] = PAIR, **keys: Any) -> Guess:
    files = {split: f"{split}.tsv" if split in rows else None for split in ("train", "dev", "test")}
    return Guess(id, id, files, rows, kind, {"text": text, "metric": "accuracy", **keys})


def test_the_task_with_the_same_columns_and_labels_answers() -> None:
    nli = guess("nli", {"train": 9, "dev": 3}, labels=NLI)
    gender = guess("gender", {"dev": 3}, labels=["entailment", "neutral"])
    choose_answering_tasks([guess("pairs", {"train": 99}, text=["a", "b"], labels=NLI), gender, nli])
    assert gender.keys == {"text": PAIR, "metric": "accuracy", "answered_by": "nli"}
    assert "a guess" in gender.why["answered_by"]
    assert gender.why["files"] == "no train file"
    assert '"entailment", "neutral"' in gender.notes[0]
    assert gender.doubts == ["answered_by: no training rows; nli has the same columns and labels"]
    assert "answered_by" not in nli.keys


def test_of_several_the_largest_is_written_and_the_others_are_named() -> None:
    sick, nli, gender = (
        guess(id, {split: rows}, labels=NLI)
        for id, split, rows in [("sick", "train", 5), ("nli", "train", 9), ("g", "dev", 3)]
    )
    choose_answering_tasks([sick, nli, gender])
    assert gender.keys["answered_by"] == "nli"
    assert gender.doubts[0].endswith("; or sick")


def test_no_task_with_other_labels_or_columns_answers() -> None:
    gender = guess("gender", {"dev": 3}, labels=["entailment", "unknown"])
    broken = guess("broken", {"train": 3}, labels=["entailment", "unknown"])
    broken.problem = "no column looks like a text"
    choose_answering_tasks([guess("nli", {"train": 9}, labels=NLI), broken, gender])
    assert gender.problem is not None
    assert gender.problem.startswith("no train file")


def test_numbers_need_the_whole_range() -> None:
    tasks = [guess(id, {"test": 3}, "number", range=[low, 5]) for id, low in [("inside", 1), ("outside", -1)]]
    choose_answering_tasks([guess("sts", {"train": 9}, "number", range=[0, 5]), *tasks])
    assert tasks[0].keys["answered_by"] == "sts"
    assert "range" not in tasks[0].keys
    assert tasks[1].problem is not None
