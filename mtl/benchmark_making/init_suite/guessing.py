"""Guess the keys of a task of a suite file from its files."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import inside
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite import columns, kinds, passage_answers, several_labels, target_column, token_tags
from mtl.benchmark_making.init_suite.file_column import NO_LABEL
from mtl.benchmark_making.init_suite.guess import GIVEN, Guess, count, quoted, quoted_names, share
from mtl.benchmark_making.init_suite.nested_rows import SPAN_LIST
from mtl.benchmark_making.init_suite.reading import is_writable, read_tables
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.tasks.task import BESIDE, PART, SPLITS

MOST_NAMED = 8  # files in a message
LEAST_ROWS = 10  # of a file whose targets are all the same: fewer say nothing
USUAL = 0.9  # a target with this share of the training rows may be that of a whole file


def guess_task(found: Guess, data_dir: Path, known: Mapping[str, Any] | None = None) -> Guess:
    """Read a task's files and guess the keys that are not known. Bad data does not raise an error, but becomes the guess's `problem`."""
    if found.problem is not None:
        return found
    known = dict(known or {})
    known_files = {split: None if name in (None, "") else str(name) for split, name in known.pop("files", {}).items()}
    guess = replace(found, keys={}, why={}, questions=[*found.questions], notes=[*found.notes])
    guess.files = {split: known_files.get(split, found.files.get(split)) for split in SPLITS}
    try:
        _check_known_files(data_dir / guess.folder, filter(None, known_files.values()))
        _guess_keys(guess, read_tables(guess, data_dir, known), known)
    except InputError as error:
        guess.problem = str(error)
    answered = {*known, *(f"reading.{key}" for key in known.get("reading") or ())}
    answered |= {f"files.{split}" for split, name in known_files.items() if guess.files.get(split) == name}
    guess.questions = [question for question in guess.questions if question.partition(":")[0] not in answered]
    return guess


def _check_known_files(folder: Path, names: Iterable[str]) -> None:
    """Raise InputError, which lists the files of the folder, for a file that the user names and that is not there."""
    for name in names:
        path = inside(folder, name.partition(PART)[0])
        if BESIDE not in name and not path.exists():
            there = listed(sorted(file.name for file in path.parent.glob("*")), MOST_NAMED)
            raise InputError(f"no such file; there are {there}" if there else "no such file", path=path)


def _guess_keys(guess: Guess, tables: SplitTables, known: Mapping[str, Any]) -> None:
    """Guess the keys of a task, of which the known ones stay as they are. Raises InputError for data of which no task can be made."""
    main = tables.main
    answers = None if main.layout.reading.spans else passage_answers.answer_columns(main)
    if known.get("kind") == "answer" or (answers and not {"kind", "target"} & set(known)):
        passage_answers.guess_answers(guess, tables, known, answers)
    elif tagged := token_tags.tagged_columns(main, known):
        token_tags.guess_tokens(guess, tables, tagged, known)
    else:
        _guess_row_targets(guess, tables, known)
    spans = [name for name, content in main.unread.items() if content == SPAN_LIST]
    if spans and "target" not in known:
        guess.questions.append(f"reading.spans: {quoted_names(spans)} may be the target, {SPAN_LIST}")
    guess.declare(GIVEN, **{key: value for key, value in known.items() if key not in ("header", "reading")})
    _guess_splits(guess, tables)
    _ask_about_single_rows(guess, tables)
    _note_placeholders(guess, tables)
    _check_known_columns(guess, main, known)
    _check_known_labels(guess, main, known)
    if not is_writable(guess.keys):
        raise InputError("a column or a label holds '${', which a suite file cannot hold; change it in the files")


def _guess_row_targets(guess: Guess, sources: SplitTables, known: Mapping[str, Any]) -> None:
    """Guess the keys of a task whose rows have a label, a number, a word or a candidate as the target, or several labels."""
    chosen = target_column.chosen_target(guess.id, sources, known)
    several = chosen.several
    tables = SplitTables({split: several.with_labels(file) for split, file in sources.items()}) if several else sources
    target = several.target if several else chosen.column.name
    guess.declare(chosen.why, target=target)
    labelled = _files_with_targets(guess, tables, target)
    guess.test_has_targets = "test" in labelled
    before = list(guess.questions)
    if several:
        several_labels.guess_several(guess, several, {split: sources[split] for split in labelled})
    else:
        kinds.guess_kind(guess, labelled, known)
    if chosen.question:  # in place of those about the labels of a column that may not be the target
        guess.questions = [*before, chosen.question]
    columns.guess_inputs(guess, tables, known, several.columns if several else ())


def _files_with_targets(guess: Guess, tables: SplitTables, target: str) -> SplitTables:
    """The files with targets in all rows, with a question about placeholders. Raises InputError if a file other than test lacks targets."""
    labels = columns.known_column(tables.main, target).counts
    labelled = SplitTables()
    for split, table in tables.items():
        if not table.has(target) and split == "test" and len(tables) > 1:
            continue
        if not table.has(target) and target in table.incomplete:
            raise InputError(table.incomplete[target])
        if not table.has(target):
            raise InputError(f"no targets in column {quoted(target)}", path=table.path)
        if not table.columns[target].counts:
            problem = f"column {quoted(target)} holds lists; a question's answers are kind: answer"
            raise InputError(problem, path=table.path)
        question = _placeholder_question(split, table, target, labels)
        if question:
            guess.questions.append(question)
        if not question or split != "test":  # a test file with placeholders is left out
            labelled[split] = table
    return labelled


def _placeholder_question(split: str, table: FileTable, target: str, labels: Counter[str]) -> str | None:
    """A question about a file that has one value in all rows, where the training rows, with these labels, have several: a placeholder, as -1 is?"""
    value, *further = table.columns[target].counts
    if further or table.rows < LEAST_ROWS or labels[value] >= USUAL * labels.total():
        return None
    part = share(labels[value], labels.total())
    stands = f"all {count(table.rows, 'row')} of {split} have {quoted(value)}, which {part} of train have"
    return f"files.{split}: {stands}: a placeholder? Then no score on {split} means anything"


def _guess_splits(guess: Guess, tables: SplitTables) -> None:
    """Leave out a dev and a test file that lack a column of texts or candidates, each with a question, and guess which split is scored."""
    inputs = [*guess.keys["text"], *guess.keys.get("candidates", [])]
    for split, table in tables.items():
        absent = [name for name in inputs if name not in table.columns]
        if absent and split != "train":
            absence = f"has {table.unread[absent[0]]} in" if absent[0] in table.unread else "has no"
            reason = f"{guess.files[split]} {absence} column {quoted(absent[0])}"
            guess.questions.append(f"files.{split}: not used: {table.incomplete.get(absent[0], reason)}")
            guess.files[split] = None
            del guess.rows[split]
    if guess.test_has_targets and guess.files["test"] is not None and "scored" not in guess.keys:
        if guess.files["dev"] is None:
            guess.declare("there is no dev file, and the test file has targets", scored="test")
        else:
            guess.notes.append("the test file has targets too; scores are on dev unless the task says scored: test")
    if guess.files["dev"] is None and guess.files["train"] is not None:
        scored = ", and scored" if guess.scored == "dev" else ""
        guess.why["files"] = f"no dev file: rows of train are held out{scored}"


def _ask_about_single_rows(guess: Guess, tables: SplitTables) -> None:
    """Ask about single rows that lack the target in a test file that is used."""
    lacking = tables["test"].incomplete if guess.files["test"] is not None else {}
    for name in [name for name in guess.keys["target"].split(BESIDE) if name in lacking]:
        guess.questions.append(f"files.test: {lacking[name]}: fill or delete these rows, or no score is on this file")


def _note_placeholders(guess: Guess, tables: Mapping[str, FileTable]) -> None:
    """Note the texts that may stand for no text, as "nan" does, with the rows of each file that have them."""
    for name in guess.keys["text"]:
        places: dict[str, list[str]] = {}
        for table in [table for table in tables.values() if name in table.columns]:
            if any(value.strip().lower() in NO_LABEL for value in table.columns[name].counts):
                rows = Counter[str]()
                for value, number in table.whole(name).counts.items():
                    rows[value.strip().lower()] += number
                for value in sorted(NO_LABEL & {*rows}):
                    places.setdefault(value, []).append(f"{count(rows[value], 'row')} of {table.path.name}")
        for value, where in places.items():
            guess.notes.append(f"{quoted(name)} is {quoted(value)} in {', '.join(where)}: a text, or none?")


def _check_known_columns(guess: Guess, main: FileTable, known: Mapping[str, Any]) -> None:
    """Raise InputError, which lists the columns of the file, for a known column that it lacks, and for a text that is the target."""
    for name in [known.get("group"), *(known.get("candidates") or ()), known.get("starts")]:
        if name is not None:
            columns.known_column(main, name)
    if guess.keys["target"] in guess.keys["text"]:
        raise InputError(f"text: {quoted(guess.keys['target'])} is the target: {main.listed}")


def _check_known_labels(guess: Guess, main: FileTable, known: Mapping[str, Any]) -> None:
    """Raise InputError, which lists the labels of the file, for labels that lack one of them, and for a known positive label that is none of them."""
    target = main.columns.get(guess.keys["target"])
    if guess.kind != "labels" or target is None or target.labels:  # names stand for its labels
        return
    labels, there = list(map(str, guess.keys["labels"])), quoted_names(sorted(target.counts))
    if lacking := [label for label in target.counts if label not in labels]:
        raise InputError(f"labels: {quoted(lacking[0])} is not among them; {quoted(target.name)} has {there}")
    if known.get("positive") is not None and str(known["positive"]) not in labels:
        raise InputError(f"positive: must be one of {there}")
