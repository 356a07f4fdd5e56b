"""What the names and values of columns say: which hold texts, ids, groups, categories, candidates, or what follows from another column."""

import operator
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable
from mtl.benchmark_making.init_suite.wording import count, quoted, share

# The last word in the name of a column that identifies a row, or what the row belongs to.
ID_NAMES = {"id", "ids", "idx", "index", "guid", "uuid", "qid", "pid", "nr", "key", "url", "link", "uid"}  # fmt: skip
# Words in the name of a column that says where a row comes from. It is a target only if the user says so.
SOURCE_NAMES = {
    *("source", "dataset", "domain", "genre", "origin", "split", "fold", "subset", "partition", "lang", "language", "year", "date"),
    *("author", "annotator", "annotators", "user", "worker", "version", "file", "filename", "license", "publisher", "time"),
}  # fmt: skip
LABEL_NAMES = ("label", "labels", "gold_label")  # the names of target columns that are certain
# Nested columns below these keys are no input of a model.
META_KEYS = {"meta", "metadata"}
# A column whose values stand in so many rows each, on average, holds categories, not texts; of more than CATEGORIES values, in FREQUENT rows.
REPEATED = 4
CATEGORIES = 100
FREQUENT = 20
MOST_CATEGORIES = 500
LABELS_OF_WORDS = 10  # labels of several words
LONG = 6  # words on average; no label or name of a category has so many
# Columns of candidates are named choice1, ending0, option_a. Other columns with numbers (sentence1) are a pair.
CANDIDATE_NAMES = {"choice", "option", "ending", "candidate", "alternative", "answer", "solution", "response", "completion", "sol"}  # fmt: skip
CANDIDATE = re.compile(rf"(?:.*[_.-])?(?:{'|'.join(sorted(CANDIDATE_NAMES))})s?[_.-]?(?:[0-9]+|[a-h])", re.IGNORECASE)
TOKEN_NAMES = {"token", "tokens", "word", "words", "tag", "tags", "pos", "ner", "tokenized", "tokenised", "lemmas"}  # fmt: skip
TRUTH = (("0", "1"), ("false", "true"), ("no", "yes"), ("0.0", "1.0"))  # in lower case
QUESTIONS = {"question", "query"}  # the last word in the name of a column of questions
# An id or an address: ASCII without spaces, with a digit, a slash or an underscore.
CODE = re.compile(r"[!-~]*[\d/_][!-~]*")
MARKS_SPANS = "may mark spans, for the key spans"
GROUPED = 0.9  # the most distinct values, as a share of the rows, that a column of groups has


def is_meta(column: FileColumn) -> bool:
    return column.name.split(".")[0].lower() in META_KEYS and "." in column.name


def is_id(column: FileColumn) -> bool:
    """Whether a column identifies rows: by its name, or by different whole numbers that rise or fall from row to row."""
    if column.words[-1] in ID_NAMES:
        return True
    numbers = column.whole_numbers
    if numbers is None or len(numbers) < len(column.texts) or len(numbers) < 10:
        return False
    steps = {int(b) > int(a) for a, b in zip(column.texts, column.texts[1:], strict=False)}
    return len(steps) == 1


def is_category(column: FileColumn) -> bool:
    """Whether few values stand in many rows each, and are no longer than names."""
    distinct = len(column.counts)
    repeated = REPEATED if distinct < CATEGORIES else FREQUENT
    return distinct <= MOST_CATEGORIES and distinct * repeated <= column.rows and not is_long(column)


def is_repeated_text(column: FileColumn) -> bool:
    """Whether categories have several words in most rows, and are more than labels of several words: a hypothesis may stand in many pairs."""
    return is_category(column) and len(column.counts) > LABELS_OF_WORDS and column.several_words * 2 > column.rows


def is_long(column: FileColumn) -> bool:
    """Whether the values are too long for names of categories, as texts that stand in many pairs."""
    values, distinct = list(column.counts), len(column.counts)
    return sum(len(value.split()) for value in values) > LONG * distinct or sum(map(len, values)) > 60 * distinct


def is_source(column: FileColumn) -> bool:
    """Whether the name says that the column is about where a row comes from."""
    return bool(SOURCE_NAMES & set(column.words))


def is_truth(column: FileColumn) -> bool:
    """Whether the values are the two truth values."""
    return any({value.lower() for value in column.counts} == {*pair} for pair in TRUTH)


def are_truths(column: FileColumn) -> bool:
    """Whether all values are truth values."""
    return {value.lower() for value in column.counts} <= {value for pair in TRUTH for value in pair}


def follows_from(column: FileColumn, target: FileColumn) -> bool:
    """Whether each value of `target` goes with one value of `column`: a name of the label, its number, or a coarser label.

    Both columns are of the same file. Where few rows share a target, this says nothing, and the answer is no.
    """
    if not 2 <= len(column.counts) <= len(target.counts) <= len(target.texts) / 3:
        return False
    if column.lists or target.lists or len(column.texts) != len(target.texts):
        return False
    values: dict[str, str] = {}
    return all(values.setdefault(label, cell) == cell for label, cell in zip(target.texts, column.texts, strict=True))


def names_each_other(first: FileColumn, second: FileColumn) -> bool:
    """Whether each value of one column goes with one value of the other: they say the same."""
    return follows_from(first, second) and len(first.counts) == len(second.counts)


def is_candidates(column: FileColumn) -> bool:
    """Whether the name of a column of lists says that they are candidates."""
    return bool({column.words[-1], column.words[-1].removesuffix("s")} & CANDIDATE_NAMES)


def candidate_columns(table: FileTable, exclude: Collection[str]) -> list[FileColumn]:
    """The columns of candidate answers by their names: one column of lists, or two or more columns with names like choice1 and choice2."""
    readable = [column for column in table.columns.values() if not is_meta(column)]
    if lists := [column for column in readable if column.lists and is_candidates(column)]:
        return lists[:1]
    families: dict[str, list[FileColumn]] = {}  # answer1 and answer2, not answer1 and choice2
    for column in readable:
        if column.texts and column.name not in exclude and not column.numbers and CANDIDATE.fullmatch(column.name):
            families.setdefault(re.sub("[0-9]+$|[a-hA-H]$", "", column.name), []).append(column)
    longest = max(families.values(), key=len, default=[])
    return longest if len(longest) > 1 else []


def with_counts(columns: Iterable[FileColumn]) -> str:
    """Columns with the number of their values, as in "acceptable" (2 values)."""
    values = {each.name: "lists" if each.lists else count(len(each.counts), "value") for each in columns}
    return ", ".join(f"{quoted(name)} ({what})" for name, what in values.items())


def guess_text(
    guess: Guess, table: FileTable, test: FileTable | None, target: FileColumn, exclude: Collection[str], most: int
) -> list[str]:
    """The columns of texts, at most `most`, with the reason and a question where other columns may be texts, too, in the guess.

    A column of texts holds no numbers, categories or ids, does not follow from the target, is not below a key `meta`, and has values in
    the test file, too. Columns with several words in most rows are preferred to columns with single words.
    """
    columns = [column for column in table.columns.values() if column.name not in exclude]
    possible = [column for column in columns if why_not_text(column, test, target) is None]
    sentences = [column for column in possible if column.several_words * 2 >= column.rows]
    chosen = (sentences or possible)[:most]
    names = [column.name for column in chosen]
    others = [
        column
        for column in columns
        if column not in chosen
        and not is_meta(column)
        and (
            column in possible
            or (is_category(column) and column.words[-1] in QUESTIONS)
            or (column.lists and not TOKEN_NAMES & set(column.words))
            or (is_repeated_text(column) and not is_source(column) and not follows_from(column, target))
        )
    ]
    if others:
        remedy = f"name them in text, {count(most, 'column')} at most, or write them into one text"
        guess.questions.append(
            f"text: {with_counts(others)} may be texts, too; if the target depends on them, {remedy}"
        )
    rows = count(table.rows, "row")
    if sentences:
        shares = dict.fromkeys(share(column.several_words, column.rows) for column in chosen)
        guess.why["text"] = f"several words in {' and '.join(shares)} of {rows}"
    elif names:
        numbers = dict.fromkeys(f"{len(column.counts):,}" for column in chosen)
        guess.why["text"] = f"words, {' and '.join(numbers)} distinct in {rows}"
    return names


def why_not_text(column: FileColumn, test: FileTable | None, target: FileColumn) -> str | None:
    """Why a column is no text, in words; None: it looks like a text."""
    if column.lists:
        return "lists"
    if column.is_blank or len(column.counts) < 2:
        return "no value" if column.is_blank else f"one value, {quoted(column.texts[0])}"
    if is_meta(column):
        return "meta data"
    if is_id(column):
        return "an id"
    is_like_text = is_long(column) or len(column.counts) * 2 > column.rows
    if column.name != target.name and not is_like_text and follows_from(column, target):
        return f"it follows from {quoted(target.name)}"
    if column.numbers or is_category(column):
        return f"{'numbers, ' if column.numbers else ''}{count(len(column.counts), 'value')}"
    if 2 * sum(rows for value, rows in column.counts.items() if CODE.fullmatch(value)) > column.rows:
        return "ids or addresses"
    if test is not None and test.lacks(column.name):
        return "the test file has no values in it"
    return None


def group_column(
    table: FileTable, tables: Sequence[FileTable], target: FileColumn, exclude: Collection[str]
) -> tuple[str, str] | None:
    """The name of a column of ids that repeat, and the reason. Rows with the same id share something, and must not be in two splits.

    It has at most 9 distinct values in 10 rows, because a few accidental repetitions are no groups, and values in all of the task's
    files, because a column that the test file does not have may depend on the target. It does not follow from the target.
    """
    found = [
        column
        for column in table.columns.values()
        if column.words[-1] != "index"  # a place in a text
        and is_id(column)
        and column.name not in exclude
        and 1 < len(column.counts) <= GROUPED * column.rows
        and not follows_from(column, target)
        and all(file.has(column.name) for file in tables)
    ]
    if not found:
        return None
    figures = f"{count(len(found[0].counts), 'distinct value')} in {count(table.rows, 'row')}"
    why = f"an id with {figures}: rows with the same one stay together"
    if len(found[0].counts) < 10:
        why += "; with five groups or fewer in the scored rows no test decides: delete the line if the rows are independent"
    return found[0].name, why


def span_columns(table: FileTable) -> list[str]:
    """The columns of whole numbers that may say where spans of a text begin, or end: start beside end or stop, if these are places in
    the text of each row, and index beside text, if each row has another text with these words."""
    texts = {name: column.texts for name, column in table.columns.items() if column.texts and not column.numbers}
    numbers = {name: column.texts for name, column in table.columns.items() if column.whole_numbers is not None}

    def are_within(starts: Sequence[str], stops: Sequence[str], cells: Sequence[str]) -> bool:
        rows = zip(starts, stops, cells, strict=True)
        return all(0 <= int(start) <= int(stop) <= len(cell) for start, stop, cell in rows)

    marks: list[str] = []
    for start in [name for name in numbers if "start" in name]:
        for stop in [start.replace("start", end) for end in ("end", "stop")]:
            if stop in numbers and any(are_within(numbers[start], numbers[stop], cells) for cells in texts.values()):
                marks += [start, stop]
    for index in [name for name in numbers if "index" in name]:
        words = index.replace("index", "text")
        others = [cells for name, cells in texts.items() if name != words]
        if words in texts and any(all(map(operator.contains, cells, texts[words])) for cells in others):
            marks.append(index)
    return marks


def unread_columns(
    table: FileTable, test: FileTable | None, target: FileColumn, used: Collection[str]
) -> Mapping[str, str]:
    """Each column that the task does not read, with the reason."""
    rest = {name: column for name, column in table.columns.items() if name not in used}
    reasons = {name: why_not_text(column, test, target) or "a text" for name, column in rest.items()}
    reasons |= dict.fromkeys((name for name in span_columns(table) if name in rest), MARKS_SPANS)
    return reasons | dict.fromkeys(table.incomplete, "no value in some rows") | table.unread
