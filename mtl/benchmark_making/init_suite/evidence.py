"""What the names and values of columns say: which hold texts, ids, groups, categories, candidates, or what follows from another column."""

import re
from collections.abc import Collection, Iterable

from mtl.benchmark_making.init_suite.guess import count, quoted
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable

# The last word in the name of a column that identifies a row, or what the row belongs to.
ID_NAMES = {"id", "ids", "idx", "index", "guid", "uuid", "qid", "pid", "nr", "key", "url", "link", "uid"}  # fmt: skip
# Words in the name of a column that says where a row comes from. It is a target only if the user says so.
SOURCE_NAMES = {
    *("source", "dataset", "domain", "genre", "origin", "split", "fold", "subset", "partition", "lang", "language", "year", "date"),
    *("author", "annotator", "annotators", "user", "worker", "version", "file", "filename", "license", "publisher", "time"),
}  # fmt: skip
LABEL_NAMES = ("label", "labels", "gold_label")  # the names of target columns that are certain
# Words in the names of files and columns of texts.
TEXT_WORDS = {"text", "texts", "seq", "in", "sentence", "sentences", "input", "inputs", "data", "source"}
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
