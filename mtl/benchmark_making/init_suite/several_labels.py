"""Targets with several labels of a row: in lists, in cells with a separator, or in columns with a label or nothing, or with two truth values."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from mtl.benchmark_making.init_suite.file_column import TOKEN_NAMES, TRUE, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, quoted, quoted_names, share
from mtl.benchmark_making.init_suite.labels import MULTI_LABEL, indices_of_names, label_questions
from mtl.benchmark_making.init_suite.tables import FileTable
from mtl.tasks.task import BESIDE

SEPARATOR = ";"  # between labels, unless a task names another one
SEPARATORS = (",", ";", "|", " ")  # of several labels in a cell
SPARE = (SEPARATOR, "|", " / ", " # ")  # between the labels of lists, some of which may hold a semicolon
MOST_PARTS = 200  # different labels that cells with several labels may have
LEAST_REPEATED = 3  # how often labels in lists occur on average, at least: words and names do so less often
LEAST_ALONE = 0.5  # the least share of the parts of cells that are a cell alone, too: words of a text hardly are


@dataclass(frozen=True)
class SeveralLabels:
    """Columns, or the cells of one column, that hold several labels of each row."""

    columns: Sequence[str]  # their names
    form: str  # how the labels stand in them, in words
    separator: str | None = None  # between the labels of a cell; None: a cell is a list of labels, or one label or none
    by_truth: bool = False  # whether each column is named after a label, and says whether a row has it
    question: str | None = None  # what the user has to decide, as "key: message"; None: the evidence is unique

    @property
    def target(self) -> str:
        """The target as a suite file names it."""
        return BESIDE.join(self.columns)

    def labels_by_row(self, table: FileTable) -> list[list[str]] | None:
        """The labels of each row that was looked at; None if the table lacks them, or has something else in these columns."""
        columns = [table.columns[name] for name in self.columns if table.has(name)]
        are_other = self.by_truth and not all(column.has_only_truths for column in columns)
        if are_other or len(columns) < len(self.columns):
            return None
        cells = [column.lists or column.texts for column in columns]
        return [self._labels_of_row(row) for row in zip(*cells, strict=True)]

    def joined_labels(self, table: FileTable) -> FileColumn:
        """The labels of all rows of a table, one after another; of a table that was sampled, only how often each occurs."""
        labels_by_row = self.labels_by_row(table) or []
        if len(labels_by_row) == table.rows:
            return FileColumn(self.target, list(chain.from_iterable(labels_by_row)))
        all_labels = (label for cells in table.cells(self.columns) for label in self._labels_of_row(cells))
        return FileColumn(self.target, [], all_counts=Counter(all_labels))

    def with_labels(self, table: FileTable) -> FileTable:
        """The table with the labels of each row as one column of texts, if it has them."""
        labels_by_row = self.labels_by_row(table)
        if labels_by_row is None:
            return table
        cells = [SEPARATOR.join(sorted(labels)) for labels in labels_by_row]
        return replace(table, columns={**table.columns, self.target: FileColumn(self.target, cells)})

    def _labels_of_row(self, cells: Sequence[Any]) -> list[str]:
        """The labels of a row, from what stands in its columns: texts, or lists of texts."""
        if self.by_truth:
            return [name for name, cell in zip(self.columns, cells, strict=True) if str(cell).lower() in TRUE]
        labels: list[str] = []
        for cell in cells:
            if isinstance(cell, list):
                labels += cell
            else:
                labels += [cell] if self.separator is None else cell.split(self.separator)
        return [label.strip() for label in labels if label.strip()]


def several_labels(table: FileTable, columns: Sequence[FileColumn]) -> SeveralLabels | None:
    """What in these columns, which may hold targets, or in lists looks like several labels of each row; None: nothing."""
    truths = [column.name for column in columns if column.is_truth]
    if len(truths) > 2 or (len(truths) == 2 and len(columns) == 2):
        # Nothing tells labels from features, such as has_negation beside is_entailed, or from the answers of several people.
        ways = f"several labels of a row (kind: {MULTI_LABEL}), or is one of them the target (target: NAME)?"
        question = f"kind: {quoted_names(truths)} are true or false: {ways}"
        return SeveralLabels(truths, f"{len(truths)} columns of two truth values", by_truth=True, question=question)
    for column in table.columns.values():
        if _holds_lists_of_labels(column, table):
            return SeveralLabels([column.name], f"lists of {len({*chain(*column.lists)})} different labels")
    in_cells = (_labels_in_cells(column) for column in columns)
    return next((several for several in in_cells if several is not None), None)


def named_labels(table: FileTable, known: Mapping[str, Any]) -> SeveralLabels | None:
    """The labels in the columns that the user names as the target; None for one label of each row, and for columns that the table lacks."""
    names = str(known["target"]).split(BESIDE)
    columns = [table.columns[name] for name in names if name in table.columns]
    if known.get("kind", MULTI_LABEL) != MULTI_LABEL or len(columns) < len(names):
        return None
    if len(columns) > 1:
        by_truth = all(column.has_only_truths for column in columns)
        return SeveralLabels(names, f"{len(columns)} columns", by_truth=by_truth)
    column, is_known = columns[0], known.get("kind") == MULTI_LABEL or "label_separator" in known
    if column.lists:
        return SeveralLabels(names, "lists of labels") if is_known or _holds_lists_of_labels(column, table) else None
    likely = _labels_in_cells(column)
    if not is_known:
        return likely
    separator = known.get("label_separator") or (likely.separator if likely else SEPARATOR)
    return SeveralLabels(names, "cells with labels", separator)


def guess_several(guess: Guess, several: SeveralLabels, tables: Mapping[str, FileTable]) -> None:
    """Declare kind, labels, separator and metric of a task with several labels; the first table gives the figures."""
    by_split = {split: several.joined_labels(table) for split, table in tables.items()}
    main, main_labels = next(iter(tables.values())), next(iter(by_split.values()))
    joined = FileColumn.joined(list(by_split.values()))
    names = main.columns[several.columns[0]].labels
    if several.by_truth:
        labels = list(several.columns)
    elif indices := indices_of_names(joined.counts, names):
        labels = list(names)
        guess.declare("the names are in the file's metadata", indices=indices)
    else:
        labels = sorted(joined.counts, key=_numbers_first)
    guess.kind = MULTI_LABEL
    guess.declare(several.form, kind=MULTI_LABEL)
    guess.declare(f"{main_labels.rows / main.rows:.2f} in a row", labels=labels)
    possible = SPARE if several.separator is None else [several.separator]
    free = [separator for separator in possible if not any(separator in label for label in labels)]
    if free and free[0] != SEPARATOR:
        guess.declare("", label_separator=free[0])
    counts = main_labels.counts
    rarest = min([*counts, *several.columns] if several.by_truth else counts, key=counts.__getitem__)
    in_rows = f"the rarest label, {quoted(rarest)}, is in {share(counts[rarest], main.rows)} of the rows"
    guess.declare(f"{in_rows}; multi_macro_f1 counts all labels alike", metric="micro_f1")
    guess.questions += label_questions(main_labels, joined, by_split)


def _numbers_first(label: str) -> tuple[bool, int, str]:
    """A key that sorts whole numbers before other labels, those of fewer digits first."""
    is_number = label.isdecimal()
    return not is_number, len(label) if is_number else 0, label


def _holds_lists_of_labels(column: FileColumn, table: FileTable) -> bool:
    """Whether lists are sets of labels: of few labels, none twice in a row, and not one for each word or each item of another column."""
    if not column.lists or column.is_candidates or (TOKEN_NAMES - {"tag", "tags"}) & set(column.words):
        return False
    counts = Counter(chain(*column.lists))
    if not 1 < len(counts) <= MOST_PARTS or counts.total() < LEAST_REPEATED * len(counts):
        return False
    are_sets = all(len(set(row)) == len(row) for row in column.lists)
    sizes = [len(row) for row in column.lists]
    columns = [other for name, other in table.columns.items() if name != column.name]
    sizes_of_others = [[len(row) for row in other.lists or map(str.split, other.texts)] for other in columns]
    return are_sets and len(set(sizes)) > 1 and sizes not in sizes_of_others


def _labels_in_cells(column: FileColumn) -> SeveralLabels | None:
    """The several labels in cells such as "joy,anger", beside cells with one of them; None: the column has none."""
    for separator in SEPARATORS:
        multiple = [value for value in column.counts if separator in value.strip()]
        single = {*column.counts} - {*multiple}
        in_multiple = {part.strip() for value in multiple for part in value.split(separator)}
        parts = (in_multiple | {value.strip() for value in single}) - {""}
        if not multiple or not 1 < len(parts) < len(column.counts) or len(parts) > MOST_PARTS:
            continue
        if len(in_multiple & single) >= LEAST_ALONE * len(parts) or (separator != " " and not single):
            form = f"cells with several of {len(parts)} labels, as in {quoted(multiple[0])}"
            ways = f'several labels of a row (kind: {MULTI_LABEL}, label_separator: " "), or labels of several words (kind: labels)?'
            question = f"kind: {quoted(column.name)}: {form}: {ways}" if separator == " " else None
            return SeveralLabels([column.name], form, separator, question=question)
    return None
