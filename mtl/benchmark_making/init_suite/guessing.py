"""Guess the keys of a task of a suite file from its files."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.guess import WHY_GIVEN, Guess
from mtl.benchmark_making.init_suite.kinds import guess_kind
from mtl.benchmark_making.init_suite.label_columns import guess_multi_label
from mtl.benchmark_making.init_suite.passage_answers import answer_columns, guess_answers
from mtl.benchmark_making.init_suite.reading import is_writable, read_tables
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.target_column import chosen_target
from mtl.benchmark_making.init_suite.text_columns import declare_texts, group_column
from mtl.benchmark_making.init_suite.token_tags import guess_tags, tagged_columns, words_of
from mtl.benchmark_making.init_suite.unread import other_targets, unread_columns, unread_questions
from mtl.benchmark_making.init_suite.wording import quantity, quoted, quoted_names
from mtl.tasks.task import BESIDE, SPLITS


def guess_task(found: Guess, data_dir: Path, known: Mapping[str, Any] | None = None) -> Guess:
    """Read a task's files and guess the keys that are not known. Bad data does not raise an error, but becomes the guess's `problem`."""
    known = dict(known or {})
    known_files = {split: None if name in (None, "") else str(name) for split, name in known.pop("files", {}).items()}
    files = {split: known_files.get(split, found.files.get(split)) for split in SPLITS}
    guess = replace(found, files=files, keys={}, why={}, questions=[*found.questions], notes=[*found.notes])
    try:
        _guess_keys(guess, read_tables(guess, data_dir, known), known)
    except InputError as error:
        of_files = [question for question in guess.questions if question.startswith("files.")]
        guess.problem = "; ".join([str(error), *of_files])  # another file may have what this one lacks
    answered = {*known, *(f"reading.{key}" for key in known.get("reading") or ())}
    answered |= {f"files.{split}" for split, name in known_files.items() if guess.files.get(split) == name}
    guess.questions = [question for question in guess.questions if question.partition(":")[0] not in answered]
    return guess


def _guess_keys(guess: Guess, tables: SplitTables, known: Mapping[str, Any]) -> None:
    """Guess the keys of a task, of which the known ones stay as they are. Raises InputError for data of which no task can be made."""
    answers = answer_columns(tables.main, known)
    tagged = None if answers else tagged_columns(tables.main, known)
    if answers:
        labelled = _files_with_targets(guess, tables, answers.target)
        guess_answers(guess, tables.main, answers, known)
    elif tagged:
        labelled = _files_with_targets(guess, tables, tagged.tags[0], by_word=True)
        guess_tags(guess, labelled, tagged, known)
    else:
        try:
            tables, labelled = _guess_row_targets(guess, tables, known)  # tables with several labels as one column
        except InputError as error:
            ways = [] if "target" in known else other_targets(guess.id, tables.main)
            raise InputError("; ".join([str(error), *ways])) from None
        _declare_texts_and_group(guess, tables, known)
    guess.declare(WHY_GIVEN, **{key: value for key, value in known.items() if key not in ("header", "reading")})
    _leave_out_files_without_inputs(guess, tables)
    _choose_scored_split(guess, test_has_targets="test" in labelled)
    guess.unread = unread_columns(tables, guess.keys)
    guess.questions += unread_questions(tables.main, guess, known)
    _check_known_columns(guess, tables.main, known)
    _check_known_labels(guess, tables.main, known)
    if not is_writable(guess.keys):
        raise InputError("a column or a label holds '${', which a suite file cannot hold; change it in the files")


def _guess_row_targets(guess: Guess, tables: SplitTables, known: Mapping[str, Any]) -> tuple[SplitTables, SplitTables]:
    """Declare the target of each row and its kind. Return the files, in which several labels of a row are one column, and those with targets."""
    chosen = chosen_target(guess.id, tables, known)
    label_columns = chosen.label_columns
    if label_columns:
        tables = SplitTables({split: label_columns.as_one_column(table) for split, table in tables.items()})
    guess.declare(chosen.why, target=chosen.name)
    labelled = _files_with_targets(guess, tables, chosen.name)
    if any(table.columns[chosen.name].lists for table in labelled.values()):
        raise InputError(
            f"column {quoted(chosen.name)} holds lists: name the kind, multi_label, token_labels or answer"
        )
    asked = len(guess.questions)
    if label_columns:
        guess_multi_label(guess, label_columns, labelled)
    else:
        guess_kind(guess, labelled, known)
    if chosen.question:  # in place of those just asked, about the labels of a column that may not be the target
        guess.questions[asked:] = [chosen.question]
    return tables, labelled


def _files_with_targets(guess: Guess, tables: SplitTables, target: str, by_word: bool = False) -> SplitTables:
    """The files with targets; the guess asks about doubtful ones. Raises InputError if a train, a dev or the only file has no targets."""
    labelled = SplitTables()
    for split, table in tables.items():
        column = table.columns[target] if table.has(target) else FileColumn(target, [])
        rows = words_of(column) if by_word else column.values_by_row
        targets = {text for row in rows for text in row}
        is_needed = split != "test" or len(tables) == 1
        if is_needed and not targets:
            raise InputError(table.incomplete.get(target, f"no targets in column {quoted(target)}"), path=table.path)
        if is_needed or len(targets) > 1:  # a single target in a test file may be a placeholder
            labelled[split] = table
        guess.questions += _doubts(split, table, target, targets if len(tables) > 1 else set())
    return labelled


def _doubts(split: str, table: FileTable, target: str, targets: Collection[str]) -> list[str]:
    """The questions about the targets of a file: whether a single one is a placeholder, and about rows that lack one."""
    lacking = [table.incomplete[name] for name in target.split(BESIDE) if name in table.incomplete]
    doubts = [f"{rows}: fill or delete these rows, or no score is on this file" for rows in lacking]
    if len(targets) == 1:
        fact = f"all targets of {split} are {quoted(min(targets))}"
        doubts.insert(0, f"{fact}: a placeholder? Then no score on {split} means anything")
    return [f"files.{split}: {doubt}" for doubt in doubts]


def _declare_texts_and_group(guess: Guess, tables: SplitTables, known: Mapping[str, Any]) -> None:
    """Declare the texts, known or guessed, and a column of groups, from the columns that are no target and no candidates."""
    target = tables.main.columns[guess.keys["target"]]
    candidates = known.get("candidates") or guess.keys.get("candidates", [])
    used = {target.name, *target.name.split(BESIDE), *candidates}
    if "text" in known:
        guess.declare(WHY_GIVEN, text=[tables.main.readable_column(name).name for name in known["text"]])
    else:
        declare_texts(guess, tables, used, has_candidates=len(candidates) > 0)
    if (group := group_column(tables, target, {*used, *guess.keys["text"]})) is not None:
        values, rows = quantity(len(group.counts), "distinct value"), quantity(tables.main.rows, "row")
        guess.declare(f"an id with {values} in {rows}: rows with the same one stay together", group=group.name)


def _leave_out_files_without_inputs(guess: Guess, tables: SplitTables) -> None:
    """Leave out a dev and a test file that lack a column of texts or candidates, each with a question."""
    inputs = [*guess.keys["text"], *guess.keys.get("candidates", [])]
    for split, table in tables.items():
        absent = [name for name in inputs if name not in table.columns]
        if absent and split != "train":
            reason = f"{guess.files[split]} has no texts in column {quoted(absent[0])}"
            guess.questions.append(f"files.{split}: not used: {table.incomplete.get(absent[0], reason)}")
            guess.files[split] = None
            del guess.rows[split]


def _choose_scored_split(guess: Guess, test_has_targets: bool) -> None:
    """Guess which split is scored: the test file if it has targets and there is no dev file. Note other targets, and where dev rows come from."""
    if test_has_targets and guess.files["test"] is not None and "scored" not in guess.keys:
        if guess.files["dev"] is None:
            guess.declare("there is no dev file, and the test file has targets", scored="test")
        else:
            guess.notes.append("the test file has targets too; scores are on dev unless the task says scored: test")
    if guess.files["dev"] is None and guess.files["train"] is not None:
        scored = ", and scored" if guess.scored == "dev" else ""
        guess.why["files"] = f"no dev file: rows of train are held out{scored}"


def _check_known_columns(guess: Guess, main: FileTable, known: Mapping[str, Any]) -> None:
    """Raise InputError, which lists what there is, for known columns that the file lacks, and for a text that is the target."""
    for name in [known.get("group"), *(known.get("candidates") or ()), known.get("starts")]:
        if name is not None:
            main.readable_column(name)
    if guess.keys["target"] in guess.keys["text"]:
        raise InputError(f"text: {quoted(guess.keys['target'])} is the target: {main.listed}")


def _check_known_labels(guess: Guess, main: FileTable, known: Mapping[str, Any]) -> None:
    """Raise InputError, which lists what there is, if the labels lack one of the file, or a known positive label."""
    target = main.columns[guess.keys["target"]]
    if guess.kind != "labels" or target.labels:  # names stand for its labels
        return
    labels = [str(label) for label in guess.keys["labels"]]
    if lacking := [label for label in target.counts if label not in labels]:
        in_file = quoted_names(sorted(target.counts))
        raise InputError(f"labels: {quoted(lacking[0])} is not among them; {quoted(target.name)} has {in_file}")
    if known.get("positive") is not None and str(known["positive"]) not in labels:
        raise InputError(f"positive: must be one of {quoted_names(labels)}")
