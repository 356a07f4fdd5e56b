"""The format `glue` (gluebenchmark.com): a zip with a file of test predictions for each task, TITLE.tsv, with the columns index and prediction."""

from collections.abc import Sequence
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import listed
from mtl.data.files import split_lines
from mtl.runs.predictions import submission_problems, submission_remarks
from mtl.submissions.format import Checked, Submitted, write_zip_of
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

HEADER = "index\tprediction"


def glue_name(task: Task) -> str:
    """The name of a task's file."""
    return f"{task.title}.tsv"


def glue_problem(suite: Suite) -> str | None:
    """The error in the suite's declaration, as "key: message", or None."""
    names = [glue_name(task) for task in suite.tasks.values()]
    if bad := [name for name in names if "/" in name or names.count(name) > 1]:
        return f"format: the titles of tasks name files, and {bad[0]!r} is none, or names two"
    return None


def write_glue(submitted: Submitted) -> list[str]:
    """Write a seed's zip. Returns what its user should know: the leaderboard takes only all tasks together."""
    folder, seed = submitted.folder, submitted.seed
    contents = {}
    for task in submitted.tasks:
        if task.files["test"] is not None:
            path = folder.predictions(seed, "test", task.id)
            _, *lines = split_lines(path.read_bytes(), str(path))
            contents[glue_name(task)] = "\n".join([HEADER, *(f"{row}\t{line}" for row, line in enumerate(lines)), ""])
    write_zip_of(folder.submission(seed), {name: text.encode() for name, text in contents.items()})
    lacking = [name for task in submitted.suite.tasks.values() if (name := glue_name(task)) not in contents]
    return [f"the leaderboard asks for these files too: {listed(lacking, 20)}"] if lacking else []


def check_glue(path: Path, suite: Suite, data_dir: Path) -> Checked:
    """Compare a zip or a folder with the suite. Raises InputError for a file that cannot be read."""
    names = {glue_name(task): task for task in suite.tasks.values() if task.files["test"] is not None}
    problems = submission_problems(path, suite, data_dir, names, plain_lines)
    return Checked(problems, notes=[] if problems else submission_remarks(path, names, plain_lines))


def plain_lines(name: str, lines: Sequence[str]) -> list[str]:
    """The lines of a file without the index: a header, and one prediction a line, as mtl writes predictions.

    Args:
        name: of the file, for messages.

    Raises:
        InputError: for another header, and for an index that is not the number of the row, from 0.
    """
    if not lines or lines[0] != HEADER:
        raise InputError("the header must be index and prediction, with a tab between them", path=name, line=1)
    plain = ["target"]
    for row, line in enumerate(lines[1:]):
        index, tab, prediction = line.partition("\t")
        if index != str(row) or not tab:
            problem = f"the index is {index!r}; rows are in order, and this one has the index {row}"
            raise InputError(problem, path=name, line=row + 2)
        plain.append(prediction)
    return plain
