"""The outputs of an ensemble, beside a computation row by row."""

import numpy as np
import torch
from scipy.special import log_softmax, softmax

from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LABELS = Task("t", kind="labels", text=["x"], target="y", labels=["a", "b", "c"], metric="accuracy")
NUMBER = Task("r", kind="number", text=["x"], target="y", range=[1, 5], metric="spearman")
CHOICE = Task("c", kind="choice", text=["x"], target="y", candidates=["z[]"], metric="accuracy")


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
    # Both heads predict the same numbers from them.
    head = target_kind(NUMBER).head
    raw = np.array([[1.0], [2.0], [6.0]], dtype=np.float32)
    standard = head.unscaled().standard(raw)
    assert standard.dtype == np.float32
    assert head.predict(torch.from_numpy(standard), None).tolist() == raw[:, 0].tolist()
    assert (head.standard(raw) == raw).all()
