"""Which columns of a task hold the texts and the groups, and why the others hold no texts."""

import re
from collections.abc import Sequence

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.guess import WHY_GIVEN, WHY_ID, Guess, TaskKeys
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.wording import percent, quantity, quoted, with_count
from mtl.tasks.task import BESIDE

CODE = re.compile(r"[!-.:-^`-~]*[\d/_][!-~]*")  # an id or an address: ASCII without spaces
MOST_DISTINCT_SHARE = 0.9  # of a column of groups: its distinct values, as a share of the rows


def declare_texts_and_group(guess: Guess, tables: SplitTables, known: TaskKeys) -> None:
    """Declare the texts, known or guessed, and the first column of groups. The target and the candidates, which are neither, must be declared."""
    target = tables.main.columns[guess.keys["target"]]
    candidates = known.get("candidates") or guess.keys.get("candidates", [])
    used = {target.name, *target.name.split(BESIDE), *candidates}  # a target of labels may be several columns as one
    unused = [column for column in tables.main.columns.values() if column.name not in used]
    if "text" in known:
        guess.declare(WHY_GIVEN, text=[tables.main.readable_column(name).name for name in known["text"]])
    else:
        _declare_texts(guess, tables, unused, has_candidates=len(candidates) > 0)
    no_texts = [column for column in unused if column.name not in guess.keys["text"]]
    if group := next((column for column in no_texts if _has_groups(column, tables, target)), None):
        values, rows = quantity(len(group.counts), "distinct value"), quantity(tables.main.rows, "row")
        guess.declare(f"an id with {values} in {rows}: rows with the same one stay together", group=group.name)


def _declare_texts(guess: Guess, tables: SplitTables, unused: Sequence[FileColumn], has_candidates: bool) -> None:
    """Declare the texts, one or two, but beside candidates one or none, and ask about others. Raises InputError if there are none of either."""
    main = tables.main
    target = main.columns[guess.keys["target"]]
    possible = [column for column in unused if why_no_text(column, tables.test, target) is None]
    if not possible and not has_candidates:
        raise InputError("; ".join([f"text: no column looks like one: {main.listed}", *main.gaps]))
    sentences = [column for column in possible if column.rows_of_several_words * 2 >= column.rows]
    most_texts = 1 if has_candidates else 2
    chosen = (sentences or possible)[:most_texts]
    shares = dict.fromkeys(percent(column.rows_of_several_words, column.rows) for column in chosen)  # each once
    why = f"several words in {' and '.join(shares)} of {quantity(main.rows, 'row')}" if sentences else "words"
    guess.declare(why, text=[column.name for column in chosen])
    repeated = [column for column in unused if column not in possible and _is_text_of_many_rows(column, target)]
    if doubtful := [column for column in possible if column not in chosen] + repeated:
        names = ", ".join(map(with_count, doubtful))
        remedy = f"name them in text, {quantity(most_texts, 'column')} at most, or write them into one text"
        guess.questions.append(f"text: {names} may be texts, too; if the target depends on them, {remedy}")


def _is_text_of_many_rows(column: FileColumn, target: FileColumn) -> bool:
    """Whether a column may be a question or a text that stands in many rows, as a hypothesis in many pairs."""
    if column.is_meta:
        return False
    is_hypothesis = column.is_repeated_text and not column.is_source and not column.follows_from(target)
    is_repeated_question = column.is_question and column.is_category
    return is_hypothesis or is_repeated_question


def why_no_text(column: FileColumn, test: FileTable | None, target: FileColumn) -> str | None:
    """Why a column is no text, in words: the first reason that applies, of which the more exact ones come first. None: it looks like a text."""
    if column.lists:
        return "lists"
    if column.is_blank:
        return "no value"
    if len(column.counts) < 2:
        return f"one value, {quoted(next(iter(column.counts)))}"
    if column.is_meta:
        return "meta data"
    if column.is_id:
        return WHY_ID
    if column.follows_from(target) and not column.is_long:
        return f"it follows from {quoted(target.name)}"
    values = quantity(len(column.counts), "value")
    if column.numbers:
        return f"numbers, {values}"
    if column.is_category:
        return values
    rows_of_codes = sum(rows for value, rows in column.counts.items() if CODE.fullmatch(value))
    if rows_of_codes * 2 > column.rows:
        return "ids or addresses"
    return "the test file has no values in it" if test is not None and test.lacks(column.name) else None


def _has_groups(column: FileColumn, tables: SplitTables, target: FileColumn) -> bool:
    """Whether a column has ids that repeat, and not in a few rows only: rows with the same id share something, and must not be in two splits.
    An index is rather a position in a text, and a column that a file lacks may depend on the target."""
    is_id = column.is_id and column.words[-1] != "index"
    repeats = 1 < len(column.counts) <= MOST_DISTINCT_SHARE * column.rows
    is_everywhere = all(table.has(column.name) for table in tables.values())
    return is_id and repeats and is_everywhere and not column.follows_from(target)
