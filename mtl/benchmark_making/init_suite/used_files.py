"""What the files of a task are used for: which have targets, which lack texts and are left out, and which split is scored."""

from collections.abc import Collection

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.token_tags import words_of
from mtl.benchmark_making.init_suite.wording import quoted
from mtl.tasks.task import BESIDE


def files_with_targets(guess: Guess, tables: SplitTables, target: str, by_word: bool = False) -> SplitTables:
    """The files with targets; the guess asks about doubtful ones. Raises InputError if a train, a dev or the only file has no targets."""
    labelled = SplitTables()
    is_only_file = len(tables) == 1
    for split, table in tables.items():
        column = table.columns[target] if table.has(target) else FileColumn(target, [])
        rows = words_of(column) if by_word else column.values_by_row
        targets = {text for row in rows for text in row}
        is_needed = split != "test" or is_only_file
        if is_needed and not targets:
            raise InputError(table.incomplete.get(target, f"no targets in column {quoted(target)}"), path=table.path)
        if is_needed or len(targets) > 1:  # a single target in a test file may be a placeholder
            labelled[split] = table
        guess.questions += _doubts(split, table, target, set() if is_only_file else targets)
    return labelled


def _doubts(split: str, table: FileTable, target: str, targets: Collection[str]) -> list[str]:
    """The questions about the targets of a file: whether a single one is a placeholder, and about rows that lack one."""
    lacking = [table.incomplete[name] for name in target.split(BESIDE) if name in table.incomplete]
    doubts = [f"{rows}: fill or delete these rows, or no score is on this file" for rows in lacking]
    if len(targets) == 1:
        fact = f"all targets of {split} are {quoted(min(targets))}"
        doubts.insert(0, f"{fact}: a placeholder? Then no score on {split} means anything")
    return [f"files.{split}: {doubt}" for doubt in doubts]


def drop_incomplete_files(guess: Guess, tables: SplitTables) -> None:
    """Leave out a dev and a test file that lack a column of texts or candidates, each with a question."""
    inputs = [*guess.keys["text"], *guess.keys.get("candidates", [])]
    for split, table in tables.items():
        absent = [name for name in inputs if name not in table.columns]
        if absent and split != "train":
            reason = f"{guess.files[split]} has no texts in column {quoted(absent[0])}"
            guess.questions.append(f"files.{split}: not used: {table.incomplete.get(absent[0], reason)}")
            guess.files[split] = None
            del guess.rows[split]


def choose_scored_split(guess: Guess, test_has_targets: bool) -> None:
    """Guess which split is scored: the test file if it has targets and there is no dev file. Note other targets, and where dev rows come from."""
    if test_has_targets and guess.files["test"] is not None and "scored" not in guess.keys:
        if guess.files["dev"] is None:
            guess.declare("there is no dev file, and the test file has targets", scored="test")
        else:
            guess.notes.append("the test file has targets too; scores are on dev unless the task says scored: test")
    if guess.files["dev"] is None and guess.files["train"] is not None:
        scored = ", and scored" if guess.scored == "dev" else ""
        guess.why["files"] = f"no dev file: rows of train are held out{scored}"
