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
    """Columns, or the cells of one column, that look like several labels of each row."""

    columns: Sequence[str]  # their names
    form: str  # how the labels stand in them, in words
    separator: str | None = None  # between the labels of a cell; None: a cell has one label, or a column has lists
    by_truth: bool = False  # whether each column is named after a label, and says whether a row has it
    question: str | None = None  # what the user has to decide, as "key: message"; None: the evidence is unique

    @property
    def target(self) -> str:
        """The target as a suite file names it."""
        return BESIDE.join(self.columns)

    def labels_by_row(self, table: FileTable) -> list[list[str]] | None:
        """The labels of each row that was looked at; None if the table lacks them, or has something else in these columns."""
        columns = [table.columns[name] for name in self.columns if table.has(name)]
        has_all = len(columns) == len(self.columns) and all(column.lists or column.texts for column in columns)
        if not has_all or (self.by_truth and not all(column.has_only_truths for column in columns)):
            return None
        cells = [column.lists or column.texts for column in columns]
        return list(map(self._labels_of_row, zip(*cells, strict=True)))

    def _labels_of_row(self, cells: Sequence[str] | Sequence[list[str]]) -> list[str]:
        """The labels of a row, from what stands in its columns."""
        if self.by_truth:
            return [name for name, cell in zip(self.columns, cells, strict=True) if str(cell).lower() in TRUE]
        labels: list[str] = []
        for cell in cells:
            labels += cell if isinstance(cell, list) else cell.split(self.separator) if self.separator else [cell]
        return [label for label in map(str.strip, labels) if label]

    def joined_labels(self, table: FileTable) -> FileColumn:
        """The labels of all rows of a table, one after another; of a table that was sampled, only how often each occurs."""
        labels = self.labels_by_row(table) or []
        if len(labels) == table.rows:
            return FileColumn(self.target, list(chain(*labels)))
        counts = Counter(chain.from_iterable(map(self._labels_of_row, table.cells(self.columns))))
        return FileColumn(self.target, [], all_counts=counts)

    def with_labels(self, table: FileTable) -> FileTable:
        """The table with the labels of each row as one column of texts, if it has them."""
        if (labels_by_row := self.labels_by_row(table)) is None:
            return table
        cells = [SEPARATOR.join(sorted(labels)) for labels in labels_by_row]
        return replace(table, columns={**table.columns, self.target: FileColumn(self.target, cells)})


def several_labels(table: FileTable, columns: Sequence[FileColumn]) -> SeveralLabels | None:
    """What in these columns, which may hold targets, or in lists looks like several labels of each row; None: nothing."""
    truths = [column.name for column in columns if column.is_truth]
    if len(truths) > 2 or (len(truths) == 2 and len(columns) == 2):
        # Nothing tells labels from features, such as has_negation beside is_entailed, or from the answers of several people.
        ways = f"several labels of a row (kind: {MULTI_LABEL}), or is one of them the target (target: NAME)?"
        question = f"kind: {quoted_names(truths)} are true or false: {ways}"
        return SeveralLabels(truths, f"{len(truths)} columns of two truth values", by_truth=True, question=question)
    if column := next((column for column in table.columns.values() if _is_list_of_labels(column, table)), None):
        return SeveralLabels([column.name], f"lists of {len({*chain(*column.lists)})} different labels")
    return next(filter(None, map(_in_cells, columns)), None)


def named_labels(table: FileTable, known: Mapping[str, Any]) -> SeveralLabels | None:
    """The labels in the columns that the user names as the target; None for one label of each row, and for columns that the table lacks."""
    names = str(known["target"]).split(BESIDE)
    columns = [table.columns[name] for name in names if name in table.columns]
    if known.get("kind", MULTI_LABEL) != MULTI_LABEL or len(columns) < len(names):
        return None
    if len(columns) > 1:
        by_truth = all(column.has_only_truths for column in columns)
        return SeveralLabels(names, f"{len(columns)} columns", by_truth=by_truth)
    is_known = known.get("kind") == MULTI_LABEL or "label_separator" in known
    if columns[0].lists:
        return SeveralLabels(names, "lists of labels") if is_known or _is_list_of_labels(columns[0], table) else None
    likely = _in_cells(columns[0])
    separator = known.get("label_separator") or (likely.separator if likely else SEPARATOR)
    return SeveralLabels(names, "cells with labels", separator) if is_known else likely


def guess_several(guess: Guess, several: SeveralLabels, tables: Mapping[str, FileTable]) -> None:
    """Declare kind, labels, separator and metric of a task with several labels; the first table gives the figures."""
    by_split = {split: several.joined_labels(table) for split, table in tables.items()}
    main, main_labels = next(iter(tables.values())), next(iter(by_split.values()))
    joined, names = FileColumn.joined(list(by_split.values())), main.columns[several.columns[0]].labels
    indices = [] if several.by_truth else indices_of_names(joined.counts, names)
    if indices:
        guess.declare("the names are in the file's metadata", indices=indices)
    labels = _label_names(several, joined, names if indices else ())
    guess.kind = MULTI_LABEL
    guess.declare(several.form, kind=MULTI_LABEL)
    guess.declare(f"{main_labels.rows / main.rows:.2f} in a row", labels=labels)
    if (separator := _free_separator(several, labels)) != SEPARATOR:
        guess.declare("", label_separator=separator)
    counts = main_labels.counts
    label = min([*counts, *(several.columns if several.by_truth else ())], key=counts.__getitem__)
    rarest = f"the rarest label, {quoted(label)}, is in {share(counts[label], main.rows)} of the rows"
    guess.declare(f"{rarest}; multi_macro_f1 counts all labels alike", metric="micro_f1")
    guess.questions += label_questions(main_labels, joined, by_split)


def _label_names(several: SeveralLabels, joined: FileColumn, names: Sequence[str]) -> list[str]:
    """The labels in the order of a suite file: the names of columns, or those that indices stand for, else all of the files."""
    if several.by_truth:
        return list(several.columns)
    return list(names) or sorted(joined.counts, key=_numbers_first)


def _numbers_first(label: str) -> tuple[bool, int, str]:
    """A key that sorts whole numbers before other labels, those of fewer digits first."""
    is_number = label.isdecimal()
    return not is_number, len(label) if is_number else 0, label


def _free_separator(several: SeveralLabels, labels: Sequence[str]) -> str:
    """The separator of the cells, else one for lists that is in no label; SEPARATOR if all are in some."""
    possible = [several.separator] if several.separator else SPARE
    return next((sign for sign in possible if not any(sign in label for label in labels)), SEPARATOR)


def _is_list_of_labels(column: FileColumn, table: FileTable) -> bool:
    """Whether lists are sets of labels: of few labels, none twice in a row, and not one for each word or each item of another column."""
    if not column.lists or (TOKEN_NAMES - {"tag", "tags"}) & set(column.words) or column.is_candidates:
        return False
    sizes, counts = [len(row) for row in column.lists], Counter(chain(*column.lists))
    are_few_and_frequent = 1 < len(counts) <= MOST_PARTS and counts.total() >= LEAST_REPEATED * len(counts)
    if not are_few_and_frequent or len(set(sizes)) < 2:
        return False
    rest = [table.columns[name] for name in table.columns if name != column.name]
    sizes_of_rest = [[len(row) for row in items.lists or map(str.split, items.texts)] for items in rest]
    return sizes not in sizes_of_rest and all(len({*row}) == len(row) for row in column.lists)


def _in_cells(column: FileColumn) -> SeveralLabels | None:
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
