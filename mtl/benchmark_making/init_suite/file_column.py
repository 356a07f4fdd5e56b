"""One column of a data file: its values, and what they say that it may hold: numbers, truth values, categories, texts or ids."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise

from mtl.benchmark_making.init_suite.column_names import ID_NAMES, NamedColumn

INTEGER = re.compile("[+-]?[0-9]{1,400}")
INDEX = re.compile("[0-9]{1,9}")  # of a candidate, a name or a character
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
TRUTH_PAIRS = (("0", "1"), ("false", "true"), ("no", "yes"), ("0.0", "1.0"))  # values for false and true, in lower case
TRUE = {true for _, true in TRUTH_PAIRS}
# Cells that stand for no value, in lower case. "-1" is one where a whole column has it: test files of the Hub have it in place of labels.
PLACEHOLDERS = {"", "-", "--", "?", "_", "nan", "null", "none", "n/a", "na", "<unk>", "tbd", "hidden"}
# Letters of scripts that set no spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, Kana, and Han.
NO_SPACES = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003134f]")
LEAST_LETTERS = 4  # of such a script, in one text, that may be several words

# Values are categories, not texts, if there are few of them, each stands in many rows, and none is long.
MOST_CATEGORIES = 500
MANY_CATEGORIES = 100
ROWS_PER_CATEGORY = 4  # on average, at least, if there are fewer than MANY_CATEGORIES
ROWS_PER_CATEGORY_OF_MANY = 20  # on average, at least, if there are MANY_CATEGORIES or more
MOST_WORDS = 6  # of a value, on average
MOST_CHARACTERS = 60  # of a value, on average
MOST_LABELS = 10  # of several words each: more such categories are texts that repeat
LEAST_IDS = 10  # rising or falling numbers that are ids: fewer may rise by chance
ROWS_PER_TARGET = 3  # on average, at least: in fewer rows, each target goes with one value of another column by chance


@dataclass(frozen=True)
class FileColumn(NamedColumn):
    """One column of a file, with a value in every row. In a column of lists, `lists` are the values and `texts` is empty.
    Of a large file, both are of a random sample of its rows: what is computed from `counts` holds for the whole file if `whole_counts` is given, as
    by `FileTable.whole`, but what depends on the order of rows (`is_id`, `follows_from`) reads `texts`."""

    texts: list[str]
    lists: list[list[str]] = field(default_factory=list)
    labels: Sequence[str] = ()  # the names of the labels that its numbers stand for, where the file's metadata has them
    whole_counts: Mapping[str, int] | None = None  # of the values in the whole file, if `texts` is a sample of it

    @classmethod
    def joined(cls, columns: Sequence["FileColumn"]) -> "FileColumn":
        """The columns of one name in several files as one column."""
        texts = [text for column in columns for text in column.texts]
        lists = [items for column in columns for items in column.lists]
        counts = sum((column.counts for column in columns), Counter[str]())
        return cls(columns[0].name, texts, lists, columns[0].labels, counts)

    @cached_property
    def counts(self) -> Counter[str]:
        """In how many rows each text stands."""
        return Counter(self.texts if self.whole_counts is None else self.whole_counts)

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
    def rows_of_several_words(self) -> int:
        """The number of rows whose text has several words, or several letters of a script that sets no spaces between words."""
        texts = [text for text in self.counts if len(text.split()) > 1 or len(NO_SPACES.findall(text)) >= LEAST_LETTERS]
        return sum(self.counts[text] for text in texts)

    @property
    def is_blank(self) -> bool:
        """Whether no row has a value: all cells are placeholders, of any form, or all are -1."""
        plain = {value.strip().lower() for value in self.counts}
        return not self.lists and (plain <= PLACEHOLDERS or set(self.counts) == {"-1"})

    @property
    def is_truth_pair(self) -> bool:
        """Whether the values are both truth values of one form, as "yes" and "no"."""
        values = {value.lower() for value in self.counts}
        return any(values == set(pair) for pair in TRUTH_PAIRS)

    @property
    def has_only_truths(self) -> bool:
        """Whether all values are truth values, of any form, perhaps of one kind alone."""
        return {value.lower() for value in self.counts} <= set(chain(*TRUTH_PAIRS))

    @property
    def is_category(self) -> bool:
        """Whether few values stand in many rows each, and are no longer than names."""
        distinct = len(self.counts)
        rows_per_value = ROWS_PER_CATEGORY if distinct < MANY_CATEGORIES else ROWS_PER_CATEGORY_OF_MANY
        return distinct <= MOST_CATEGORIES and distinct * rows_per_value <= self.rows and not self.is_long

    @property
    def is_long(self) -> bool:
        """Whether the values are too long for names of categories, as texts that stand in many pairs."""
        distinct = len(self.counts)
        words = sum(len(value.split()) for value in self.counts)
        return words > MOST_WORDS * distinct or sum(map(len, self.counts)) > MOST_CHARACTERS * distinct

    @property
    def is_repeated_text(self) -> bool:
        """Whether the values are categories of several words, and more than labels: a hypothesis may stand in many pairs."""
        return self.is_category and len(self.counts) > MOST_LABELS and self.rows_of_several_words * 2 > self.rows

    @property
    def is_id(self) -> bool:
        """Whether the column identifies rows: by its name, or by different whole numbers that rise or fall from row to row."""
        if self.words[-1] in ID_NAMES:
            return True
        numbers = self.whole_numbers
        if numbers is None or len(numbers) < max(len(self.texts), LEAST_IDS):
            return False
        steps_upwards = {int(number) < int(following) for number, following in pairwise(self.texts)}
        return len(steps_upwards) == 1

    def follows_from(self, target: "FileColumn") -> bool:
        """Whether each value of a target goes with one value of this column, as its name or a coarser label. No if few rows share a target."""
        if not 2 <= len(self.counts) <= len(target.counts) <= len(target.texts) / ROWS_PER_TARGET:
            return False
        if self.lists or target.lists or len(self.texts) != len(target.texts):
            return False
        return len(set(zip(target.texts, self.texts, strict=True))) == len(set(target.texts))
