"""The steps similarity and cut, which compare two texts of a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.benchmark_making.make.pairs import SIMILARITY
from mtl.benchmark_making.make.table import Table, Work
from mtl.benchmark_making.similarity import TextComparison
from mtl.benchmark_making.text_units import Units, learned_byte_pairs, sentences

MOST_SENTENCES = 10  # of a text that is cut


@dataclass
class Similarity:
    """Compute the similarity of two texts of each row, as of a question and a possible answer, into the column similarity."""

    columns: list[str]  # the columns of the first and of the second text

    def check(self) -> None:
        if len(self.columns) != 2:
            raise InputError("names two columns", key="columns")

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "columns", *self.columns, lists=False)
        lefts, rights = (table.texts(column) for column in self.columns)
        values = TextComparison(lefts, rights, f"step {work.number}, similarity").in_turn().tolist()
        rows = [row.with_values({SIMILARITY: value}) for row, value in zip(table.rows, values, strict=True)]
        return table.with_rows(rows, SIMILARITY)


@dataclass
class Cut:
    """Cut each text to its run of at most ten sentences that is most similar to another text of the row, after the penalty for each sentence.
    The similarity is the share of the other text's units that the run has. Of equally similar runs, it is the first of the shortest."""

    column: str  # the column of texts that are cut
    like: str  # the column of the texts that they are compared with
    penalty: Annotated[float, Meta(ge=1, le=10)] = 1.2  # divides the similarity once per sentence (KLEJ, section 3.5)

    def run(self, work: Work, table: Table) -> Table:
        work.check_columns(table, "column", self.column, lists=False)
        work.check_columns(table, "like", self.like, lists=False)
        texts, models = table.texts(self.column), table.texts(self.like)
        units = learned_byte_pairs([*models, *texts])
        rows = []
        for row, text, model in zip(table.rows, texts, models, strict=True):
            best = self._best_run(sentences(text), set(units(model)), units)
            rows.append(row.with_values({self.column: " ".join(best)}))
        return table.with_rows(rows)

    def _best_run(self, parts: Sequence[str], wanted: set[str], units: Units) -> Sequence[str]:
        """The run of these sentences that has most of the wanted units, after the penalty; the first of the shortest of equal ones."""
        wanted_by_part = [wanted.intersection(units(part)) for part in parts]
        best = parts[:1]
        best_value = -1.0
        for start in range(len(parts)):
            units_of_run = set[str]()
            divisor = 1.0
            for size, units_of_part in enumerate(wanted_by_part[start : start + MOST_SENTENCES], start=1):
                units_of_run |= units_of_part
                divisor *= self.penalty
                value = len(units_of_run) / max(1, len(wanted)) / divisor
                if value > best_value or (value == best_value and size < len(best)):
                    best = parts[start : start + size]
                    best_value = value
        return best
