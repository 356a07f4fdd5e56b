"""One column of a data file: its values, and what they and its name say that it may hold."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from mtl.data.columns import LIST

INTEGER = re.compile("[+-]?[0-9]{1,400}")
INDEX = re.compile("[0-9]{1,9}")  # of a candidate, a name or a character
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
TRUTH = (("0", "1"), ("false", "true"), ("no", "yes"), ("0.0", "1.0"))  # in lower case
TRUE = {true for _, true in TRUTH}
# Cells that stand for no value, in lower case. "-1" is one where a whole column has it: test files of the Hub have it in place of labels.
PLACEHOLDERS = {"", "-", "--", "?", "_", "nan", "null", "none", "n/a", "na", "<unk>", "tbd", "hidden"}
NO_LABEL = PLACEHOLDERS - {"none", "na", "hidden"}  # as one of several labels, these words may mean what they say
# Scripts that set no spaces between words: Thai, Lao, Khmer, Burmese, Tibetan, Kana, and Han.
NO_SPACES = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003134f]")
# Words in the names of columns.
LABEL_NAMES = ("label", "labels", "gold_label")  # whole names of target columns that are certain
TEXT_WORDS = {"text", "texts", "seq", "in", "sentence", "sentences", "input", "inputs", "data", "source"}  # of files, too  # fmt: skip
ID_NAMES = {"id", "ids", "idx", "index", "guid", "uuid", "qid", "pid", "nr", "key", "url", "link", "uid"}  # the last word  # fmt: skip
SOURCE_NAMES = {  # of a column that says where a row comes from: a target only if the user says so
    *("source", "dataset", "domain", "genre", "origin", "split", "fold", "subset", "partition", "lang", "language", "year", "date"),
    *("author", "annotator", "annotators", "user", "worker", "version", "file", "filename", "license", "publisher", "time"),
}  # fmt: skip
TOKEN_NAMES = {"token", "tokens", "word", "words", "tag", "tags", "pos", "ner", "tokenized", "tokenised", "lemmas"}  # fmt: skip
# A column whose values stand in REPEATED rows each, on average, holds categories, not texts; CATEGORIES values or more must stand in FREQUENT rows.
REPEATED, CATEGORIES, FREQUENT, MOST_CATEGORIES = 4, 100, 20, 500
META = ("meta.", "metadata.")  # begin the names, in lower case, of columns below a key of meta data
LABELS_OF_WORDS = 10  # labels of several words
LONG, LONG_SIGNS = 6, 60  # words, and characters, on average; no label or name of a category has so many
SEVERAL_SIGNS = 4  # signs of a script without spaces that may be several words
LEAST_IDS = 10  # rising or falling numbers that are ids: fewer may rise by chance
ROWS_PER_TARGET = 3  # on average, at least, where each value of a target goes with one of another column not by chance


@dataclass(frozen=True)
class FileColumn:
    """One column of a file, with a value in every row. In a column of lists, `lists` are the values and `texts` is empty."""

    name: str
    texts: list[str]
    lists: list[list[str]] = field(default_factory=list)
    labels: Sequence[str] = ()  # the names of the labels that its numbers stand for, where the file's metadata has them
    all_counts: Mapping[str, int] | None = None  # of the values in the whole file, if `texts` is a sample of it

    @classmethod
    def joined(cls, columns: Sequence["FileColumn"]) -> "FileColumn":
        """A column of several files as one."""
        counts = sum((column.counts for column in columns), Counter[str]())
        texts = [text for column in columns for text in column.texts]
        lists = [items for column in columns for items in column.lists]
        return cls(columns[0].name, texts, lists, all_counts=counts)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.texts) if self.all_counts is None else Counter(self.all_counts)

    @property
    def rows(self) -> int:
        return len(self.lists) or self.counts.total()

    @property
    def values_by_row(self) -> list[list[str]]:
        """The items of the list of each row, or its text alone."""
        return self.lists or [[text] for text in self.texts]

    @cached_property
    def numbers(self) -> list[float] | None:
        """The distinct values in ascending order if all are finite numbers, else None."""
        if not self.counts or not all(NUMBER.fullmatch(value) for value in self.counts):
            return None
        numbers = sorted({float(value) for value in self.counts})
        return numbers if all(map(math.isfinite, numbers)) else None

    @property
    def whole_numbers(self) -> list[int] | None:
        """The distinct values in ascending order if all are written as integers, else None: "1" and "01" are one value."""
        if not self.numbers or not all(map(INTEGER.fullmatch, self.counts)):
            return None
        return sorted(set(map(int, self.counts)))

    @cached_property
    def several_words(self) -> int:
        """The number of rows whose text has several words, or several signs of a script that sets no spaces between words."""
        texts = [text for text in self.counts if len(text.split()) > 1 or len(NO_SPACES.findall(text)) >= SEVERAL_SIGNS]
        return sum(self.counts[text] for text in texts)

    @property
    def is_blank(self) -> bool:
        """Whether no row has a value: all cells are placeholders, of any form, or all are -1."""
        plain = {value.strip().lower() for value in self.counts}
        return not self.lists and (plain <= PLACEHOLDERS or set(self.counts) == {"-1"})

    @property
    def is_truth(self) -> bool:
        """Whether the values are both truth values of one form, as "yes" and "no"."""
        return any({value.lower() for value in self.counts} == {*pair} for pair in TRUTH)

    @property
    def has_only_truths(self) -> bool:
        """Whether all values are truth values, of any form."""
        return {value.lower() for value in self.counts} <= {value for pair in TRUTH for value in pair}

    @property
    def is_category(self) -> bool:
        """Whether few values stand in many rows each, and are no longer than names."""
        distinct = len(self.counts)
        repeated = REPEATED if distinct < CATEGORIES else FREQUENT
        return distinct <= MOST_CATEGORIES and distinct * repeated <= self.rows and not self.is_long

    @property
    def is_repeated_text(self) -> bool:
        """Whether the values are categories of several words, and more than labels: a hypothesis may stand in many pairs."""
        return self.is_category and len(self.counts) > LABELS_OF_WORDS and self.several_words * 2 > self.rows

    @property
    def is_long(self) -> bool:
        """Whether the values are too long for names of categories, as texts that stand in many pairs."""
        distinct = len(self.counts)
        words = sum(len(value.split()) for value in self.counts)
        return words > LONG * distinct or sum(map(len, self.counts)) > LONG_SIGNS * distinct

    @cached_property
    def words(self) -> list[str]:
        """The words of the last key of the column's name, in lower case: relatedness_score and relatednessScore have two each."""
        key = self.name.removesuffix(LIST).rsplit(".", 1)[-1]
        return re.findall(r"[^\W_]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).lower()) or [""]

    @property
    def is_meta(self) -> bool:
        """Whether the column is below a key of meta data, which no model reads."""
        return self.name.lower().startswith(META)

    @property
    def is_question(self) -> bool:
        """Whether the name says that the values are questions."""
        return self.words[-1] in {"question", "query"}

    @property
    def is_source(self) -> bool:
        """Whether the name says that the column is about where a row comes from."""
        return bool(SOURCE_NAMES & set(self.words))

    @property
    def is_called_label(self) -> bool:
        """Whether the last word of the name is that of a label."""
        return self.words[-1] in LABEL_NAMES

    @property
    def is_id(self) -> bool:
        """Whether the column identifies rows: by its name, or by different whole numbers that rise or fall from row to row."""
        if self.words[-1] in ID_NAMES:
            return True
        numbers = self.whole_numbers
        if numbers is None or len(numbers) < max(len(self.texts), LEAST_IDS):
            return False
        return len({int(number) < int(following) for number, following in pairwise(self.texts)}) == 1

    def follows_from(self, target: "FileColumn") -> bool:
        """Whether each value of a target goes with one value of this column, as its name or a coarser label. No if few rows share a target."""
        if not 2 <= len(self.counts) <= len(target.counts) <= len(target.texts) / ROWS_PER_TARGET:
            return False
        if self.lists or target.lists or len(self.texts) != len(target.texts):
            return False
        values: dict[str, str] = {}
        return all(values.setdefault(label, cell) == cell for label, cell in zip(target.texts, self.texts, strict=True))
