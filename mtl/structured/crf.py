"""A linear-chain conditional random field (Lafferty et al. 2001) over the outputs of a head for the units of each row.
The score of a sequence of labels is the sum of its outputs and its transitions (`mtl.model.heads.Head.transitions`): from label to label, from the
row's start to the first label, and from the last one to its end. Its probability is the softmax over all sequences; without units, it is 1."""

import torch
from torch import Tensor

from mtl.tasks.head_targets import PAST, by_row


def is_unit(sizes: Tensor, steps: int, device: torch.device) -> Tensor:
    """Which steps of padded rows hold units, bool (rows, steps)."""
    return torch.arange(steps, device=device) < sizes.to(device)[:, None]


def sequence_loss(outputs: Tensor, codes: Tensor, sizes: Tensor, transitions: Tensor) -> Tensor:
    """The sum over rows of minus the logarithm of the probability of their labels, (). `outputs` are (units, labels), `transitions` (labels + 2,
    labels), `sizes` as in `by_row`. `codes` are the indices of the right labels, int64 (rows, steps or more); those of further steps are not read."""
    scores, transitions = by_row(outputs.float(), sizes), transitions.float()
    _, steps, labels = scores.shape
    if not steps:
        return scores.sum()
    units = is_unit(sizes, steps, scores.device)
    codes = torch.where(units, codes[:, :steps], 0)
    between, start, end = transitions[:labels], transitions[labels], transitions[labels + 1]
    emitted = (scores.gather(2, codes[..., None])[..., 0] * units).sum(dim=1)
    crossed = (between[codes[:, :-1], codes[:, 1:]] * units[:, 1:]).sum(dim=1)
    last = codes.gather(1, (sizes.to(codes.device) - 1).clamp(min=0)[:, None])[:, 0]
    gold_score = emitted + crossed + start[codes[:, 0]] + end[last]
    # The logarithm of the sum over all sequences up to this step that end in each label, (rows, labels).
    total = start + scores[:, 0]
    for step in range(1, steps):
        longer = (total[:, :, None] + between).logsumexp(dim=1) + scores[:, step]
        total = torch.where(units[:, step, None], longer, total)
    return (((total + end).logsumexp(dim=1) - gold_score) * units[:, 0]).sum()


def best_sequences(outputs: Tensor, sizes: Tensor, transitions: Tensor) -> Tensor:
    """The most probable labels of each row (Viterbi), int64 (rows, steps), PAST after the last unit. Arguments: as in `sequence_loss`."""
    scores, transitions = by_row(outputs.float(), sizes), transitions.float()
    _, steps, labels = scores.shape
    codes = torch.full(scores.shape[:2], PAST, device=scores.device)
    if not steps:
        return codes
    between, start, end = transitions[:labels], transitions[labels], transitions[labels + 1]
    units = is_unit(sizes, steps, scores.device)
    # The score of the best sequence up to this step that ends in each label, (rows, labels), and its label before, by step.
    total, best_previous = start + scores[:, 0], []
    for step in range(1, steps):
        longer, previous = (total[:, :, None] + between).max(dim=1)
        total = torch.where(units[:, step, None], longer + scores[:, step], total)
        best_previous.append(previous)
    label = (total + end).argmax(dim=1)
    for step in range(steps - 1, -1, -1):
        codes[:, step] = torch.where(units[:, step], label, PAST)
        if step:  # a row that has ended before this step keeps its last label
            label = torch.where(units[:, step], best_previous[step - 1].gather(1, label[:, None])[:, 0], label)
    return codes
