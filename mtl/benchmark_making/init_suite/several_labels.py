"""Targets with several labels of a row, as joy and anger of one text: the columns that may hold them, and the keys of a task with such a target."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.choice import are_candidates
from mtl.benchmark_making.init_suite.column_names import TOKEN_NAMES
from mtl.benchmark_making.init_suite.file_column import TRUE, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.labels import MULTI_LABEL, indices_of_names, label_questions, sorted_labels
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.wording import percent, quoted, quoted_names
from mtl.tasks.task import BESIDE

SEPARATOR = ";"  # between labels, unless a task names another one
SEPARATORS = (",", SEPARATOR, "|", " ")  # that may stand between the labels of a cell
MOST_LABELS = 200  # different ones that lists may have
LEAST_REPEATED = 3  # how often labels in lists occur on average, at least: words and names do so less often


@dataclass(frozen=True)
class SeveralLabels:
    """Columns with several labels of each row: one of lists, as ["joy", "anger"]; one of cells with a separator, as "joy;anger"; several with a label
    or nothing in each cell; or several truth columns, each named after a label, whose cells say whether a row has this label."""

    columns: Sequence[str]  # their names
    form: str  # how the labels stand in them, in words
    are_truths: bool = False  # whether they are truth columns
    separator: str | None = None  # between the labels of a cell; None: a cell holds one label
    question: str | None = None  # what the user has to decide, as "key: message"; None: the evidence is unique

    @property
    def target(self) -> str:
        """The target as a suite file names it."""
        return BESIDE.join(self.columns)

    def with_labels(self, table: FileTable) -> FileTable:
        """The table with the labels of each row as one column of texts, in which SEPARATOR stands between them whatever the file has. A table that
        lacks one of the columns, or has other values than truths where all should be truths, comes back as it is."""
        columns = [table.columns[name] for name in self.columns if table.has(name)]
        if len(columns) < len(self.columns) or (
            self.are_truths and not all(column.has_only_truths for column in columns)
        ):
            return table
        rows = zip(*(column.lists or column.texts for column in columns), strict=True)
        cells = [SEPARATOR.join(sorted(self._labels_of_row(row))) for row in rows]
        target = FileColumn(self.target, cells, labels=columns[0].labels)
        return replace(table, columns={**table.columns, self.target: target})

    def counted_labels(self, table: FileTable) -> FileColumn:
        """The labels of all rows of a table, as a column that only says how often each occurs."""
        labels = (label for cells in table.cells(self.columns) for label in self._labels_of_row(cells))
        return FileColumn(self.target, [], whole_counts=Counter(labels))

    def _labels_of_row(self, cells: Sequence[Any]) -> list[str]:
        """The labels of a row, from what stands in its columns: texts, or lists of texts."""
        if self.are_truths:
            return [name for name, cell in zip(self.columns, cells, strict=True) if str(cell).lower() in TRUE]
        labels: list[str] = []
        for cell in cells:
            if isinstance(cell, list):
                labels += cell
            elif self.separator is not None:
                labels += cell.split(self.separator)
            else:
                labels.append(cell)
        return [label.strip() for label in labels if label.strip()]


def named_labels(table: FileTable, known: Mapping[str, Any]) -> SeveralLabels | None:
    """The labels in the columns that the user names as the target; None for one label of each row, and for columns that the table lacks."""
    names = str(known["target"]).split(BESIDE)
    columns = [table.columns[name] for name in names if name in table.columns]
    if known.get("kind", MULTI_LABEL) != MULTI_LABEL or len(columns) < len(names):
        return None
    if len(columns) > 1:
        are_truths = all(column.has_only_truths for column in columns)
        return SeveralLabels(names, f"{len(columns)} columns", are_truths=are_truths)

    likely = next((several for several in several_labels(table, columns) if several.columns == names), None)
    if not {"kind", "label_separator"} & known.keys():  # the user leaves open whether there are several
        return likely
    if columns[0].lists:
        return SeveralLabels(names, "lists of labels")
    separator = known.get("label_separator") or (likely.separator if likely else SEPARATOR)
    return SeveralLabels(names, "cells with labels", separator=separator)


def several_labels(table: FileTable, columns: Sequence[FileColumn]) -> list[SeveralLabels]:
    """What may be several labels of a row: of these columns, those of truth values and those of cells with a separator; and lists of labels."""
    possible: list[SeveralLabels] = []
    truths = [column.name for column in columns if column.is_truth_pair]
    if len(truths) > 1:
        # Nothing tells labels from features, such as has_negation beside is_entailment, or from the answers of several people.
        ways = f"several labels of a row (kind: {MULTI_LABEL}), or is one of them the target (target: NAME)?"
        question = f"kind: {quoted_names(truths)} are true or false: {ways}"
        form = f"{len(truths)} columns of two truth values"
        possible.append(SeveralLabels(truths, form, are_truths=True, question=question))
    possible += _lists_of_labels(table)
    for column in columns:
        possible += _labels_in_cells(column)
    return possible


def _lists_of_labels(table: FileTable) -> Iterator[SeveralLabels]:
    """The columns whose lists are sets of labels, without those with one item for each word, or each item, of another column."""
    sets = [column for column in table.columns.values() if _are_sets_of_labels(column)]
    if not sets:
        return
    sizes: dict[str, tuple[int, ...]] = {}  # by column, the numbers of items, or of words, in its rows
    for name, column in table.columns.items():
        sizes[name] = tuple(map(len, column.lists or map(str.split, column.texts)))
    for column in sets:
        if list(sizes.values()).count(sizes[column.name]) == 1:
            labels = set(chain(*column.lists))
            yield SeveralLabels([column.name], f"lists of {len(labels)} different labels")


def _are_sets_of_labels(column: FileColumn) -> bool:
    """Whether lists have few different items, none twice in a row, and not equally many in all rows. Lists of candidates or tokens are no labels."""
    if not column.lists or are_candidates(column) or (TOKEN_NAMES - {"tag", "tags"}) & set(column.words):
        return False
    counts = Counter(chain(*column.lists))
    if not 1 < len(counts) <= MOST_LABELS or counts.total() < LEAST_REPEATED * len(counts):
        return False
    return all(len(set(row)) == len(row) for row in column.lists) and len({*map(len, column.lists)}) > 1


def _labels_in_cells(column: FileColumn) -> Iterator[SeveralLabels]:
    """The labels in cells such as "joy,anger", cut at the first separator that looks like one, with the question whether it is."""
    for separator in SEPARATORS:
        if labels := _labels_between(column, separator):
            example = next(value for value in column.counts if separator in value.strip())
            form = f"cells with several of {len(labels)} labels, as in {quoted(example)}"
            several = f'several labels of a row (kind: {MULTI_LABEL}, label_separator: "{separator}")'
            question = f"kind: {quoted(column.name)}: {form}: {several}, or one label (kind: labels)?"
            yield SeveralLabels([column.name], form, separator=separator, question=question)
            return


def _labels_between(column: FileColumn, separator: str) -> set[str]:
    """The labels of cells that are cut at a separator, if it looks like one: at least half of the labels stand alone in other cells, too, or no cell
    has a single label. The latter is no evidence for a space, which is in all cells of texts, too."""
    multiple = [value for value in column.counts if separator in value.strip()]
    single = {value.strip() for value in column.counts if separator not in value.strip()}
    parts = {part.strip() for value in multiple for part in value.split(separator)}
    labels = parts.union(single) - {""}
    half_stand_alone = 2 * len(parts & single) >= len(labels)
    no_single_label = not single and separator != " "
    is_separator = bool(multiple) and (half_stand_alone or no_single_label)
    return labels if is_separator and 1 < len(labels) < len(column.counts) else set()


def guess_several(guess: Guess, several: SeveralLabels, tables: SplitTables) -> None:
    """Declare the keys of a task with several labels of a row, with figures of the main file. Raises InputError if no row has a label."""
    counted = {split: several.counted_labels(table) for split, table in tables.items()}
    main_labels = next(iter(counted.values()))  # the first file is the main one
    all_labels = FileColumn.joined(list(counted.values()))
    if not all_labels.counts:
        raise InputError(f"no row has a label in {quoted(several.target)}")
    guess.kind = MULTI_LABEL
    guess.declare(several.form, kind=MULTI_LABEL)
    labels = list(several.columns) if several.are_truths else sorted_labels(all_labels)
    names = tables.main.columns[several.columns[0]].labels
    indices = [] if several.are_truths else indices_of_names(labels, names)
    rows = tables.main.rows
    if indices:
        guess.declare("the names are in the file's metadata", labels=names, indices=indices)
    else:
        guess.declare(f"{main_labels.counts.total() / rows:.2f} in a row", labels=labels)
    _declare_separator(guess, several.separator or SEPARATOR)
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
