"""A choice among candidates: losses and predictions, against independent computations."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import log_softmax

from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

TASK = Task("t", kind="choice", text=["x"], target="y", metric="accuracy", candidates=["z[]"])
CHOICE = target_kind(TASK)
SIZES = np.array([2, 4, 12, 1])  # candidates of each row


def test_a_choice_has_one_text_or_none_and_candidates_that_may_be_named() -> None:
    choice = replace(TASK)
    choice.text = []
    assert CHOICE.problem(choice) is None
    choice.text = ["a", "b"]
    assert CHOICE.problem(choice) == "text: a choice has at most one text column beside its candidates"
    kind = target_kind(replace(TASK, indices=["1", "2", "3"]))
    assert [kind.parse(cell, 3) for cell in "123"] == [0, 1, 2]
    assert (kind.format(1.0), kind.to_json(1.0)) == ("2", "2")
    assert [kind.has_type(value) for value in (1, "1", 1.0, True)] == [True, True, False, False]
    for cell, candidates in (("0", 3), ("3", 2), ("A", None)):
        with pytest.raises(ValueError, match="one of 1, 2"):
            kind.parse(cell, candidates)
    assert CHOICE.problem(replace(TASK, indices=["A", "A"])) == "indices: needs at least two, all different"


def test_the_loss_of_a_choice_is_cross_entropy_over_the_row_s_candidates() -> None:
    rng = np.random.default_rng(2)
    rows = [rng.normal(size=size) for size in SIZES]
    targets = np.array([1, 3, 7, 0])
    expected = -np.mean([log_softmax(row)[target] for row, target in zip(rows, targets, strict=True)])
    outputs, sizes = torch.from_numpy(np.concatenate(rows)).float()[:, None], torch.from_numpy(SIZES)
    loss = CHOICE.head.loss(outputs, torch.from_numpy(targets).double(), sizes)
    assert float(loss) == pytest.approx(expected, rel=1e-5)
    assert CHOICE.head.predict(outputs, sizes).tolist() == [int(row.argmax()) for row in rows]
    # The candidates of another row change nothing.
    assert CHOICE.head.predict(-outputs.abs() - 5, sizes).tolist() == [int((-abs(row)).argmax()) for row in rows]


def test_separate_candidates_are_rows_of_a_yes_no_problem() -> None:
    kind = target_kind(TASK)
    kind.head = kind.head.separated()
    rng = np.random.default_rng(2)
    rows = [rng.normal(size=size) for size in (2, 1, 2)]
    targets = np.array([1, 0, 0])
    losses = []
    for row, target in zip(rows, targets, strict=True):
        for place, output in enumerate(row):
            probability = 1 / (1 + np.exp(-output))
            losses.append(-np.log(probability if place == target else 1 - probability))
    outputs, sizes = torch.from_numpy(np.concatenate(rows)).float()[:, None], torch.tensor([2, 1, 2])
    loss = kind.head.loss(outputs, torch.from_numpy(targets).float(), sizes)
    assert float(loss) == pytest.approx(np.mean(losses), rel=1e-5)
    # The prediction is the candidate with the highest output, as ever.
    assert kind.head.predict(outputs, sizes).tolist() == [int(row.argmax()) for row in rows]


@pytest.mark.parametrize("separately", [False, True])
def test_the_mean_of_a_batch_is_the_weighted_mean_of_its_parts(separately: bool) -> None:
    kind = target_kind(TASK)
    if separately:
        kind.head = kind.head.separated()
    outputs, codes, sizes = torch.arange(7.0)[:, None], torch.tensor([1.0, 0.0, 3.0]), torch.tensor([2, 1, 4])
    first = kind.head.loss(outputs[:2], codes[:1], sizes[:1]) * kind.head.loss_weight(codes[:1], sizes[:1])
    second = kind.head.loss(outputs[2:], codes[1:], sizes[1:]) * kind.head.loss_weight(codes[1:], sizes[1:])
    mean = (first + second) / kind.head.loss_weight(codes, sizes)
    torch.testing.assert_close(kind.head.loss(outputs, codes, sizes), mean)
