"""Losses against the outputs of other models, beside a computation row by row."""

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


def test_labels() -> None:
    outputs, teacher = tensors(6, 3)
    loss = target_kind(LABELS).head.soft_loss(outputs, teacher, None, TEMPERATURE)
    expected = np.mean([cross_entropy(*row) for row in zip(outputs.numpy(), teacher.numpy(), strict=True)])
    assert float(loss) == pytest.approx(expected, rel=1e-5)


def test_the_gradient_is_zero_where_the_outputs_are_the_teachers() -> None:
    outputs = torch.tensor(RNG.normal(size=(4, 3)), requires_grad=True)
    target_kind(LABELS).head.soft_loss(outputs, outputs.detach().clone(), None, TEMPERATURE).backward()
    assert outputs.grad is not None and outputs.grad.abs().max() < 1e-6


def test_numbers_have_no_temperature() -> None:
    outputs, teacher = tensors(5, 1)
    loss = target_kind(NUMBER).head.soft_loss(outputs, teacher, None, TEMPERATURE)
    assert float(loss) == pytest.approx(float(((outputs - teacher) ** 2).mean()), rel=1e-5)


def test_candidates_of_rows_of_different_size() -> None:
    outputs, teacher = tensors(9, 1)
    outputs.requires_grad_()
    sizes = torch.tensor([2, 4, 3])
    head = target_kind(CHOICE).head
    rows = [slice(0, 2), slice(2, 6), slice(6, 9)]
    loss = head.soft_loss(outputs, teacher, sizes, TEMPERATURE)
    own, theirs = outputs.detach().numpy()[:, 0], teacher.numpy()[:, 0]
    assert float(loss.detach()) == pytest.approx(
        np.mean([cross_entropy(own[row], theirs[row]) for row in rows]), rel=1e-5
    )
    loss.backward()
    assert outputs.grad is not None and outputs.grad.isfinite().all()
    one_by_one = head.separated().soft_loss(outputs, teacher, sizes, TEMPERATURE)
    right, mine = expit(theirs / TEMPERATURE), expit(own / TEMPERATURE)
    expected = -(right * np.log(mine) + (1 - right) * np.log(1 - mine)).mean() * TEMPERATURE**2
    assert float(one_by_one) == pytest.approx(expected, rel=1e-5)
