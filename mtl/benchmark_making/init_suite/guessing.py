"""Guess the keys of a task of a suite file from its files."""

from dataclasses import replace
from pathlib import Path

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.guess import WHY_GIVEN, Guess, TaskKeys
from mtl.benchmark_making.init_suite.kinds import guess_kind
from mtl.benchmark_making.init_suite.known_keys import check_columns, check_labels
from mtl.benchmark_making.init_suite.label_columns import guess_multi_label
from mtl.benchmark_making.init_suite.passage_answers import answer_columns, guess_answers
from mtl.benchmark_making.init_suite.reading import is_writable, read_tables
from mtl.benchmark_making.init_suite.tables import SplitTables
from mtl.benchmark_making.init_suite.target_column import chosen_target
from mtl.benchmark_making.init_suite.text_columns import declare_texts_and_group
from mtl.benchmark_making.init_suite.token_tags import guess_tags, tagged_columns
from mtl.benchmark_making.init_suite.unread import other_targets, unread_columns, unread_questions
from mtl.benchmark_making.init_suite.used_files import choose_scored_split, drop_incomplete_files, files_with_targets
from mtl.benchmark_making.init_suite.wording import quoted
from mtl.tasks.task import SPLITS


def guess_task(task: Guess, data_dir: Path, known: TaskKeys | None = None) -> Guess:
    """Read a task's files and guess the keys that are not known. Bad data does not raise an error, but becomes the guess's `problem`."""
    known = dict(known or {})
    known_files = {split: None if name in (None, "") else str(name) for split, name in known.pop("files", {}).items()}
    files = {split: known_files.get(split, task.files.get(split)) for split in SPLITS}
    guess = replace(task, files=files, keys={}, why={}, questions=[*task.questions], notes=[*task.notes])
    try:
        _guess_keys(guess, read_tables(guess, data_dir, known), known)
    except InputError as error:
        of_files = [question for question in guess.questions if question.startswith("files.")]
        guess.problem = "; ".join([str(error), *of_files])  # another file may have what this one lacks
    # The keys of questions that the user has answered.
    answered = {*known, *(f"reading.{key}" for key in known.get("reading") or ())}
    answered |= {f"files.{split}" for split, name in known_files.items() if guess.files.get(split) == name}
    guess.questions = [question for question in guess.questions if question.partition(":")[0] not in answered]
    return guess


def _guess_keys(guess: Guess, tables: SplitTables, known: TaskKeys) -> None:
    """Guess the keys of a task, of which the known ones stay as they are. Raises InputError for data of which no task can be made."""
    tables, labelled = _guess_target_and_texts(guess, tables, known)
    guess.declare(WHY_GIVEN, **{key: value for key, value in known.items() if key not in ("header", "reading")})
    drop_incomplete_files(guess, tables)
    choose_scored_split(guess, test_has_targets="test" in labelled)
    guess.unread = unread_columns(tables, guess.keys)
    guess.questions += unread_questions(tables.main, guess, known)
    check_columns(known, guess, tables.main)
    check_labels(known, guess, tables.main)
    if not is_writable(guess.keys):
        raise InputError("a column or a label holds '${', which a suite file cannot hold; change it in the files")


def _guess_target_and_texts(guess: Guess, tables: SplitTables, known: TaskKeys) -> tuple[SplitTables, SplitTables]:
    """Declare the target, its kind and the texts: answers in passages or tags of tokens, if the main file has such columns, else one target of each
    row. Return the files, in which several labels of a row are one column, and those with targets."""
    if answers := answer_columns(tables.main, known):
        labelled = files_with_targets(guess, tables, answers.target)
        guess_answers(guess, tables.main, answers, known)
        return tables, labelled
    if tagged := tagged_columns(tables.main, known):
        labelled = files_with_targets(guess, tables, tagged.tags[0], by_word=True)
        guess_tags(guess, labelled, tagged, known)
        return tables, labelled
    try:
        tables, labelled = _guess_row_targets(guess, tables, known)
    except InputError as error:
        ways = [] if "target" in known else other_targets(guess.id, tables.main)
        raise InputError("; ".join([str(error), *ways])) from None
    declare_texts_and_group(guess, tables, known)
    return tables, labelled


def _guess_row_targets(guess: Guess, tables: SplitTables, known: TaskKeys) -> tuple[SplitTables, SplitTables]:
    """Declare the target of each row and its kind. Return the files as `_guess_target_and_texts`."""
    chosen = chosen_target(guess.id, tables, known)
    target, label_columns = chosen.column.name, chosen.label_columns
    if label_columns:
        target = label_columns.target
        tables = SplitTables({split: label_columns.as_one_column(table) for split, table in tables.items()})
    guess.declare(chosen.why, target=target)
    labelled = files_with_targets(guess, tables, target)
    if any(table.columns[target].lists for table in labelled.values()):
        raise InputError(f"column {quoted(target)} holds lists: name the kind, multi_label, token_labels or answer")
    asked = len(guess.questions)
    if label_columns:
        guess_multi_label(guess, label_columns, labelled)
    else:
        guess_kind(guess, labelled, known)
    if chosen.question:  # in place of those just asked, about the labels of a column that may not be the target
        guess.questions[asked:] = [chosen.question]
    return tables, labelled
