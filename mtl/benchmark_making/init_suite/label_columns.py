"""Targets with several labels of a row, as joy and anger of one text: how columns hold them, and the keys of a task with such a target."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import TRUE, FileColumn
from mtl.benchmark_making.init_suite.guess import MULTI_LABEL, Guess
from mtl.benchmark_making.init_suite.labels import indices_of_names, label_questions, sorted_labels
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.wording import percent, quoted, quoted_names
from mtl.tasks.task import BESIDE

SEPARATOR = ";"  # between labels, unless a task names another one


@dataclass(frozen=True)
class LabelColumns:
    """Columns with several labels of each row: one of lists, as ["joy", "anger"]; one of cells with a separator, as "joy;anger"; several with a label
    or nothing in each cell; or several truth columns, each named after a label, whose cells say whether a row has this label."""

    names: Sequence[str]  # of the columns
    form: str  # how the labels stand in them, in words
    are_truths: bool = False  # whether they are truth columns
    separator: str | None = None  # between the labels of a cell; None: a cell holds one label
    question: str | None = None  # what the user has to decide, as "key: message"; None: the evidence is unique

    @property
    def target(self) -> str:
        """The target as a suite file names it."""
        return BESIDE.join(self.names)

    def as_one_column(self, table: FileTable) -> FileTable:
        """The table with the labels of each row as one column of texts, in which SEPARATOR stands between them whatever the file has. A table that
        lacks one of the columns, or has other values than truths where all should be truths, comes back as it is."""
        columns = [table.columns[name] for name in self.names if table.has(name)]
        lacks_truths = self.are_truths and not all(column.has_only_truths for column in columns)
        if len(columns) < len(self.names) or lacks_truths:
            return table
        rows = zip(*(column.lists or column.texts for column in columns), strict=True)
        cells = [SEPARATOR.join(sorted(self._labels_of_row(row))) for row in rows]
        target = FileColumn(self.target, cells, labels=columns[0].labels)
        return replace(table, columns={**table.columns, self.target: target})

    def counted_labels(self, table: FileTable) -> FileColumn:
        """The labels of all rows of a table, as a column that only says how often each occurs."""
        labels = (label for cells in table.cells(self.names) for label in self._labels_of_row(cells))
        return FileColumn(self.target, [], whole_counts=Counter(labels))

    def _labels_of_row(self, cells: Sequence[Any]) -> list[str]:
        """The labels of a row, from what stands in its columns: texts, or lists of texts."""
        if self.are_truths:
            return [name for name, cell in zip(self.names, cells, strict=True) if str(cell).lower() in TRUE]
        labels: list[str] = []
        for cell in cells:
            if isinstance(cell, list):
                labels += cell
            elif self.separator is not None:
                labels += cell.split(self.separator)
            else:
                labels.append(cell)
        return [label.strip() for label in labels if label.strip()]


def guess_multi_label(guess: Guess, label_columns: LabelColumns, tables: SplitTables) -> None:
    """Declare the keys of a task with several labels of a row, with figures of the main file. Raises InputError if no row has a label."""
    counted = {split: label_columns.counted_labels(table) for split, table in tables.items()}
    main_labels = next(iter(counted.values()))  # the first file is the main one
    all_labels = FileColumn.joined(list(counted.values()))
    if not all_labels.counts:
        raise InputError(f"no row has a label in {quoted(label_columns.target)}")
    guess.kind = MULTI_LABEL
    guess.declare(label_columns.form, kind=MULTI_LABEL)
    labels = list(label_columns.names) if label_columns.are_truths else sorted_labels(all_labels)
    names = tables.main.columns[label_columns.names[0]].labels
    indices = [] if label_columns.are_truths else indices_of_names(labels, names)
    rows = tables.main.rows
    if indices:
        guess.declare("the names are in the file's metadata", labels=names, indices=indices)
    else:
        guess.declare(f"{main_labels.counts.total() / rows:.2f} in a row", labels=labels)
    _declare_separator(guess, label_columns.separator or SEPARATOR)
    rarest = min(labels, key=lambda label: main_labels.counts[label])
    in_rows = f"the rarest label, {quoted(rarest)}, is in {percent(main_labels.counts[rarest], rows)} of the rows"
    guess.declare(f"{in_rows}; multi_macro_f1 counts all labels alike", metric="micro_f1")
    guess.questions += label_questions(main_labels, all_labels, counted)


def _declare_separator(guess: Guess, separator: str) -> None:
    """Declare a separator other than the usual one; if the usual one would cut a label, ask for another one."""
    cut = [label for label in guess.keys["labels"] if SEPARATOR in label]
    if separator != SEPARATOR:
        guess.declare("", label_separator=separator)
    elif cut:
        problem = f"{quoted_names(cut)} would be cut at {SEPARATOR}, which stands between labels"
        guess.questions.append(f"label_separator: {problem}; name a sign that no label holds")
