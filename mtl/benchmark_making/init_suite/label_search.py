"""Which columns of a file may hold several labels of a row: sets of labels in lists or in cells, or several columns of truth values."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from mtl.benchmark_making.init_suite.choice import are_candidates
from mtl.benchmark_making.init_suite.column_names import TOKEN_NAMES
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.guess import MULTI_LABEL, TaskKeys
from mtl.benchmark_making.init_suite.label_columns import SEPARATOR, LabelColumns
from mtl.benchmark_making.init_suite.tables import FileTable
from mtl.benchmark_making.init_suite.wording import quoted, quoted_names
from mtl.tasks.task import BESIDE

SEPARATORS = (",", SEPARATOR, "|", " ")  # that may stand between the labels of a cell
MOST_LABELS = 200  # different ones that lists may have
LEAST_REPEATED = 3  # how often labels in lists occur on average, at least: words and names do so less often


def named_label_columns(table: FileTable, known: TaskKeys) -> LabelColumns | None:
    """The labels in the columns that the user names as the target; None for one label of each row, and for columns that the table lacks."""
    names = str(known["target"]).split(BESIDE)
    columns = [table.columns[name] for name in names if name in table.columns]
    if known.get("kind", MULTI_LABEL) != MULTI_LABEL or len(columns) < len(names):
        return None
    if len(columns) > 1:
        are_truths = all(column.has_only_truths for column in columns)
        return LabelColumns(names, f"{len(columns)} columns", are_truths=are_truths)
    likely = next((way for way in possible_label_columns(table, columns) if way.names == names), None)
    if known.keys().isdisjoint({"kind", "label_separator"}):  # the user leaves open whether there are several
        return likely
    if columns[0].lists:
        return LabelColumns(names, "lists of labels")
    separator = known.get("label_separator") or (likely.separator if likely else SEPARATOR)
    return LabelColumns(names, "cells with labels", separator=separator)


def possible_label_columns(table: FileTable, columns: Sequence[FileColumn]) -> list[LabelColumns]:
    """What may be several labels of a row, the most probable first; lists of labels need not be in these columns."""
    in_cells = chain.from_iterable(map(_labels_in_cells, columns))
    return [*_truth_columns(columns), *_lists_of_labels(table), *in_cells]


def _truth_columns(columns: Sequence[FileColumn]) -> Iterator[LabelColumns]:
    """The columns of two truth values each, if there are several, with a question."""
    names = [column.name for column in columns if column.is_truth_pair]
    if len(names) > 1:
        # Nothing tells labels from features, such as has_negation beside is_entailment, or from the answers of several people.
        ways = f"several labels of a row (kind: {MULTI_LABEL}), or is one of them the target (target: NAME)?"
        question = f"kind: {quoted_names(names)} are true or false: {ways}"
        yield LabelColumns(names, f"{len(names)} columns of two truth values", are_truths=True, question=question)


def _lists_of_labels(table: FileTable) -> Iterator[LabelColumns]:
    """The columns whose lists are sets of labels, without those with one item for each word, or each item, of another column."""
    sets = [column for column in table.columns.values() if _are_sets_of_labels(column)]
    if not sets:
        return
    sizes: dict[str, tuple[int, ...]] = {}  # by column, the numbers of items, or of words, in its rows
    for name, column in table.columns.items():
        sizes[name] = tuple(map(len, column.lists or map(str.split, column.texts)))
    for column in sets:
        if list(sizes.values()).count(sizes[column.name]) == 1:
            yield LabelColumns([column.name], f"lists of {len(set(chain(*column.lists)))} different labels")


def _are_sets_of_labels(column: FileColumn) -> bool:
    """Whether lists have few different items, none twice in a row, and not equally many in all rows. Lists of candidates or tokens are no labels."""
    if not column.lists or are_candidates(column) or (TOKEN_NAMES - {"tag", "tags"}) & set(column.words):
        return False
    counts = Counter(chain(*column.lists))
    if not 1 < len(counts) <= MOST_LABELS or counts.total() < LEAST_REPEATED * len(counts):
        return False
    are_sets = all(len(set(row)) == len(row) for row in column.lists)
    return are_sets and len(set(map(len, column.lists))) > 1


def _labels_in_cells(column: FileColumn) -> Iterator[LabelColumns]:
    """The labels in cells such as "joy,anger", cut at the first separator that looks like one, with the question whether it is."""
    for separator in SEPARATORS:
        if labels := _labels_between(column, separator):
            example = next(value for value in column.counts if separator in value.strip())
            form = f"cells with several of {len(labels)} labels, as in {quoted(example)}"
            several = f'several labels of a row (kind: {MULTI_LABEL}, label_separator: "{separator}")'
            question = f"kind: {quoted(column.name)}: {form}: {several}, or one label (kind: labels)?"
            yield LabelColumns([column.name], form, separator=separator, question=question)
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
