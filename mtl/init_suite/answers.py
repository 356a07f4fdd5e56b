"""Tasks without training rows: which other task's head could predict them."""

from collections.abc import Sequence

from mtl.init_suite.task import Guess
from mtl.init_suite.wording import columns_in_words, quoted

# The keys that such a task takes from the other task, see `mtl.tasks.suite`.
TAKEN = ("kind", "labels", "range")


def choose_answering_tasks(guesses: Sequence[Guess]) -> None:
    """For each task without a train file, guess the task that answers it. If none could, give the task a problem.

    The files do not say which task it is. A candidate has training rows, the same text columns and kind, and all the task's labels
    or its whole range. If there are several, the one with the most training rows is chosen.
    """
    for guess in guesses:
        if guess.problem is not None or guess.files["train"] is not None:
            continue
        candidates = [other for other in guesses if other.problem is None and _could_answer(other, guess)]
        if not candidates:
            guess.problem = (
                "no train file, and no other task has training rows with the same text columns and all its labels; add one,"
                " or write answered_by: TASK"
            )
            continue
        candidates.sort(key=lambda other: -other.rows["train"])
        _answer(guess, candidates[0], candidates[1:])


def _could_answer(other: Guess, guess: Guess) -> bool:
    if other.files["train"] is None or other.kind != guess.kind:
        return False
    if any(other.keys.get(key) != guess.keys.get(key) for key in ("text", "candidates")):
        return False
    if guess.kind == "number":
        (low, high), (lowest, highest) = guess.keys["range"], other.keys["range"]
        return bool(lowest <= low and high <= highest)
    return set(guess.keys.get("labels", ())) <= set(other.keys.get("labels", ()))


def _answer(guess: Guess, other: Guess, more: Sequence[Guess]) -> None:
    targets = guess.keys.get("labels") or guess.keys.get("range")
    for key in TAKEN:
        guess.keys.pop(key, None)
        guess.why.pop(key, None)
    # "labels: may also be ratings" is a question of the task that answers.
    guess.doubts = [doubt for doubt in guess.doubts if not doubt.startswith("labels:")]
    guess.keys["answered_by"] = other.id
    guess.why["answered_by"] = "a guess: it has the same text columns, and these targets among its own; check"
    if targets:
        guess.notes.append(
            f"its own targets: {columns_in_words(map(str, targets))}; labels or range come from {quoted(other.id)}"
        )
    others = f"; or {', '.join(task.id for task in more)}" if more else ""
    guess.doubts.append(f"answered_by: no training rows; {other.id} has the same columns and labels{others}")
    guess.why["files"] = "no train file"
