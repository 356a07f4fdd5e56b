"""The leaderboards of sentence encoders that mteb evaluated: for each benchmark, one with published rows, and one of our scores alone. The ids of
columns: a task ("CBD") or a version of its rows ("CBD@r1"); a type of tasks for the mean of its tasks ("sts"); AVERAGE and BY_TYPE, over all."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from mtl.base.wording import MISSING
from mtl.reports.board import Column, Group, GroupLine, Leaderboard
from mtl.reports.rows import Row, by_family, single
from mtl.tasks.scale import Scale
from mtl.tasks.suite import AVERAGE
from mtl.vectors.mteb.benchmark import Benchmark, PublishedRow
from mtl.vectors.mteb.results import EXACT, Evaluation, EvaluationFolder, find_evaluations

BY_TYPE = "average_by_type"  # the mean over the means of the types, as AVERAGE is the mean over the tasks
COSTS = ("parameters", "parameters_without_embeddings", "sentences_per_second", "seconds_per_task", "memory", "dim")
PARTIAL_MARK = (
    "* partial: the mean of the scores that the row has, without some of the benchmark's tasks. A type has"
    f" {MISSING} where the row lacks one of its tasks that this board has."
)
GROUPS_NOTE = (
    "The mean of each type of which a row has all tasks of this board, and the mean over the types where it has all of them."
    " *: without some of the benchmark's tasks."
)
Scores = Mapping[str, float]  # × 100, by the id of a task's column


class BoardColumns:
    """The columns of a leaderboard: those of tasks of a benchmark, and those of the means over them."""

    def __init__(self, benchmark: Benchmark, task_columns: Mapping[str, Column], whole_averages: bool) -> None:
        """`task_columns` are the columns of tasks, by id. With `whole_averages`, our rows have averages over all tasks of the benchmark or none."""
        self.benchmark, self.task_columns, self.whole_averages = benchmark, task_columns, whole_averages
        self.inexact_means = (
            False  # whether means over inexact data have †, which says nothing beside rows that all have it
        )
        self.tasks = {column.task for column in task_columns.values()}
        self.types = {id: task_type for id, task_type in benchmark.types.items() if self.tasks & task_type.tasks.keys()}
        # By the id of a mean, the tasks of the benchmark that it is over, even those without a column.
        self.mean_tasks = {AVERAGE: benchmark.tasks, BY_TYPE: benchmark.tasks}
        self.mean_tasks |= {type_id: task_type.tasks for type_id, task_type in self.types.items()}

    def means(self, scores: Scores) -> dict[str, float]:
        """The means of a row by id: over tasks; of each type of which the row has all tasks that have a column; over types, if all have a mean."""
        by_task = {self.task_columns[id].task: score for id, score in scores.items()}
        means = {}
        for type_id, mean in self.benchmark.type_means(by_task).items():
            if self.types[type_id].tasks.keys() & self.tasks <= by_task.keys():
                means[type_id] = mean
        if means and len(means) == len(self.types):
            means[BY_TYPE] = fmean(means.values())
        if by_task:
            means[AVERAGE] = fmean(by_task.values())
        return means

    def marks(self, scores: Scores, seen: Collection[str], inexact: Collection[str]) -> dict[str, str]:
        """The marks of a row by id; `Row.mark` says what each means. `seen` and `inexact` are the tasks that have the marks ‡ and †."""
        task_by_id = {id: self.task_columns[id].task for id in scores}
        scored_tasks = set(task_by_id.values())
        marks = dict.fromkeys(self.task_columns, "")
        marks |= {id: _data_marks([task], seen, inexact) for id, task in task_by_id.items()}
        for mean_id, tasks in self.mean_tasks.items():
            is_partial = bool(scored_tasks) and not tasks.keys() <= scored_tasks
            inexact_tasks = inexact if self.inexact_means else ()
            marks[mean_id] = ("*" if is_partial else "") + _data_marks(scored_tasks & tasks.keys(), seen, inexact_tasks)
        return marks


def find_boards(folder: Path) -> list[Leaderboard]:
    """For each benchmark a board with published rows, and one of ours alone if the first lacks a score. Of one name: "pl-mteb", "pl-mteb-2"."""
    by_benchmark: dict[tuple[str, str], list[Evaluation]] = {}
    for evaluation in find_evaluations(folder):
        by_benchmark.setdefault((evaluation.benchmark.name, repr(evaluation.benchmark.types)), []).append(evaluation)
    boards = []
    versions = Counter[str]()
    for (name, _), evaluations in by_benchmark.items():
        versions[name] += 1
        board_id = f"{name}-{versions[name]}" if versions[name] > 1 else name
        # Each evaluation has a copy of the benchmark's file, without a date. The published rows are those of the copy that was changed last.
        newest = max(evaluations, key=lambda evaluation: EvaluationFolder(evaluation.path).benchmark.stat().st_mtime)
        boards.append(_published_board(board_id, newest.benchmark, evaluations))
        if not all(evaluation.is_comparable(task) for evaluation in evaluations for task in evaluation.scores):
            boards.append(local_board(f"{board_id}-local", newest.benchmark, evaluations))
    return [board for board in boards if board.rows]


def _published_board(board_id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """The published rows, and those of our scores that are comparable with them. The id of a column is its task."""
    task_columns = {task: _column(benchmark, task, title=task) for task in benchmark.tasks}
    columns = BoardColumns(benchmark, task_columns, whole_averages=bool(benchmark.published))
    scores = [{id: score for id, score in row.scores.items() if row.is_comparable(id)} for row in evaluations]
    ours = [row for row in _our_rows(columns, evaluations, scores) if row.scores]
    notes = [
        "Scores × 100. AVG is the mean over tasks, by type the mean over the means of the types. Our rows are scored by mteb's own"
        " evaluation, on the rows that mteb describes; scores on other rows are left out here."
    ]
    if ours:
        notes += benchmark.not_comparable_notes(benchmark.tasks)
    if columns.whole_averages and any(row.missing for row in ours):
        notes.append("A row of ours that lacks a task of the benchmark has no AVG beside the published ones.")
    models: dict[str, list[str]] = {}  # by source
    for row in benchmark.published:
        models.setdefault(row.source, []).append(row.model)
    notes += [f"Published in the {source}: {', '.join(names)}." for source, names in models.items()]
    published = [_published_row(columns, row) for row in benchmark.published]
    return _board(board_id, benchmark.title, columns, [*ours, *published], notes)


def local_board(board_id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """All our scores. A task whose rows differ between evaluations has a column for each version of them, with the id TASK@VERSION."""
    task_columns: dict[str, Column] = {}
    notes = ["Scores × 100 of our rows alone, of which some cannot be compared with published ones."]
    records = [evaluation.summary["tasks"] for evaluation in evaluations]
    for task in benchmark.tasks:
        versions = {by_task[task]["revision"]: by_task[task] for by_task in records if task in by_task}
        for number, (revision, record) in enumerate(versions.items(), 1):
            title = f"{task}, rows {number}" if len(versions) > 1 else task
            task_columns[f"{task}@{revision}"] = _column(benchmark, task, title)
            if record["data"] != EXACT:
                notes.append(f"{inexact_data(title, record)}.")
    tasks_with_records = [task for task in benchmark.tasks if any(task in by_task for by_task in records)]
    notes += benchmark.not_comparable_notes(tasks_with_records)
    if len(task_columns) > len(tasks_with_records):
        notes.append("Means over different versions of a task's rows cannot be compared with each other.")
    scores = []
    for evaluation, by_task in zip(evaluations, records, strict=True):
        scores.append({f"{task}@{by_task[task]['revision']}": score for task, score in evaluation.scores.items()})
    columns = BoardColumns(benchmark, task_columns, whole_averages=False)
    columns.inexact_means = len(evaluations) == 1
    title = f"{benchmark.title}, all our scores: not comparable with published scores"
    return _board(board_id, title, columns, _our_rows(columns, evaluations, scores), notes)


def inexact_data(title: str, record: Mapping[str, Any]) -> str:
    """How the data of a task differs from the published data, by its record, with the mark †."""
    return f"† {title}: {record['data']} data ({'; '.join(record['differences'])})"


def _column(benchmark: Benchmark, task: str, title: str) -> Column:
    task_type = benchmark.types[benchmark.type_of(task)]
    return Column(title, task_type.metric_title, task_type.metric, task)


def _our_rows(columns: BoardColumns, evaluations: Sequence[Evaluation], scores: Sequence[Scores]) -> list[Row]:
    """The rows of evaluations, each named by its folder, or by its path where folders have the same name. The name follows a label that repeats."""
    folders = Counter(evaluation.path.name for evaluation in evaluations)
    titles = Counter(evaluation.summary["encoder"]["title"] for evaluation in evaluations)
    labels = []  # the titles; where a title repeats, the seed follows, if there is one
    for evaluation in evaluations:
        title, seed = evaluation.summary["encoder"]["title"], evaluation.summary["encoder"]["seed"]
        labels.append(f"{title}, seed {seed}" if titles[title] > 1 and seed is not None else title)
    rows = []
    for evaluation, label, by_column in zip(evaluations, labels, scores, strict=True):
        name = evaluation.path.name if folders[evaluation.path.name] == 1 else evaluation.path.as_posix()
        row_label = f"{label}, {name}" if labels.count(label) > 1 else label
        rows.append(_our_row(columns, evaluation, name, row_label, by_column))
    return rows


def _our_row(columns: BoardColumns, evaluation: Evaluation, name: str, label: str, scores: Scores) -> Row:
    summary = evaluation.summary
    inexact = [task for task, record in summary["tasks"].items() if record["data"] != EXACT]
    marks = columns.marks(scores, summary["seen"], inexact)
    means = columns.means(scores)
    if columns.whole_averages and "*" in marks[AVERAGE]:
        del means[AVERAGE]
    row = _row(columns, scores, means, marks, name, label, summary["encoder"]["family"])
    return replace(row, cost={key: summary["cost"].get(key) for key in COSTS})


def _published_row(columns: BoardColumns, row: PublishedRow) -> Row:
    """A published row. Its averages are those that were printed; one that was not is computed."""
    averages = {AVERAGE: row.average, BY_TYPE: row.average_by_type}
    means = columns.means(row.scores) | {id: mean for id, mean in averages.items() if mean is not None}
    marks = columns.marks(row.scores, seen=(), inexact=())
    return _row(columns, row.scores, means, marks, row.model, "published", row.family)


def _row(
    columns: BoardColumns, scores: Scores, means: Scores, marks: Mapping[str, str], name: str, label: str, family: str
) -> Row:
    # Two means with the mark * can be compared if they have it for the same cause: that the same columns have scores.
    causes = {}
    for mean_id, tasks in columns.mean_tasks.items():
        ids = [id for id, column in columns.task_columns.items() if id in scores and column.task in tasks]
        causes[mean_id] = {"*": ids}
    return Row(
        name=name,
        label=label,
        family=family,
        split="test",
        scores={id: single(scores[id]) for id in columns.task_columns if id in scores},
        means={id: single(mean) for id, mean in means.items()},
        missing=columns.benchmark.missing([columns.task_columns[id].task for id in scores]),
        seen=[id for id in [*columns.task_columns, *columns.types] if "‡" in marks[id]],
        partial=[type_id for type_id in columns.types if "*" in marks[type_id]],
        marks=marks,
        causes=causes,
    )


def _data_marks(tasks: Collection[str], seen: Collection[str], inexact: Collection[str]) -> str:
    """The marks of a score or mean over these tasks that have to do with their data."""
    return "".join(mark for mark, marked in (("†", inexact), ("‡", seen)) if any(task in marked for task in tasks))


def _board(name: str, title: str, columns: BoardColumns, rows: Sequence[Row], notes: list[str]) -> Leaderboard:
    """The leaderboard of these rows: a table of the means by type, and a group for the tasks of each type."""
    rows = by_family(rows)
    titles = {type_id: task_type.title for type_id, task_type in columns.types.items()}
    shown_columns = {AVERAGE: Column("AVG, tasks", "mean"), BY_TYPE: Column("AVG, types", "mean")}
    shown_columns |= {id: Column(task_type.title, task_type.metric_title) for id, task_type in columns.types.items()}
    return Leaderboard(
        name=name,
        title=title,
        scale=Scale(1.0, 2, "score × 100"),  # two decimals, as the published rows have
        columns={AVERAGE: Column("AVG", "mean"), **columns.task_columns},
        rows=rows,
        marks=[PARTIAL_MARK] if any(row.missing for row in rows) else [],
        notes=[*notes, *_seen_notes(columns, rows)],
        groups=[_type_group(columns, type_id, rows) for type_id in columns.types],
        page_groups=[Group("types", "by type", titles, _group_lines(rows, titles, BY_TYPE), has_mean=True)],
        shown_columns=shown_columns,
        groups_title="Scores by type",
        groups_note=GROUPS_NOTE,
        unscored=columns.benchmark.missing(columns.tasks),
        whole_averages=columns.whole_averages,
    )


def _seen_notes(columns: BoardColumns, rows: Sequence[Row]) -> list[str]:
    notes = []
    for row in rows:
        if tasks := [columns.task_columns[id].task for id in row.seen if id in row.scores]:
            notes.append(f"‡ {row.label}: trained on training rows of {', '.join(tasks)}.")
    return notes


def _type_group(columns: BoardColumns, type_id: str, rows: Sequence[Row]) -> Group:
    task_type = columns.types[type_id]
    titles = {id: column.title for id, column in columns.task_columns.items() if column.task in task_type.tasks}
    lines = _group_lines(rows, titles, type_id)
    return Group(type_id, f"{task_type.title}, {task_type.metric_title}", titles, lines, has_mean=len(titles) > 1)


def _group_lines(rows: Sequence[Row], ids: Collection[str], mean_id: str) -> list[GroupLine]:
    """A line for each row with scores or means in the columns with these ids. The mean of a line is the row's mean with the id `mean_id`."""
    lines = []
    for row in rows:
        scores = {id: score for id in ids if (score := row.score(id))}
        mean = row.score(mean_id)
        if scores:
            lines.append(GroupLine(row, scores, mean.median if mean else None, row.mark(mean_id)))
    return lines
