"""Tasks without training rows: which other task of the suite answers them, by `answered_by` in a suite file."""

from collections.abc import Sequence

from mtl.benchmark_making.init_suite.guess import Guess


def choose_answering_tasks(guesses: Sequence[Guess]) -> None:
    """Guess for each task without a train file which task answers it, unless the user says so. If none could, the task gets a problem."""
    for guess in [guess for guess in guesses if guess.problem is None and guess.files["train"] is None]:
        possible = [task for task in guesses if task.problem is None and _could_answer(task, guess)]
        if "answered_by" in guess.keys or possible:
            _leave_out_what_is_taken(guess)
        else:
            lacking = "no train file, and no other task has training rows with the same text columns and all its labels"
            guess.problem = f"{lacking}; add one, answer files.train=FILE, or write answered_by: TASK"
        if "answered_by" not in guess.keys and possible:
            possible.sort(key=lambda task: task.rows["train"], reverse=True)
            why = "a guess: it has the same text columns, and these targets among its own"
            guess.declare(why, answered_by=possible[0].id)
            same = f"{' or '.join(task.id for task in possible)} has the same text columns, and all its labels"
            guess.questions.append(f"answered_by: no training rows; {same}")


def _leave_out_what_is_taken(guess: Guess) -> None:
    """Leave out the keys that a task takes from the one that answers it, and the questions about them."""
    for key in ("kind", "labels", "range"):
        guess.keys.pop(key, None)
        guess.why.pop(key, None)
    guess.questions = [question for question in guess.questions if not question.startswith(("labels:", "kind:"))]
    guess.why["files"] = "no train file"


def _could_answer(task: Guess, guess: Guess) -> bool:
    """Whether a task has training rows, and the text columns, the kind of target and all labels, or the whole range, of a guess without them."""
    if task.files["train"] is None or task.kind != guess.kind:
        return False
    if any(task.keys.get(key) != guess.keys.get(key) for key in ("text", "candidates")):
        return False
    low, high = guess.keys.get("range", (0, 0))
    lowest, highest = task.keys.get("range", (0, 0))
    has_labels = set(guess.keys.get("labels", ())) <= set(task.keys.get("labels", ()))
    return lowest <= low and high <= highest and has_labels
