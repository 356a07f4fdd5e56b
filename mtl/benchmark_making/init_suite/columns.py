"""Which columns of a task hold the target, the texts and the groups, with questions where others may hold them, and what the rest is."""

import operator
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import CANDIDATE, LABEL_NAMES, REPEATED, TOKEN_NAMES, FileColumn
from mtl.benchmark_making.init_suite.guess import GIVEN, ID, Guess, count, quoted, quoted_names, share
from mtl.benchmark_making.init_suite.kinds import MULTI_LABEL, TEXTS
from mtl.benchmark_making.init_suite.several_labels import SeveralLabels, named_labels, several_labels
from mtl.benchmark_making.init_suite.tables import NAMELESS, SPAN_LIST, FileTable, SplitTables

SURE_NAMES = {*LABEL_NAMES, "target", "targets", "gold"}  # of columns that may be targets whatever they hold
LIKELY_NAMES = {  # words in the names of columns that are targets if no column has a name in LABEL_NAMES
    *("target", "targets", "gold", "class", "judgment", "judgement", "score", "rating", "stars", "grade", "similarity", "duplicate"),
}  # fmt: skip
# Names of targets beside columns of candidates.
CHOICE_NAMES = {"answer", "correct", "key", "answerkey", "solution", "answer_key", "correct_answer", "answer_idx", "answer_index"}  # fmt: skip
NESTED = "lists of objects: mtl reads one row for each question, so write one row for each object"
MOST_REASONS = 2  # a message says of so many columns why they are not the target
CODE = re.compile(r"[!-~]*[\d/_][!-~]*")  # an id or an address: ASCII without spaces
PRINTED_LIST = re.compile(r"\[(['\"]).*\1\]$")
MARKS_SPANS = "may mark spans, for the key spans"
GROUPED = 0.9  # the most distinct values, as a share of the rows, that a column of groups has


class TargetColumn(NamedTuple):
    """The guess of the target's column."""

    column: FileColumn
    why: str  # the reason for the guess
    question: str | None = None  # which asks the user, if another column may be the target
    several: SeveralLabels | None = None  # how several labels of a row stand in the column, if they do


def chosen_target(id: str, tables: SplitTables, known: Mapping[str, Any]) -> TargetColumn:
    """The target's column: the known one, or a guess. Raises InputError for lists that are texts."""
    if "target" not in known:
        has_one_label = known.get("kind", MULTI_LABEL) != MULTI_LABEL or bool({"range", "candidates"} & {*known})
        chosen = _guessed_target(id, tables.main, tables.test, has_one_label)
    elif labels := named_labels(tables.main, known):
        chosen = TargetColumn(tables.main.columns[labels.columns[0]], GIVEN, labels.question, labels)
    else:
        chosen = TargetColumn(known_column(tables.main, known["target"]), GIVEN)
    if printed := next((value for value in chosen.column.counts if PRINTED_LIST.match(value)), None):
        problem = f"column {quoted(chosen.column.name)} has lists as Python prints them, {quoted(printed)}"
        raise InputError(f'{problem}; write them as JSON, ["a", "b"], or as a;b')
    return chosen


def _guessed_target(id: str, main: FileTable, test: FileTable | None, has_one_label: bool) -> TargetColumn:
    """Guess the column of a task's targets; if there are several, the first one, with a question that lists all. In this order: the one column whose
    name says so; the one column with labels or numbers without values in the test file; the one column with labels or numbers. `has_one_label`:
    whether columns of several labels are not looked for. Raises InputError, which says what mtl cannot read, if no column fits."""
    possible = possible_targets(main)
    named = _columns_by_name(main, possible)
    lacking = [column for column in possible if test is not None and test.lacks(column.name)]
    candidates = named or lacking or possible or _repeated_words(main)
    several = None if has_one_label else several_labels(main, candidates)
    certain = {column.name for column in named if _is_named(column)}
    if several is not None and (not certain or certain & set(several.columns)):
        return _target_of_several(main, several, candidates)
    if not possible:
        raise InputError(_no_target(id, main))
    # A column is certain if it alone has such a name, or if the test file lacks the values of it alone.
    pools = [named, [column for column in named if column in lacking]] if named else [lacking, possible]
    candidates = next((pool for pool in pools if len(pool) == 1), candidates)
    first = candidates[0]
    question = f"target: {_with_counts(candidates)} may be the target"
    if len(candidates) > 1:
        return TargetColumn(first, f"one of {len(candidates)} that may be it", question)
    if first in named or first in lacking:
        missing = ", and the test file has no values in it" if first in lacking else ""
        return TargetColumn(first, ("by its name" if first in named else "labels or numbers") + missing)
    if _unread(main) or first.is_source:
        return TargetColumn(first, "perhaps", f"{question}, or say where the rows come from{_unread(main)}")
    return TargetColumn(first, "the only column with labels or numbers")


def possible_targets(table: FileTable) -> list[FileColumn]:
    """The columns with labels or numbers that may be targets, but for the names of another one of them."""
    columns = list(filter(_may_be_target, table.columns.values()))
    distinct: list[FileColumn] = []
    for number, column in enumerate(columns):
        if not any(_names_labels_of(column, earlier) for earlier in columns[:number]):
            distinct.append(column)
    plain = [column for column in distinct if _is_named(column) or not column.is_repeated_text]
    return plain if any(_is_named(column) or LIKELY_NAMES & set(column.words) for column in plain) else distinct


def _names_labels_of(column: FileColumn, target: FileColumn) -> bool:
    """Whether a column says the same as a possible target, or less than one whose name is that of a label."""
    is_coarser = _is_named(target) and not _is_named(column) and column.follows_from(target)
    return target.says_the_same_as(column) or is_coarser


def _repeated_words(table: FileTable) -> list[FileColumn]:
    """The columns of texts that repeat, most of one word: sets of labels may be too many for categories."""
    words = [column for column in table.columns.values() if column.several_words * 2 < column.rows]
    return [column for column in words if 1 < len(column.counts) <= column.rows / REPEATED]


def _target_of_several(table: FileTable, several: SeveralLabels, candidates: Sequence[FileColumn]) -> TargetColumn:
    """Columns with several labels of a row as the target, with a question where others may be it, too."""
    first, question = table.columns[several.columns[0]], several.question
    rest = [column for column in candidates if column.name not in several.columns and not column.is_source]
    if rest and not (first.lists and first.words[-1] in SURE_NAMES):
        entry = f"{quoted(several.target)} (several labels of a row, in {several.form})"
        question = f"target: {entry}, {_with_counts(rest)} may be the target"
    return TargetColumn(first, several.form, question, several)


def _may_be_target(column: FileColumn) -> bool:
    """Whether a column holds several labels or numbers, and no ids."""
    if column.lists or column.is_blank or column.is_meta or column.is_id or len(column.counts) < 2:
        return False
    return bool(column.numbers) or column.is_category or column.name.lower() in SURE_NAMES


def _is_named(column: FileColumn) -> bool:
    """Whether the name is that of a label, as the whole name or its last word."""
    return column.name.lower() in LABEL_NAMES or column.words[-1] in LABEL_NAMES


def _columns_by_name(main: FileTable, columns: Sequence[FileColumn]) -> list[FileColumn]:
    """Those of the columns whose names say that they are targets; several are a question. Raises InputError if such a column lacks values in some
    rows."""
    for names in (LABEL_NAMES, LIKELY_NAMES):  # in the order of the file's columns
        if reasons := [reason for name, reason in main.incomplete.items() if name.lower() in names]:
            raise InputError(reasons[0])
    choices = CHOICE_NAMES if candidate_columns(main, ()) else set()
    named = [column for column in columns if _is_named(column) or column.name.lower() in choices]
    if any(column.name.lower() in (*LABEL_NAMES, *choices) for column in named):
        return named
    likely = [column for column in columns if column in named or LIKELY_NAMES & set(column.words)]
    return likely if all(column.is_source for column in columns if column not in likely) else []


def _no_target(id: str, table: FileTable) -> str:
    """Why no column can be the target of a task, what in the file mtl cannot read, and how to have spans read."""
    if objects := [name for name, what in table.unread.items() if "objects" in what]:
        return f"{quoted_names(objects)}: {NESTED}"
    targets = [column for column in table.columns.values() if _is_named(column)]
    if texts := [column.name for column in targets if column.several_words * 2 > column.rows]:
        return f"{quoted_names(texts)}: {TEXTS}"
    if decimals := [name for name, column in table.columns.items() if column.has_decimal_commas]:
        return f"{quoted_names(decimals)}: numbers with a decimal comma; write a point in its place"
    reasons = _unread(table) + "".join(f"; {reason}" for reason in [*table.incomplete.values()][:MOST_REASONS])
    for name in [name for name, what in table.unread.items() if what == SPAN_LIST][:1]:
        answer = f"tasks.{id}.reading.spans=TEXT + {name}.START[] + {name}.END[] + {name}.TYPE[]"
        reasons += f"; name the columns: --answer {shlex.quote(answer)}"
    return f"no column looks like a target: {table.listed}{reasons or '; name the column label'}"


def _unread(table: FileTable) -> str:
    """The columns that mtl cannot read and why, as the end of a message; empty if there are none."""
    return "".join(f"; {quoted(name)} is {what}" for name, what in table.unread.items() if what != NAMELESS)


def guess_inputs(guess: Guess, tables: SplitTables, known: Mapping[str, Any], taken: Collection[str]) -> None:
    """Guess the columns of groups, and of texts unless they are known. Raises InputError if no column looks like a text."""
    main, test = tables.main, tables.test
    candidates = known.get("candidates") or guess.keys.get("candidates", [])
    target = main.columns[guess.keys["target"]]
    used = {target.name, *taken, *candidates}
    if (names := known.get("text")) is not None:
        guess.keys["text"] = [known_column(main, name).name for name in names]
    else:
        guess.keys["text"] = _guess_text(guess, tables, target, used, most=1 if candidates else 2)
        if not guess.keys["text"] and not candidates:
            raise InputError(_no_text(main, test, target))
    used |= set(guess.keys["text"])
    if "spans" not in known and not candidates and (ends := _span_columns(main)):
        remedy = "an end must be the character after the last one, so add 1 where it is the last"
        guess.questions.append(f"spans: {quoted_names(ends)} {MARKS_SPANS}; {remedy} (docs/how-to/own-suite.md)")
    if "group" not in known and (group := _group_column(tables, target, used)):
        guess.keys["group"], guess.why["group"] = group
    used.add(known.get("group") or guess.keys.get("group", ""))
    guess.unread = unread_columns(main, test, target, used)


def known_column(table: FileTable, name: object) -> FileColumn:
    """The column of this name. Raises InputError if the file has none, or one that cannot be read."""
    if name in table.incomplete:
        raise InputError(table.incomplete[str(name)])
    if name not in table.columns:
        raise InputError(f"no column {quoted(str(name))}: {table.listed}")
    return table.columns[str(name)]


def unread_columns(table: FileTable, test: FileTable | None, target: FileColumn, used: set[str]) -> dict[str, str]:
    """Each column that the task does not read, with the reason."""
    rest = {name: column for name, column in table.columns.items() if name not in used}
    reasons = {name: _why_not_text(column, test, target) or "a text" for name, column in rest.items()}
    reasons |= dict.fromkeys((name for name in _span_columns(table) if name in rest), MARKS_SPANS)
    return reasons | dict.fromkeys(table.incomplete, "no value in some rows") | table.unread


def _guess_text(guess: Guess, tables: SplitTables, target: FileColumn, exclude: set[str], most: int) -> list[str]:
    """The columns of texts, at most `most`, with the reason and a question where other columns may be texts, too, in the guess. A column of texts
    holds no numbers, categories or ids, does not follow from the target, is not below a key `meta`, and has values in the test file, too. Columns
    with several words in most rows are preferred to columns with single words."""
    columns = [column for column in tables.main.columns.values() if column.name not in exclude]
    possible = [column for column in columns if _why_not_text(column, tables.test, target) is None]
    sentences = [column for column in possible if column.several_words * 2 >= column.rows]
    chosen = (sentences or possible)[:most]
    names = [column.name for column in chosen]
    rest = [column for column in columns if column not in chosen]
    if further := [column for column in rest if column in possible or _may_be_text(column, target)]:
        remedy = f"if the target depends on them, name them in text, {count(most, 'column')} at most, or write them into one text"
        guess.questions.append(f"text: {_with_counts(further)} may be texts, too; {remedy}")
    rows = count(tables.main.rows, "row")
    if sentences:
        shares = dict.fromkeys(share(column.several_words, column.rows) for column in chosen)
        guess.why["text"] = f"several words in {' and '.join(shares)} of {rows}"
    elif names:
        numbers = dict.fromkeys(f"{len(column.counts):,}" for column in chosen)
        guess.why["text"] = f"words, {' and '.join(numbers)} distinct in {rows}"
    return names


def _no_text(table: FileTable, test: FileTable | None, target: FileColumn) -> str:
    """Why no column of a file can be a text."""
    reasons = [*table.incomplete.values()][:MOST_REASONS]
    if test is not None and (blank := [name for name in table.columns if test.lacks(name) and name != target.name]):
        reasons.append(f"{test.path.name} has no values in {', '.join(map(quoted, blank[:MOST_REASONS]))}")
    if lists := quoted_names(name for name, column in table.columns.items() if column.lists):
        reasons.append(f"{lists} may be texts that are cut into words: write each as one text")
    return "; ".join([f"no column looks like a text: {table.listed}", *reasons])


def _may_be_text(column: FileColumn, target: FileColumn) -> bool:
    """Whether a column that does not look like a text may be one all the same: a list, or a text that stands in many rows."""
    if column.is_meta:
        return False
    is_list_of_texts = bool(column.lists) and not TOKEN_NAMES & set(column.words)
    is_text_of_many_rows = column.is_repeated_text and not column.is_source and not column.follows_from(target)
    return is_list_of_texts or (column.is_question and column.is_category) or is_text_of_many_rows


def _why_not_text(column: FileColumn, test: FileTable | None, target: FileColumn) -> str | None:
    """Why a column is no text, in words; None: it looks like a text."""
    if column.lists:
        return "lists"
    if column.is_blank or len(column.counts) < 2:
        return "no value" if column.is_blank else f"one value, {quoted(column.texts[0])}"
    if column.is_meta:
        return "meta data"
    if column.is_id:
        return ID
    is_like_text = column.is_long or len(column.counts) * 2 > column.rows
    if column.name != target.name and not is_like_text and column.follows_from(target):
        return f"it follows from {quoted(target.name)}"
    if column.numbers or column.is_category:
        return f"{'numbers, ' if column.numbers else ''}{count(len(column.counts), 'value')}"
    if 2 * sum(rows for value, rows in column.counts.items() if CODE.fullmatch(value)) > column.rows:
        return "ids or addresses"
    if test is not None and test.lacks(column.name):
        return "the test file has no values in it"
    return None


def _group_column(tables: SplitTables, target: FileColumn, exclude: set[str]) -> tuple[str, str] | None:
    """The name of a column of ids that repeat, and the reason. Rows with the same id share something, and must not be in two splits. It has at most 9
    distinct values in 10 rows, because a few accidental repetitions are no groups, and values in all of the task's files, because a column that the
    test file does not have may depend on the target. It does not follow from the target."""
    groups = [
        column
        for column in tables.main.columns.values()
        if column.words[-1] != "index"  # a place in a text
        and column.is_id
        and column.name not in exclude
        and 1 < len(column.counts) <= GROUPED * column.rows
        and not column.follows_from(target)
        and all(table.has(column.name) for table in tables.values())
    ]
    if not groups:
        return None
    column, distinct = groups[0], len(groups[0].counts)
    figures = f"{count(distinct, 'distinct value')} in {count(tables.main.rows, 'row')}"
    why = f"an id with {figures}: rows with the same one stay together"
    if distinct < 10:
        why += "; with five groups or fewer in the scored rows no test decides: delete the line if the rows are independent"
    return column.name, why


def _span_columns(table: FileTable) -> list[str]:
    """The columns of whole numbers that may say where spans of a text begin, or end: start beside end or stop, if these are places in
    the text of each row, and index beside text, if each row has another text with these words."""
    texts = {name: column.texts for name, column in table.columns.items() if column.texts and not column.numbers}
    numbers = {name: column.texts for name, column in table.columns.items() if column.whole_numbers is not None}
    marks: list[str] = []
    for start in [name for name in numbers if "start" in name]:
        for stop in [start.replace("start", end) for end in ("end", "stop")]:
            if stop in numbers and any(_are_within(numbers[start], numbers[stop], rows) for rows in texts.values()):
                marks += [start, stop]
    for index in [name for name in numbers if "index" in name]:
        words = index.replace("index", "text")
        passages = [rows for name, rows in texts.items() if name != words]
        if words in texts and any(all(map(operator.contains, rows, texts[words])) for rows in passages):
            marks.append(index)
    return marks


def _are_within(starts: Sequence[str], stops: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether the places in each row are those of a span in its text."""
    rows = zip(starts, stops, texts, strict=True)
    return all(0 <= int(start) <= int(stop) <= len(text) for start, stop, text in rows)


def candidate_columns(table: FileTable, exclude: Collection[str]) -> list[FileColumn]:
    """The columns of candidate answers by their names: one column of lists, or two or more columns with names like choice1 and choice2."""
    readable = [column for column in table.columns.values() if not column.is_meta]
    if lists := [column for column in readable if column.lists and column.is_candidates]:
        return lists[:1]
    families: dict[str, list[FileColumn]] = {}  # answer1 and answer2, not answer1 and choice2
    for column in readable:
        if column.texts and column.name not in exclude and not column.numbers and CANDIDATE.fullmatch(column.name):
            families.setdefault(re.sub("[0-9]+$|[a-hA-H]$", "", column.name), []).append(column)
    longest = max(families.values(), key=len, default=[])
    return longest if len(longest) > 1 else []


def _with_counts(columns: Iterable[FileColumn]) -> str:
    """Columns with the number of their values, as in "acceptable" (2 values)."""
    values = {column.name: "lists" if column.lists else count(len(column.counts), "value") for column in columns}
    return ", ".join(f"{quoted(name)} ({number})" for name, number in values.items())
