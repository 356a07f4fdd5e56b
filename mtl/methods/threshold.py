"""The decision threshold of a task that is scored by F1 of one label, chosen on dev (`finetune.threshold=dev`).

With few rows of that label, the label with the highest output is seldom the decision with the highest F1 (Lipton et al. 2014,
"Optimal thresholding of classifiers to maximize F1 measure"). The threshold becomes part of the head: it is added to the bias of the
label's output, so that whatever reads the weights decides the same.
"""

from pathlib import Path

import numpy as np
import torch

from mtl.files import write_checkpoint
from mtl.model.network import AnyHead, Network
from mtl.tasks.metrics import TIE
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS, Checkpoint
from mtl.untrusted import read_checkpoint

LEAST = 1e-6  # margins that differ by less are equal: another CPU may order them differently


def best_shift(outputs: np.ndarray, gold: np.ndarray, label: int) -> float:
    """What to add to the outputs of `label` so that its F1 over these rows is highest; 0 if nothing is better than 0.

    outputs: (rows, labels). gold: the indices of the right labels, (rows,). Among equal scores, the shift nearest to 0 is taken.
    """
    others = np.delete(outputs, label, axis=1).max(axis=1).astype(np.float64)
    margins = others - outputs[:, label]  # the label is predicted if the shift is greater
    order = np.argsort(margins, kind="stable")
    margins, right = margins[order], (gold == label)[order]
    predicted = np.arange(1, len(margins) + 1)
    scores = 2 * np.cumsum(right) / (predicted + right.sum())
    following = np.append(margins[1:], margins[-1] + 1.0)
    possible = following - margins > LEAST  # rows with equal margins are predicted together
    shifts, scores = ((margins + following) / 2)[possible], scores[possible]
    at_zero = outputs.argmax(axis=1) == label  # among equal outputs, the first label: not always another one
    unshifted = 2 * (at_zero & (gold == label)).sum() / (at_zero.sum() + right.sum()) if at_zero.any() else 0.0
    best = scores.max()
    if 100 * (best - unshifted) <= TIE:
        return 0.0
    equal = shifts[100 * (best - scores) <= TIE]
    return float(equal[np.abs(equal).argmin()])


def apply_shift(network: Network, head: AnyHead, task: Task, shift: float, folder: Path) -> None:
    """Add the shift to the head's bias, in memory and in the checkpoint of the finished stage in `folder`, which records it: so the
    shift is saved together with the bias that it changed."""
    assert task.labels is not None and task.positive is not None
    with torch.no_grad():
        head.last.bias[task.labels.index(task.positive)] += shift
    path = folder / WEIGHTS["best"]
    content = read_checkpoint(path, Checkpoint)
    saved = content["state_dict"]
    content["state_dict"] = {name: value.cpu() for name, value in network.state_dict().items() if name in saved}
    content["threshold_shift"] = shift
    write_checkpoint(path, content)


def recorded_shift(folder: Path) -> float | None:
    """The shift that the finished stage's checkpoint in `folder` contains; None if none was chosen yet."""
    return read_checkpoint(folder / WEIGHTS["best"], Checkpoint).get("threshold_shift")
