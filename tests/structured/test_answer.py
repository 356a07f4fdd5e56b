"""Answers as parts of passages: cells, places, codes, losses and predictions, against independent computations."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from data_files import write_jsonl, write_table
from input_errors import raises_input_error
from scipy.special import log_softmax

from mtl.data.examples import read_examples
from mtl.methods.given_rows import as_codes
from mtl.structured.answer import MAY_HAVE_NONE
from mtl.structured.answer_cells import parse_gold
from mtl.structured.passages import LONGEST, unit_text, units_of
from mtl.tasks.targets import TARGET_KINDS, target_kind
from mtl.tasks.task import Task

TASK = Task("t", kind="answer", text=["question", "passage"], target="answer", metric="squad_f1")
KIND = target_kind(TASK)
PASSAGE = "In 1984, Anna moved to Warsaw. In 1990, Jan left Warsaw."
TEXTS = ("Where?", PASSAGE)


def located(texts: list[str], starts: list[str] | None = None) -> str:
    return str(KIND.located(KIND.join(texts), TEXTS, starts))


TARGETS = np.array([located(["1984"]), located([]), located(["Warsaw", "to Warsaw"], ["23", "20"])], dtype=object)
PASSAGES = [PASSAGE] * 3


def test_targets_hold_all_answers_with_their_places() -> None:
    assert [parse_gold(cell) for cell in TARGETS] == [
        (["1984"], [3], [2, 2]),
        ([], [], []),
        (["Warsaw", "to Warsaw"], [23, 20], [7, 7]),
    ]
    for cell in [*TARGETS, located(["Warsaw"])]:
        assert KIND.parse(KIND.line_cell(KIND.to_line(cell))) == cell
    assert parse_gold(located(["Warsaw"])) == (["Warsaw"], [None], [7, 7])
    assert located([" ", ""], ["-1", "0"]) == located([]) == TARGETS[1]  # other ways to write that there is none
    user = KIND.parse('{"answer_start": [44], "text": ["left"]}')
    assert parse_gold(str(KIND.located(user, TEXTS, None))).words == [13, 13]
    assert parse_gold(str(KIND.located(KIND.parse("Anna"), TEXTS, ["9"]))).starts == [9]


@pytest.mark.parametrize(
    ("cell", "starts", "problem"),
    [
        ("Krakow", None, "answer 'Krakow' is no part of the passage"),
        ("Anna", ["10"], "answer 'Anna' must stand at character 10, where 'nna ' stands; it stands at 9"),
        ("Ola", ["10"], "answer 'Ola' must stand at character 10, where 'nna' stands; it is no part of the passage"),
        ("Anna", ["9", "10"], "1 answer and 2 starts; each answer has one"),
        ("Anna", ["nine"], "start 'nine' is not the number of a character, from 0"),
        ("Anna", ["-1"], "start '-1' is not the number of a character"),
        ('{"text": "Anna", "answer_start": 9}', None, "is not of the form"),
        ('{"text": ["Anna"], "answer_start": []}', None, "is not of the form"),
        ('{"answer_start": [', None, "is not of the form"),
        ('{"text": ["moved"], "answer_start": [-6]}', None, "is not of the form"),
        ('{"text": "ab", "answer_start": [1, 2]}', None, "is not of the form"),
        ('{"text": [], "answer_start": ""}', None, "is not of the form"),
    ],
)
def test_a_target_that_does_not_fit_its_passage(cell: str, starts: list[str] | None, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        KIND.located(KIND.parse(cell), TEXTS, starts)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"text": ["passage"]}, "text: a task of kind answer names two columns"),
        ({"spans": {"passage": ["mark"]}}, "spans: a task of kind answer has none"),
        ({}, None),
    ],
)
def test_a_declaration(declared: dict[str, Any], problem: str | None) -> None:
    task = Task("t", **{"kind": "answer", "text": ["q", "p"], "target": "a", "metric": "squad_f1", **declared})
    found = TARGET_KINDS["answer"].problem(task)
    assert found == problem if problem is None or found is None else found.startswith(problem)


def test_codes_stand_for_the_words_of_the_first_answer(caplog: pytest.LogCaptureFixture) -> None:
    head = KIND.head
    answers = head.answers(TARGETS)
    assert answers == [MAY_HAVE_NONE] and head.answers(TARGETS[[0, 2]]) == [] and head.outputs(answers) == 2
    codes = head.encode(TARGETS, answers, PASSAGES)
    assert codes.tolist() == [[2, 2, 0], [0, 0, 1], [7, 7, 0]] and not caplog.records
    assert head.decode(codes, answers, PASSAGES).tolist() == ["1984", "", "Warsaw"]
    # The run is read where none is not allowed.
    assert head.decode(np.array([[4.0, 5, 1]]), [], PASSAGES[:1]).tolist() == ["Anna moved"]
    assert head.unlearnable(codes, np.array([2, 1, 8])).tolist() == [True, False, False]
    assert head.encode(np.array([None], dtype=object), answers).tolist() == [[-1, -1, -1]]
    head.encode(np.array([located(["Warsaw"]), TARGETS[0]], dtype=object), answers)
    assert "the answers of 1 of 2 rows occur several times" in caplog.text


def test_the_loss_is_the_mean_of_two_cross_entropies_over_the_units_of_each_row() -> None:
    sizes = [3, 5, 1, 4]
    outputs = np.random.default_rng(1).normal(size=(sum(sizes), 2))
    codes = np.array([[1, 2, 0], [4, 4, 0], [0, 0, 1], [2, 3, 0]])
    rows = np.split(outputs, np.cumsum(sizes)[:-1])
    losses = [-log_softmax(row, axis=0)[code[:2], [0, 1]].mean() for row, code in zip(rows, codes, strict=True)]
    found = KIND.head.loss(torch.from_numpy(outputs), torch.from_numpy(codes).double(), torch.tensor(sizes))
    assert float(found) == pytest.approx(np.mean(losses))
    assert float(KIND.head.loss_weight(torch.from_numpy(codes), torch.tensor(sizes))) == 4


def test_predictions_are_the_best_runs_of_all() -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        sizes = rng.choice([1, 2, 5, LONGEST + 20], 4)
        outputs = rng.integers(-4, 5, (sizes.sum(), 2)) / 2
        found = KIND.head.predict(torch.from_numpy(outputs), torch.from_numpy(sizes)).tolist()
        for row, (first, last, none) in zip(np.split(outputs, np.cumsum(sizes)[:-1]), found, strict=True):
            runs = {
                (i, j): row[i, 0] + row[j, 1] for i in range(1, len(row)) for j in range(i, min(len(row), i + LONGEST))
            }
            best = max(runs.values(), default=-np.inf)
            assert none == (row[0].sum() >= best)
            if runs:
                assert runs[first, last] == best
            else:
                assert (first, last) == (0, 0)


@pytest.mark.parametrize(
    "answers",
    [
        *({"text": ["In"], "answer_start": [1]}, {"text": ["In"], "answer_start": []}, {"text": ["In"]}),
        *({"text": [{}], "answer_start": [0]}, {"text": "In", "answer_start": 0}),
    ],
)
def test_a_file_with_an_answer_that_is_none(tmp_path: Path, answers: dict[str, Any]) -> None:
    task = replace(TASK, target="a.text[]", starts="a.answer_start[]")
    rows = [{"question": "Where?", "passage": PASSAGE, "a": a} for a in ({"text": [], "answer_start": []}, answers)]
    with raises_input_error(file="x.jsonl", line=2):
        read_examples(task, write_jsonl(tmp_path / "x.jsonl", rows))


def test_targets_of_a_table_are_located(tmp_path: Path) -> None:
    rows = [("Who?", "Anna and Anna", "Anna", "9"), ("Who?", "x", "", "")]
    table = write_table(tmp_path / "x.tsv", ["question", "passage", "text[]", "start[]"], rows)
    read = read_examples(replace(TASK, target="text[]", starts="start[]"), table)
    assert [parse_gold(str(row.target)).starts for row in read] == [[9], []]


class Estimator:
    """What scikit-learn's estimators have, with known answers."""

    def __init__(self, name: str, answer: np.ndarray) -> None:
        setattr(self, name, lambda features: answer)


def test_estimators_learn_words_and_predict_the_run_with_the_largest_sum() -> None:
    sizes = np.array([len(units_of(PASSAGE))] * 3)
    wanted = KIND.training_targets(TARGETS, sizes).reshape(3, -1)
    assert [np.flatnonzero(row).tolist() for row in wanted] == [[2], [0], [7]]
    odds = np.full((3, sizes[0]), -1.0)
    odds[0, 4:7] = 1, -0.5, 2  # Anna moved to
    odds[1, 0], odds[2, 1] = 0.5, -0.5
    found = KIND.estimator_targets(Estimator("decision_function", odds.ravel()), None, sizes, PASSAGES)
    assert found.tolist() == ["Anna moved to", "", "In"]
    right = 1 / (1 + np.exp(-odds.ravel()))
    estimator = Estimator("predict_proba", np.stack([1 - right, right], axis=1))
    assert KIND.estimator_targets(estimator, None, sizes, PASSAGES).tolist() == found.tolist()
    empty = KIND.estimator_targets(Estimator("decision_function", np.array([-3.0])), None, np.array([1]), [""])
    assert empty.tolist() == [""]


def test_random_answers_are_runs_of_words() -> None:
    rng, rows = np.random.default_rng(3), 3000
    sizes = np.full(rows, len(units_of("a b c d")))

    def drawn(draw: Any) -> Counter[str]:
        codes = draw(TARGETS[:2], rows, sizes, rng)
        return Counter(KIND.head.decode(codes, [MAY_HAVE_NONE], ["a b c d"] * rows).tolist())

    of_training, of_all = drawn(KIND.draw), drawn(KIND.uniform)
    assert set(of_training) == {"", *"abcd"} and of_training[""] / rows == pytest.approx(0.5, abs=0.05)
    assert len(of_all) == 11  # none, and 4 + 3 + 2 + 1 runs
    assert all(count / rows == pytest.approx(1 / 11, abs=0.03) for count in of_all.values())
    for draw in (KIND.draw, KIND.uniform):  # a passage without words has no run
        codes = draw(TARGETS[:1], 2, np.array([1, 1]), rng)
        assert KIND.head.decode(codes, [MAY_HAVE_NONE], ["", " "]).tolist() == ["", ""]
    assert KIND.usual(TARGETS, PASSAGES, [PASSAGE], ["Who moved to Warsaw?"]).tolist() == ["Anna"]


def test_what_people_read_of_answers() -> None:
    assert KIND.constants(TARGETS) == ["", "1984"] and KIND.constants(TARGETS[[0, 2]]) == ["1984"]
    assert KIND.constants(TARGETS[[1]]) == [""]
    assert [KIND.show(cell) for cell in TARGETS] == ["'1984'", "no answer", "'Warsaw'"]
    assert [KIND.stratum(cell) for cell in [*TARGETS, None]] == [True, False, True, False]
    expected = "answers of 1 words (median), 90 % up to 1, at most 1; 33.3% without an answer"
    assert KIND.distribution(TARGETS) == expected
    assert KIND.distribution(TARGETS[[1]]).endswith("100.0% without an answer")
    assert KIND.has_type(["a"]) and KIND.has_type("a") and not KIND.has_type(3)
    assert unit_text(PASSAGE, 99, 99) == "" and json.loads(TARGETS[0])["text"] == ["1984"]
    with pytest.raises(ValueError, match="a prediction is one text"):
        KIND.parse_prediction(KIND.join(["Warsaw"]))
    assert KIND.parse_prediction("") == "" and KIND.line_cell(KIND.to_line("a\n\\b")) == "a\n\\b"


def test_targets_from_python_are_located_in_the_row() -> None:
    codes = as_codes(TASK, [TEXTS, TEXTS], ["Warsaw", ""], [MAY_HAVE_NONE])
    np.testing.assert_array_equal(
        codes, KIND.head.encode(np.array([located(["Warsaw"]), located([])]), [MAY_HAVE_NONE], PASSAGES[:2])
    )
    with raises_input_error(key="targets"):
        as_codes(TASK, [TEXTS], ["Cracow"], [MAY_HAVE_NONE])
    with raises_input_error(key="targets"):
        as_codes(TASK, [TEXTS], ["Warsaw", "1984"], [MAY_HAVE_NONE])
