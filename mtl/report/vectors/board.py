"""Evaluations of sentence encoders on one benchmark: the content of every form of the report.

There are two kinds of boards. One has the published rows, and of our rows only the scores that are comparable with them: on exact data.
The other has only our rows, with all their scores; a column is a task on one version of its rows, so that all scores in a column are on the
same data. Thus no score on reduced data stands beside a published one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean

from mtl.mteb.benchmark import Benchmark, PublishedRow
from mtl.mteb.results import EXACT, Evaluation, choice_note, not_comparable_notes

# Titles of the families of rows, in the order of the table. An unknown family comes last, under its own name.
FAMILIES = {
    "static": "static vectors",
    "average": "averaged vectors",
    "lstm": "LSTM",
    "transformer": "transformer",
    "multilingual": "multilingual transformer",
    "polish": "Polish transformer",
}
AVERAGE, BY_TYPE = "average", "average_by_type"
COSTS = {
    "seconds_per_task": "s/task",
    "sentences_per_second": "sentences/s",
    "parameters": "parameters",
    "parameters_without_embeddings": "without embeddings",
    "memory": "memory",
    "dim": "dim",
}


@dataclass(frozen=True)
class Column:
    """A task on one version of its rows. id: unique on the board. of_type: the type's id."""

    id: str
    task: str
    title: str
    metric: str
    of_type: str


@dataclass(frozen=True, eq=False)
class VectorRow:
    """A row of a board. scores × 100 by column id. seen: the columns with training rows that the encoder has seen.

    printed: the averages as published, by AVERAGE and BY_TYPE. evaluation: None for a published row.
    """

    name: str
    label: str
    family: str
    scores: Mapping[str, float]
    seen: Sequence[str] = ()
    printed: Mapping[str, float] = field(default_factory=dict)
    evaluation: Evaluation | None = None


@dataclass(frozen=True)
class VectorBoard:
    """The rows of one benchmark. id: as in labels of LaTeX. notes: sentences that explain the rows."""

    id: str
    title: str
    benchmark: Benchmark
    columns: Sequence[Column]
    rows: Sequence[VectorRow]
    notes: Sequence[str]

    @cached_property
    def types(self) -> dict[str, list[Column]]:
        """The columns of each type that the board has, by the type's id."""
        by_type = {name: [column for column in self.columns if column.of_type == name] for name in self.benchmark.types}
        return {name: columns for name, columns in by_type.items() if columns}

    def type_title(self, name: str) -> str:
        return self.benchmark.types[name].title

    @cached_property
    def unscored(self) -> list[str]:
        """The benchmark's tasks without a column: every average of the board lacks them."""
        return self.benchmark.missing({column.task for column in self.columns})

    def tasks(self, row: VectorRow) -> set[str]:
        """The tasks on which the row has a score, on whichever version of their rows."""
        return {column.task for column in self.columns if column.id in row.scores}

    def missing(self, row: VectorRow) -> list[str]:
        """The benchmark's tasks without a score: the average over tasks is then partial."""
        return self.benchmark.missing(self.tasks(row))

    def type_mean(self, row: VectorRow, name: str) -> float | None:
        """The mean of a type × 100; None unless the row has a score on each task of the type that the board has."""
        scores = [row.scores[column.id] for column in self.types[name] if column.id in row.scores]
        return fmean(scores) if {column.task for column in self.types[name]} <= self.tasks(row) else None

    @cached_property
    def whole_averages(self) -> bool:
        """Whether there are published rows: beside them, a row of ours has an average only over all tasks of the benchmark."""
        return any(row.evaluation is None for row in self.rows)

    def average(self, row: VectorRow) -> float | None:
        """The mean over tasks, as printed, or of the scores that the row has; None for `whole_averages`, if one of ours lacks a task."""
        if self.whole_averages and row.evaluation is not None and self.missing(row):
            return None
        return row.printed.get(AVERAGE, fmean(row.scores.values()) if row.scores else None)

    def average_by_type(self, row: VectorRow) -> float | None:
        """The mean over types, as printed, or of the types' means; None unless the row has all of them."""
        means = [mean for name in self.types if (mean := self.type_mean(row, name)) is not None]
        return row.printed.get(BY_TYPE, fmean(means) if len(means) == len(self.types) else None)

    def mark(self, row: VectorRow, tasks: Collection[str]) -> str:
        """The mark of a score or a mean over these tasks. *: one is missing. ‡: the encoder has seen training rows of one."""
        lacking = not self.tasks(row).issuperset(tasks)
        seen = any(column.id in row.seen for column in self.columns if column.task in tasks)
        return ("*" if lacking and row.scores else "") + ("‡" if seen else "")

    def type_mark(self, row: VectorRow, name: str) -> str:
        """The mark of the mean of a type, over all tasks of the benchmark's type."""
        return self.mark(row, self.benchmark.types[name].tasks)


def vector_boards(evaluations: Sequence[Evaluation]) -> list[VectorBoard]:
    """For each benchmark a board of the published rows and the scores comparable with them, and one of all scores of ours.

    The second is left out if it would have no score that the first lacks. Evaluations with other tasks or metrics under the same name
    have boards of their own. The published rows are those of the benchmark's newest copy.
    """
    groups: dict[tuple[str, str], list[Evaluation]] = {}
    for evaluation in evaluations:
        benchmark = evaluation.benchmark
        groups.setdefault((benchmark.name, repr(benchmark.types)), []).append(evaluation)
    boards = []
    for number, ((name, _), group) in enumerate(groups.items()):
        earlier = sum(other == name for other, _ in list(groups)[:number])
        id = f"{name}-{earlier + 1}" if earlier else name
        boards.append(_published_board(id, _newest(group), group))
        if any(not one.is_comparable(task) for one in group for task in one.summary["tasks"]):
            boards.append(_own_board(id, _newest(group), group))
    return [board for board in boards if board.rows]


def _newest(evaluations: Sequence[Evaluation]) -> Benchmark:
    """The benchmark as the last of these evaluations read it."""
    return max(evaluations, key=lambda one: one.folder.benchmark.stat().st_mtime).benchmark


def _published_board(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> VectorBoard:
    columns = [_column(benchmark, name, name, name) for name in benchmark.tasks]
    ids = {(one.path, task): task for one in evaluations for task in one.summary["tasks"] if one.is_comparable(task)}
    rows = [row for row in _own_rows(evaluations, ids) if row.scores]
    notes = [
        "Scores × 100. AVG is the mean over tasks, by type the mean over the means of the types. Our rows are scored by mteb's own"
        " evaluation, on the rows that mteb describes; scores on other rows are left out here.",
    ]
    if rows:
        notes += not_comparable_notes(benchmark, list(benchmark.tasks))
    if benchmark.published and any(benchmark.missing(row.scores) for row in rows):
        notes.append("A row of ours that lacks a task of the benchmark has no AVG beside the published ones.")
    rows += [_published(row, columns) for row in benchmark.published]
    notes += _source_notes(benchmark)
    return VectorBoard(id, benchmark.title, benchmark, columns, _sorted(rows), notes + _row_notes(rows))


def _own_board(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> VectorBoard:
    """All scores of ours. A task whose rows differ between evaluations has a column for each version."""
    ids: dict[tuple[Path, str], str] = {}
    columns, notes = [], ["Scores × 100 of our rows alone, on data of which some is not the benchmark's."]
    for task in benchmark.tasks:
        records = {
            one.summary["tasks"][task]["revision"]: one.summary["tasks"][task]
            for one in evaluations
            if task in one.summary["tasks"]
        }
        for number, (revision, record) in enumerate(records.items(), 1):
            title = f"{task}, rows {number}" if len(records) > 1 else task
            column = _column(benchmark, task, f"{task}@{revision}", title)
            columns.append(column)
            if record["data"] != EXACT:
                notes.append(f"† {title}: {record['data']} data ({'; '.join(record['differences'])}).")
            for one in evaluations:
                evaluated = one.summary["tasks"].get(task)
                if evaluated and evaluated["revision"] == revision:
                    ids[one.path, task] = column.id
    if len(columns) > len({column.task for column in columns}):
        notes.append("Means over different versions of a task's rows cannot be compared with each other.")
    rows = _own_rows(evaluations, ids)
    title = f"{benchmark.title}, local data: not comparable with published scores"
    return VectorBoard(f"{id}-local", title, benchmark, columns, _sorted(rows), notes + _row_notes(rows))


def _column(benchmark: Benchmark, task: str, id: str, title: str) -> Column:
    of_type = benchmark.type_of(task)
    return Column(id, task, title, benchmark.types[of_type].metric_title, of_type)


def _own_rows(evaluations: Sequence[Evaluation], ids: Mapping[tuple[Path, str], str]) -> list[VectorRow]:
    """The rows of evaluations. ids: the column of an evaluation's task, by the evaluation's folder and the task; others are left out.

    Seeds of one run have the same title; their rows then have the seed. Evaluations of one encoder in several folders also have the same
    name; their rows then have the folder's path.
    """
    titles = _titles(evaluations)
    names = [one.name for one in evaluations]
    rows = []
    for one, title in zip(evaluations, titles, strict=True):
        columns = {task: ids[one.path, task] for task in one.summary["tasks"] if (one.path, task) in ids}
        name = one.name if names.count(one.name) == 1 else one.path.as_posix()
        rows.append(
            VectorRow(
                name=name,
                label=f"{title}, {name}" if titles.count(title) > 1 else title,
                family=one.summary["encoder"]["family"],
                scores={id: one.score(task) for task, id in columns.items()},
                seen=[id for task, id in columns.items() if task in one.summary["seen"]],
                evaluation=one,
            )
        )
    return rows


def _titles(evaluations: Sequence[Evaluation]) -> list[str]:
    """The encoders' titles; equal ones have the seed too."""
    titles = [one.title for one in evaluations]
    return [
        title if titles.count(title) == 1 or one.seed is None else f"{title}, seed {one.seed}"
        for one, title in zip(evaluations, titles, strict=True)
    ]


def _published(row: PublishedRow, columns: Sequence[Column]) -> VectorRow:
    printed = {AVERAGE: row.average, BY_TYPE: row.average_by_type}
    return VectorRow(
        name=row.model,
        label=row.model,
        family=row.family,
        scores={column.id: row.scores[column.task] for column in columns if column.task in row.scores},
        printed={key: value for key, value in printed.items() if value is not None},
    )


def _source_notes(benchmark: Benchmark) -> list[str]:
    """For each place where rows were published, a note that names them."""
    models_by_source: dict[str, list[str]] = {}
    for row in benchmark.published:
        models_by_source.setdefault(row.source, []).append(row.model)
    return [f"Published in the {source}: {', '.join(models)}." for source, models in models_by_source.items()]


def _row_notes(rows: Sequence[VectorRow]) -> list[str]:
    """Notes on single rows: tasks whose training rows an encoder has seen, and choices on validation rows."""
    notes = []
    for row in rows:
        if row.evaluation is None:
            continue
        summary = row.evaluation.summary
        if row.seen:
            tasks = [task for task in summary["seen"] if any(id.partition("@")[0] == task for id in row.seen)]
            notes.append(f"‡ {row.label}: trained on training rows of {', '.join(tasks)}.")
        if choice := summary.get("choice"):
            notes.append(f"{row.label}: {choice_note(choice)}")
    return notes


def _sorted(rows: Sequence[VectorRow]) -> list[VectorRow]:
    order = list(FAMILIES)
    return sorted(rows, key=lambda row: order.index(row.family) if row.family in order else len(order))
