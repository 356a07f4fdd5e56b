"""The order in which a recurrence processes the rows of packed sequences.

A packed row is one step of one sequence: first step 0 of all sequences (the longest first), then step 1, and so on.
"""

from torch import Tensor

# Rows of a step; of the previous step in the direction's order, the rows of the sequences that continue; their number.
Step = tuple[slice, slice, int]


def packed_steps(sizes: list[int], reverse: bool) -> list[Step]:
    """The steps in the order in which a direction processes them.

    Within a step, sequences that begin there come after those that continue from the previous step (only the backward
    direction has steps after the first where a sequence begins: at the last token of each shorter sequence).
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


def previous_values(values: Tensor, steps: list[Step]) -> Tensor:
    """For each row the values of its sequence's previous step, zero at the first: (rows, hidden) -> (rows, hidden)."""
    result = values.new_zeros(values.shape)
    for rows, before, carried in steps:
        if carried:
            result[rows.start : rows.start + carried] = values[before]
    return result
