"""The format `glue` (gluebenchmark.com): a zip with a file of test predictions for each task, TITLE.tsv, with the columns index and prediction."""

from pathlib import Path

from mtl.base.files import listed
from mtl.data.files import split_lines
from mtl.submissions.files import glue_name
from mtl.submissions.format import Checked, Submitted, check_lines, write_zip_of
from mtl.submissions.lines import HEADER
from mtl.tasks.suite import Suite


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
    return check_lines(path, suite, data_dir, names, indexed=True)
