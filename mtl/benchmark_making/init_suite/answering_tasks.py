"""Tasks without training rows, as diagnostic sets: which other task answers each of them."""

from collections.abc import Sequence

from mtl.benchmark_making.init_suite.guess import Guess


def choose_answering_tasks(guesses: Sequence[Guess]) -> None:
    """Guess for each task without a train file which task answers it, with a question, unless the user says so. Of several that could, the one with
    most training rows is chosen. If none could, the task gets a problem."""
    for guess in [guess for guess in guesses if guess.problem is None and guess.files["train"] is None]:
        answering = [task for task in guesses if task.problem is None and _could_answer(task, guess)]
        if not answering and "answered_by" not in guess.keys:
            lacking = "no train file, and no other task has training rows with the same text columns and all its labels"
            guess.problem = f"{lacking}; add one, answer files.train=FILE, or write answered_by: TASK"
            continue
        for key in ("kind", "labels", "range"):  # which it takes from the task that answers it, with the questions
            guess.keys.pop(key, None)
            guess.why.pop(key, None)
        guess.questions = [text for text in guess.questions if not text.startswith(("labels:", "kind:"))]
        guess.why["files"] = "no train file"
        if "answered_by" not in guess.keys:
            answering.sort(key=lambda task: -task.rows["train"])
            why = "a guess: it has the same text columns, and these targets among its own"
            guess.declare(why, answered_by=answering[0].id)
            names = " or ".join(task.id for task in answering)
            question = f"answered_by: no training rows; {names} has the same text columns, and all its labels"
            guess.questions.append(question)


def _could_answer(task: Guess, guess: Guess) -> bool:
    """Whether a task has training rows, and the text columns, the kind of target and all labels, or the whole range, of a guess without them."""
    if task.files["train"] is None or task.kind != guess.kind:
        return False
    if any(task.keys.get(key) != guess.keys.get(key) for key in ("text", "candidates")):
        return False
    (low, high), (lowest, highest) = guess.keys.get("range", (0, 0)), task.keys.get("range", (0, 0))
    return lowest <= low and high <= highest and set(guess.keys.get("labels", ())) <= set(task.keys.get("labels", ()))
