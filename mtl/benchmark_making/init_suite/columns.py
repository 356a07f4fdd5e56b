"""Which columns of a task hold the texts, the groups and the spans, with questions where others may hold them, and why the rest is not read."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import TOKEN_NAMES, FileColumn
from mtl.benchmark_making.init_suite.guess import ID, Guess, count, quoted, quoted_names, share
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables

MOST_REASONS = 2  # a message says of so many columns why they are not what is missing
CODE = re.compile(r"[!-~]*[\d/_][!-~]*")  # an id or an address: ASCII without spaces
MARKS_SPANS = "may mark spans, for the key spans"
GROUPED = 0.9  # the most distinct values, as a share of the rows, that a column of groups has
FEW_GROUPS = 10  # in all rows: with fewer, the scored rows may have five groups or fewer


def guess_inputs(guess: Guess, tables: SplitTables, known: Mapping[str, Any], taken: Collection[str]) -> None:
    """Guess the columns of groups, and of texts unless they are known, beside those of the target. Raises InputError if none looks like a text."""
    main = tables.main
    target = main.columns[guess.keys["target"]]
    candidates = known.get("candidates") or guess.keys.get("candidates", [])
    used = {target.name, *taken, *candidates}
    if known.get("text") is not None:
        guess.keys["text"] = [known_column(main, name).name for name in known["text"]]
    else:
        _guess_text(guess, tables, target, used, most=1 if candidates else 2)  # candidates have one text beside them
        if not guess.keys["text"] and not candidates:
            raise InputError(_no_text(tables, target))
    used |= set(guess.keys["text"])
    marks = _span_columns(main)
    if marks and "spans" not in known and not candidates:
        remedy = "an end must be the character after the last one, so add 1 where it is the last"
        guess.questions.append(f"spans: {quoted_names(marks)} {MARKS_SPANS}; {remedy} (docs/how-to/own-suite.md)")
    if "group" not in known:
        _guess_group(guess, tables, target, used)
    guess.unread = unread_columns(tables, target, {*used, known.get("group"), guess.keys.get("group")})


def known_column(table: FileTable, name: object) -> FileColumn:
    """The column of this name. Raises InputError if the file has none, or one that cannot be read."""
    if name in table.incomplete:
        raise InputError(table.incomplete[str(name)])
    if name not in table.columns:
        raise InputError(f"no column {quoted(str(name))}: {table.listed}")
    return table.columns[str(name)]


def unread_columns(tables: SplitTables, target: FileColumn, used: Collection[str | None]) -> dict[str, str]:
    """Each column that the task does not read, with the reason."""
    table = tables.main
    rest = {name: column for name, column in table.columns.items() if name not in used}
    reasons = {name: _why_not_text(column, tables.test, target) or "a text" for name, column in rest.items()}
    reasons |= {name: MARKS_SPANS for name in _span_columns(table) if name in rest}
    return reasons | dict.fromkeys(table.incomplete, "no value in some rows") | table.unread


def with_counts(columns: Iterable[FileColumn]) -> str:
    """Columns with the number of their values, as in "acceptable" (2 values)."""
    values = [(column.name, "lists" if column.lists else count(len(column.counts), "value")) for column in columns]
    return ", ".join(f"{quoted(name)} ({number})" for name, number in values)


def _guess_text(guess: Guess, tables: SplitTables, target: FileColumn, used: set[str], most: int) -> None:
    """Declare the columns of texts, at most `most`, those of several words before those of one, with a question where others may be texts, too."""
    columns = [column for column in tables.main.columns.values() if column.name not in used]
    possible = [column for column in columns if _why_not_text(column, tables.test, target) is None]
    sentences = [column for column in possible if column.several_words * 2 >= column.rows]
    chosen, rows = (sentences or possible)[:most], count(tables.main.rows, "row")
    if sentences:
        shares = dict.fromkeys(share(column.several_words, column.rows) for column in chosen)
        why = f"several words in {' and '.join(shares)} of {rows}"
    else:
        numbers = dict.fromkeys(f"{len(column.counts):,}" for column in chosen)
        why = f"words, {' and '.join(numbers)} distinct in {rows}" if chosen else ""
    guess.declare(why, text=[column.name for column in chosen])
    rest = [column for column in columns if column not in chosen]
    if further := [column for column in rest if column in possible or _may_be_text(column, target)]:
        remedy = f"if the target depends on them, name them in text, {count(most, 'column')} at most, or write them into one text"
        guess.questions.append(f"text: {with_counts(further)} may be texts, too; {remedy}")


def _no_text(tables: SplitTables, target: FileColumn) -> str:
    """Why no column of a task can be a text."""
    table, test = tables.main, tables.test
    reasons = [f"text: no column looks like one: {table.listed}", *list(table.incomplete.values())[:MOST_REASONS]]
    if test is not None:
        blank = [quoted(name) for name in table.columns if test.lacks(name) and name != target.name]
        reasons += [f"{test.path.name} has no values in {', '.join(blank[:MOST_REASONS])}"] if blank else []
    if lists := quoted_names(name for name, column in table.columns.items() if column.lists):
        reasons.append(f"{lists} may be texts that are cut into words: write each as one text")
    return "; ".join(reasons)


def _may_be_text(column: FileColumn, target: FileColumn) -> bool:
    """Whether a column that does not look like a text may be one all the same: a list, or a question or text that stands in many rows."""
    is_list_of_texts = bool(column.lists) and not TOKEN_NAMES & set(column.words)
    is_question_of_many_rows = column.is_question and column.is_category
    is_text_of_many_rows = column.is_repeated_text and not column.is_source and not column.follows_from(target)
    return not column.is_meta and (is_list_of_texts or is_question_of_many_rows or is_text_of_many_rows)


def _why_not_text(column: FileColumn, test: FileTable | None, target: FileColumn) -> str | None:
    """Why a column is no text, in words: the first reason that applies. None: it looks like a text."""
    distinct = len(column.counts)
    if column.lists:
        return "lists"
    if column.is_blank:
        return "no value"
    if distinct < 2:
        return f"one value, {quoted(column.texts[0])}"
    if column.is_meta:
        return "meta data"
    if column.is_id:
        return ID
    is_like_text = column.is_long or distinct * 2 > column.rows
    if not is_like_text and column.follows_from(target):
        return f"it follows from {quoted(target.name)}"
    if column.numbers or column.is_category:
        return f"{'numbers, ' if column.numbers else ''}{count(distinct, 'value')}"
    if 2 * sum(rows for value, rows in column.counts.items() if CODE.fullmatch(value)) > column.rows:
        return "ids or addresses"
    if test is not None and test.lacks(column.name):
        return "the test file has no values in it"
    return None


def _guess_group(guess: Guess, tables: SplitTables, target: FileColumn, used: set[str]) -> None:
    """Declare a column of ids that repeat, if there is one: rows with the same id share something, and must not be in two splits."""
    for column in tables.main.columns.values():
        if column.name not in used and column.is_id and _has_groups(column, tables, target):
            distinct = count(len(column.counts), "distinct value")
            why = f"an id with {distinct} in {count(tables.main.rows, 'row')}: rows with the same one stay together"
            if len(column.counts) < FEW_GROUPS:
                why += "; with five groups or fewer in the scored rows no test decides: delete the line if the rows are independent"
            guess.declare(why, group=column.name)
            return


def _has_groups(column: FileColumn, tables: SplitTables, target: FileColumn) -> bool:
    """Whether rows with the same id are a group: a few accidental repetitions are none, and a column that a file lacks may depend on the target."""
    if column.words[-1] == "index" or column.follows_from(target):  # an index is a place in a text
        return False
    return 1 < len(column.counts) <= GROUPED * column.rows and all(table.has(column.name) for table in tables.values())


def _span_columns(table: FileTable) -> list[str]:
    """The columns of whole numbers that may mark spans of a text."""
    texts = {name: column.texts for name, column in table.columns.items() if column.texts and not column.numbers}
    places = {name: column.texts for name, column in table.columns.items() if column.whole_numbers is not None}
    marks: list[str] = []
    # Columns called start and end, or start and stop, do so if they are places in one text of each row.
    for start in [name for name in places if "start" in name]:
        for stop in (start.replace("start", "end"), start.replace("start", "stop")):
            if stop in places and any(_are_within(places[start], places[stop], rows) for rows in texts.values()):
                marks += [start, stop]
    # A column called index does so if the words in the column called text beside it stand in another text of each row.
    for index in [name for name in places if name.replace("index", "text") in texts]:
        words = index.replace("index", "text")
        for name in texts:
            if name != words and all(word in text for word, text in zip(texts[words], texts[name], strict=True)):
                marks.append(index)
    return list(dict.fromkeys(marks))


def _are_within(starts: Sequence[str], stops: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether the places in each row are those of a span in its text."""
    rows = zip(starts, stops, texts, strict=True)
    return all(0 <= int(start) <= int(stop) <= len(text) for start, stop, text in rows)
