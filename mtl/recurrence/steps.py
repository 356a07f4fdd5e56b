"""Packed sequences: the order in which a recurrence walks over their rows.

A packed row is one step of one sequence: rows of step 0 of all sequences (the longest first), then of step 1, and so on.
"""

from torch import Tensor

# Rows of a step, rows of the step before it in the direction's order, and how many sequences come from there.
Step = tuple[slice, slice, int]


def packed_steps(sizes: list[int], reverse: bool) -> list[Step]:
    """The steps in the order in which a direction takes them.

    Sequences that begin at a step (when going backwards, the shorter ones later) stand after those that come from the
    step before.
    """
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    order = range(len(sizes))[::-1] if reverse else range(len(sizes))
    steps: list[Step] = []
    previous = None
    for t in order:
        carried = 0 if previous is None else min(sizes[t], sizes[previous])
        start = 0 if previous is None else starts[previous]
        steps.append((slice(starts[t], starts[t + 1]), slice(start, start + carried), carried))
        previous = t
    return steps


def earlier(values: Tensor, steps: list[Step]) -> Tensor:
    """Each row's value one step before in its sequence, zero at its first step: (rows, hidden) -> (rows, hidden)."""
    result = values.new_zeros(values.shape)
    for rows, before, carried in steps:
        if carried:
            result[rows.start : rows.start + carried] = values[before]
    return result
