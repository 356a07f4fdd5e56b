"""The outputs of an ensemble, and outputs of heads that mean numbers as they stand."""

import numpy as np
import torch
from scipy.special import log_softmax, softmax

from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


def task(**declared: object) -> Task:
    return Task(id="t", folder="t", text=["a"], target="y", metric="accuracy", **declared)  # type: ignore[arg-type]


def test_labels_average_their_probabilities() -> None:
    rng = np.random.default_rng(1)
    each = [4 * rng.normal(size=(5, 3)) for _ in range(3)]
    head = target_kind(task(labels=["a", "b", "c"], kind="labels")).head
    joint = head.joint([torch.from_numpy(own) for own in each], None)
    np.testing.assert_allclose(joint.exp(), np.mean([softmax(own, axis=1) for own in each], axis=0), atol=1e-6)


def test_candidates_average_their_probabilities_in_their_row() -> None:
    rng, sizes = np.random.default_rng(2), np.array([2, 4, 1])
    each = [rng.normal(size=(7, 1)) for _ in range(2)]
    head = target_kind(task(candidates=["b"], kind="choice")).head
    joint = head.joint([torch.from_numpy(own) for own in each], torch.from_numpy(sizes))
    expected = [
        np.logaddexp(*(log_softmax(own[start:stop, 0]) for own in each)) - np.log(2)
        for start, stop in [(0, 2), (2, 6), (6, 7)]
    ]
    np.testing.assert_allclose(joint[:, 0], np.concatenate(expected), atol=1e-6)


def test_numbers_are_averaged() -> None:
    head = target_kind(task(range=[1, 5], kind="number")).head
    joint = head.joint([torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0], [0.5]])], None)
    assert joint.tolist() == [[0.5], [0.75]]


def test_numbers_as_they_stand_become_those_of_other_heads() -> None:
    """Both heads predict the same numbers from them."""
    head = target_kind(task(range=[1, 5], kind="number")).head
    raw = np.array([[1.0], [2.0], [6.0]], dtype=np.float32)
    standard = head.unscaled().standard(raw)
    assert standard.dtype == np.float32
    assert head.predict(torch.from_numpy(standard), None).tolist() == raw[:, 0].tolist()
    assert (head.standard(raw) == raw).all()
