"""Losses against the outputs of other models, and the outputs of an ensemble, beside a computation row by row."""

import numpy as np
import pytest
import torch
from scipy.special import expit, log_softmax, softmax

from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LABELS = Task("t", kind="labels", text=["x"], target="y", labels=["a", "b", "c"], metric="accuracy")
NUMBER = Task("r", kind="number", text=["x"], target="y", range=[1, 5], metric="spearman")
CHOICE = Task("c", kind="choice", text=["x"], target="y", candidates=["z[]"], metric="accuracy")
RNG = np.random.default_rng(0)
TEMPERATURE = 2.5


def tensors(*shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(RNG.normal(size=shape)), torch.tensor(RNG.normal(size=shape))


def cross_entropy(outputs: np.ndarray, teacher: np.ndarray) -> float:
    """Of one row, × temperature²."""
    shares = softmax(teacher / TEMPERATURE)
    return float(-(shares * log_softmax(outputs / TEMPERATURE)).sum() * TEMPERATURE**2)


def test_the_soft_loss_of_labels_and_numbers() -> None:
    outputs, teacher = tensors(6, 3)
    loss = target_kind(LABELS).head.soft_loss(outputs, teacher, None, TEMPERATURE)
    expected = np.mean([cross_entropy(*row) for row in zip(outputs.numpy(), teacher.numpy(), strict=True)])
    assert float(loss) == pytest.approx(expected, rel=1e-5)
    outputs = torch.tensor(RNG.normal(size=(4, 3)), requires_grad=True)
    target_kind(LABELS).head.soft_loss(outputs, outputs.detach().clone(), None, TEMPERATURE).backward()
    assert outputs.grad is not None and outputs.grad.abs().max() < 1e-6
    outputs, teacher = tensors(5, 1)
    loss = target_kind(NUMBER).head.soft_loss(outputs, teacher, None, TEMPERATURE)
    assert float(loss) == pytest.approx(float(((outputs - teacher) ** 2).mean()), rel=1e-5)


def test_the_soft_loss_of_candidates_of_rows_of_different_size() -> None:
    outputs, teacher = tensors(9, 1)
    outputs.requires_grad_()
    sizes = torch.tensor([2, 4, 3])
    head = target_kind(CHOICE).head
    rows = [slice(0, 2), slice(2, 6), slice(6, 9)]
    loss = head.soft_loss(outputs, teacher, sizes, TEMPERATURE)
    given, taught = outputs.detach().numpy()[:, 0], teacher.numpy()[:, 0]
    assert float(loss.detach()) == pytest.approx(
        np.mean([cross_entropy(given[row], taught[row]) for row in rows]), rel=1e-5
    )
    loss.backward()
    assert outputs.grad is not None and outputs.grad.isfinite().all()
    one_by_one = head.separated().soft_loss(outputs, teacher, sizes, TEMPERATURE)
    right, mine = expit(taught / TEMPERATURE), expit(given / TEMPERATURE)
    expected = -(right * np.log(mine) + (1 - right) * np.log(1 - mine)).mean() * TEMPERATURE**2
    assert float(one_by_one) == pytest.approx(expected, rel=1e-5)


def test_labels_numbers_and_candidates_are_averaged() -> None:
    rng = np.random.default_rng(1)
    outputs = [4 * rng.normal(size=(5, 3)) for _ in range(3)]
    head = target_kind(LABELS).head
    joint = head.joint([torch.from_numpy(scores) for scores in outputs], None)
    np.testing.assert_allclose(joint.exp(), np.mean([softmax(scores, axis=1) for scores in outputs], axis=0), atol=1e-6)
    rng, sizes = np.random.default_rng(2), np.array([2, 4, 1])
    outputs = [rng.normal(size=(7, 1)) for _ in range(2)]
    head = target_kind(CHOICE).head
    joint = head.joint([torch.from_numpy(scores) for scores in outputs], torch.from_numpy(sizes))
    expected = [
        np.logaddexp(*(log_softmax(scores[start:stop, 0]) for scores in outputs)) - np.log(2)
        for start, stop in [(0, 2), (2, 6), (6, 7)]
    ]
    np.testing.assert_allclose(joint[:, 0], np.concatenate(expected), atol=1e-6)
    head = target_kind(NUMBER).head
    joint = head.joint([torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0], [0.5]])], None)
    assert joint.tolist() == [[0.5], [0.75]]


def test_numbers_as_they_stand_become_those_of_other_heads() -> None:
    """Both heads predict the same numbers from them."""
    head = target_kind(NUMBER).head
    raw = np.array([[1.0], [2.0], [6.0]], dtype=np.float32)
    standard = head.unscaled().standard(raw)
    assert standard.dtype == np.float32
    assert head.predict(torch.from_numpy(standard), None).tolist() == raw[:, 0].tolist()
    assert (head.standard(raw) == raw).all()
