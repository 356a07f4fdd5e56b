"""Which predictions belong to which rows of the data, by the values of the columns that stand beside both."""

import json
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.names import one_spelling
from mtl.data.records import Record
from mtl.submissions.lines import ID, PredictionLines
from mtl.submissions.row_files import show

# Texts that pandas reads as missing values and writes as empty cells, in lower case.
MISSING = {"nan", "-nan", "na", "n/a", "<na>", "#n/a", "#na", "null", "none"}

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class ColumnMatch:
    """Predictions and the rows of a data file, with the columns that stand beside both."""

    lines: PredictionLines
    file: Path  # of the rows, for messages
    columns: Sequence[str]
    records: Sequence[Record]  # the rows, with the values of these columns

    def order(self, presumed: Sequence[int] | None) -> Sequence[int] | None:
        """For each row, the position of the prediction with its values: as presumed if all values are equal there, else in another order.

        Args:
            presumed: for each row, the position of its prediction by ids, numbers or the order of the lines; None: they do not say it.

        Raises:
            InputError: for a row whose values stand beside no prediction, or beside fewer than there are such rows; for ids of rows with other
                values; and for equal rows with different predictions, whose order the values leave open.
        """
        row_keys, line_keys = self._keys()
        unlike = [row for row, key in enumerate(row_keys) if presumed is None or line_keys[presumed[row]] != key]
        if not unlike:
            return presumed
        positions, counts = defaultdict[str, list[int]](list), Counter(row_keys)
        for position, key in enumerate(line_keys):
            positions[key].append(position)
        for row in unlike:
            needed = 1 if self.lines.are_rows else counts[row_keys[row]]
            if self.lines.marks.has_ids or len(positions[row_keys[row]]) < needed:
                raise self._absent(row, None if presumed is None else presumed[row])
        for key in counts:
            self._check_equal(positions[key])
        message = "%s: put to the rows of %s by %s: it has another order"
        logger.info(message, self.lines.name, self.file, ", ".join(self.columns))
        # Equal rows take their equal predictions from the last to the first, which serves all that are left.
        return [positions[key].pop() if len(positions[key]) > 1 else positions[key][0] for key in row_keys]

    def _keys(self) -> tuple[list[str], list[str]]:
        """What is equal for a row and a prediction that belong together: the keys of all rows, and of all predictions.

        A row whose values stand beside a prediction as they are is that row; other values may have been changed on the way.
        """
        rows = [record.values for record in self.records]
        lines = [*zip(*(self.lines.marks.columns[name] for name in self.columns), strict=True)]
        exact_rows, exact_lines = [*map(exact_key, rows)], [*map(exact_key, lines)]
        unchanged = {*exact_rows} & {*exact_lines}

        def keys(values: Sequence[Sequence[Any]], exact_keys: Sequence[str]) -> list[str]:
            return [key if key in unchanged else loose_key(v) for v, key in zip(values, exact_keys, strict=True)]

        return keys(rows, exact_rows), keys(lines, exact_lines)

    def _absent(self, row: int, position: int | None) -> InputError:
        """The error for a row without a prediction, and for the prediction that is presumed to be its own."""
        record = self.records[row]
        values = f"{', '.join(self.columns)} {show(list(record.values))}"
        problem = f"the row on line {record.line} of {self.file}, with {values}, is not here"
        remedy = "predict these rows, or leave out columns whose values are changed"
        return self.lines.error(f"{problem}; {remedy}", position)

    def _check_equal(self, positions: Sequence[int]) -> None:
        """Raise InputError unless the predictions at these positions are equal."""
        (first, *others), values = positions, self.lines.values
        if unequal := [position for position in others if values[position] != values[first]]:
            problem = f"rows with the same {', '.join(self.columns)} have different predictions here"
            remedy = f"put the lines into the order of the rows of {self.file}, or add a column {ID!r}"
            raise self.lines.error(f"{problem}; {remedy}", unequal[0])


def exact_key(values: Iterable[Any]) -> str:
    """What is equal for the values of one row in two files that have the same texts."""
    return json.dumps([_plain(value) for value in values], ensure_ascii=False)


def loose_key(values: Iterable[Any]) -> str:
    """What is equal for the values of one row in two files of which one went through a spreadsheet or a library: letters and digits without case,
    numbers by their value, and an empty text for what pandas reads as a missing value."""
    parts = []
    for value in values:
        plain = _plain(value)
        joined = one_spelling(plain if isinstance(plain, str) else " ".join(plain)).strip()
        try:
            part = "" if joined.casefold() in MISSING else repr(float(joined))
        except ValueError:
            part = re.sub(r"[\W_]+", "", joined).casefold()
        parts.append(part)
    return "\n".join(parts)


def _plain(value: Any) -> str | list[str]:
    """A value as a text, or as a list of texts."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if hasattr(plain, "isoformat"):
        return str(plain.isoformat())
    return [str(item) for item in plain] if isinstance(plain, list | tuple) else str(plain)
