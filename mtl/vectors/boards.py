"""The leaderboards of sentence encoders that mteb evaluated: for each benchmark, one with the published rows and those of our scores that are
comparable with them, on exact data; and one with all scores of ours alone, where a column is a task on one version of its rows."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from mtl.base.wording import MISSING
from mtl.reports.board import Column, Group, GroupLine, Leaderboard
from mtl.reports.rows import COSTS, Row, Score, by_family, single
from mtl.tasks.scale import Scale
from mtl.tasks.suite import AVERAGE
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import EXACT, Evaluation, find_evaluations, not_comparable_notes

BY_TYPE = "average_by_type"
SCALE = Scale(1.0, 2, "score × 100")  # two decimals, as the published rows have
SPLIT = "test"
ENCODER_COSTS = tuple(key for key in COSTS if "pretrain" not in key and "finetune" not in key and key != "peak_memory")
PARTIAL_MARK = (
    "* partial: the mean of the scores that the row has, without some of the benchmark's tasks. A type has"
    f" {MISSING} where the row lacks one of its tasks that this board has."
)
GROUPS_NOTE = (
    "The mean of each type of which a row has all tasks of this board, and the mean over the types where it has all of them."
    " *: without some of the benchmark's tasks."
)


@dataclass(frozen=True, eq=False)
class EncoderRow(Row):
    """One row: an evaluation of an encoder, or a published one, which has no evaluation."""

    evaluation: Evaluation | None = None

    @property
    def ours(self) -> bool:
        """Whether this is an evaluation, not a published row."""
        return self.evaluation is not None


def find_boards(folder: Path) -> list[Leaderboard]:
    """The leaderboards of the evaluations below a folder, for each set of tasks and metrics of a benchmark; that of our
    rows alone if it has a score that the other lacks. The published rows are those of the benchmark's newest copy."""
    by_benchmark: dict[tuple[str, str], list[Evaluation]] = {}
    for evaluation in find_evaluations(folder):
        benchmark = evaluation.benchmark
        by_benchmark.setdefault((benchmark.name, repr(benchmark.types)), []).append(evaluation)
    boards = []
    numbers = Counter[str]()
    for (name, _), evaluations in by_benchmark.items():
        numbers[name] += 1
        id = f"{name}-{numbers[name]}" if numbers[name] > 1 else name
        newest = max(evaluations, key=lambda evaluation: (evaluation.path / "benchmark.yaml").stat().st_mtime)
        boards.append(_beside_published(id, newest.benchmark, evaluations))
        if not all(evaluation.is_comparable(task) for evaluation in evaluations for task in evaluation.scores):
            boards.append(_ours_alone(id, newest.benchmark, evaluations))
    return [board for board in boards if board.rows]


def _beside_published(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """The comparable scores of ours, and the published rows. A column's id is its task."""
    columns = {task: _column(benchmark, task, title=task) for task in benchmark.tasks}
    layout = _Layout(benchmark, columns, complete_only=bool(benchmark.published))
    ours = layout.our_rows(evaluations, lambda evaluation, task: task if evaluation.is_comparable(task) else None)
    rows = [row for row in ours if row.scores]
    facts = [
        "Scores × 100. AVG is the mean over tasks, by type the mean over the means of the types. Our rows are scored by mteb's own"
        " evaluation, on the rows that mteb describes; scores on other rows are left out here."
    ]
    if rows:
        facts += not_comparable_notes(benchmark, list(benchmark.tasks))
    if layout.complete_only and any(row.missing for row in rows):
        facts.append("A row of ours that lacks a task of the benchmark has no AVG beside the published ones.")
    models_by_source: dict[str, list[str]] = {}
    for published in benchmark.published:
        scores = {task: single(published.scores[task]) for task in columns if task in published.scores}
        printed = {AVERAGE: published.average, BY_TYPE: published.average_by_type}
        row = EncoderRow(published.model, "published", published.family, SPLIT, scores, means={})
        rows.append(layout.with_means(row, printed))
        models_by_source.setdefault(published.source, []).append(published.model)
    facts += [f"Published in the {source}: {', '.join(models)}." for source, models in models_by_source.items()]
    return layout.leaderboard(id, benchmark.title, rows, facts)


def _ours_alone(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """All scores of ours. A task whose rows differ between evaluations has a column for each version, with the id TASK@VERSION."""
    columns: dict[str, Column] = {}
    facts = ["Scores × 100 of our rows alone, on data of which some is not the benchmark's."]
    for task in benchmark.tasks:
        evaluated = [evaluation.summary["tasks"] for evaluation in evaluations]
        versions = {tasks[task]["revision"]: tasks[task] for tasks in evaluated if task in tasks}
        for number, (revision, record) in enumerate(versions.items(), 1):
            title = f"{task}, rows {number}" if len(versions) > 1 else task
            columns[f"{task}@{revision}"] = _column(benchmark, task, title)
            if record["data"] != EXACT:
                facts.append(f"† {title}: {record['data']} data ({'; '.join(record['differences'])}).")
    if len(columns) > len({column.task for column in columns.values()}):
        facts.append("Means over different versions of a task's rows cannot be compared with each other.")
    layout = _Layout(benchmark, columns, complete_only=False)
    rows = layout.our_rows(
        evaluations, lambda evaluation, task: f"{task}@{evaluation.summary['tasks'][task]['revision']}"
    )
    title = f"{benchmark.title}, local data: not comparable with published scores"
    return layout.leaderboard(f"{id}-local", title, rows, facts)


def _column(benchmark: Benchmark, task: str, title: str) -> Column:
    """The column of a task's scores."""
    type_ = benchmark.types[benchmark.type_of(task)]
    return Column(title, type_.metric_title, type_.metric, task)


class _Layout:
    """The columns of a leaderboard by id, and whether only a row with all tasks of the benchmark has an average."""

    def __init__(self, benchmark: Benchmark, columns: Mapping[str, Column], complete_only: bool) -> None:
        self.benchmark, self.columns, self.complete_only = benchmark, columns, complete_only
        # By type, the ids of its columns; types without a column are left out.
        self.by_type: dict[str, list[str]] = {}
        for name, type_ in benchmark.types.items():
            if ids := [id for id, column in columns.items() if column.task in type_.tasks]:
                self.by_type[name] = ids
        # By mean, the tasks of the benchmark that it is over.
        self.mean_tasks = {AVERAGE: benchmark.tasks, BY_TYPE: benchmark.tasks}
        self.mean_tasks |= {name: benchmark.types[name].tasks for name in self.by_type}

    def our_rows(
        self, evaluations: Sequence[Evaluation], column_of: Callable[[Evaluation, str], str | None]
    ) -> list[EncoderRow]:
        """The rows of evaluations. `column_of` gives the column of a task's score, if any. Shared titles have the seed; shared names are paths."""
        names, titles = Counter(evaluation.path.name for evaluation in evaluations), _titles(evaluations)
        rows = []
        for evaluation, title in zip(evaluations, titles, strict=True):
            summary, path = evaluation.summary, evaluation.path
            columns = {id: task for task in summary["tasks"] if (id := column_of(evaluation, task)) is not None}
            name = path.name if names[path.name] == 1 else path.as_posix()
            row = EncoderRow(
                name,
                f"{title}, {name}" if titles.count(title) > 1 else title,
                summary["encoder"]["family"],
                SPLIT,
                scores={id: single(evaluation.scores[task]) for id, task in columns.items()},
                means={},
                cost={key: summary["cost"].get(key) for key in ENCODER_COSTS},
                evaluation=evaluation,
            )
            rows.append(self.with_means(row))
        return rows

    def with_means(self, row: EncoderRow, printed: Mapping[str, float | None] | None = None) -> EncoderRow:
        """The row with its means and marks. `printed`: the averages × 100 of a published row."""
        scored, seen, inexact = self._tasks(row.scores), set[str](), set[str]()  # tasks
        if row.evaluation is not None:
            summary = row.evaluation.summary
            seen = scored & summary["seen"].keys()
            inexact = {task for task in scored if summary["tasks"][task]["data"] != EXACT}
        lacking = {mean for mean, tasks in self.mean_tasks.items() if scored and not scored.issuperset(tasks)}
        marked = {  # by mark, the ids of columns and means
            "*": lacking,
            "†": {id for id in row.scores if self.columns[id].task in inexact},
            "‡": {id for id in row.scores if self.columns[id].task in seen}
            | {mean for mean, tasks in self.mean_tasks.items() if not seen.isdisjoint(tasks)},
        }
        return replace(
            row,
            means=self._means(row, printed),
            missing=self.benchmark.missing(scored),
            seen=[id for id in [*self.columns, *self.by_type] if id in marked["‡"]],
            partial=[name for name in self.by_type if name in lacking],
            marks={
                id: "".join(sign for sign in marked if id in marked[sign]) for id in [*self.columns, *self.mean_tasks]
            },
            reasons={
                mean: tuple(id for id, column in self.columns.items() if id in row.scores and column.task in tasks)
                for mean, tasks in self.mean_tasks.items()
            },
        )

    def _tasks(self, columns: Collection[str]) -> set[str]:
        """The tasks of columns with these ids."""
        return {self.columns[id].task for id in columns}

    def _means(self, row: EncoderRow, printed: Mapping[str, float | None] | None) -> dict[str, Score]:
        """The averages of a row, the printed ones if it is published, and the means by type. The mean of a type needs a
        score on each task of the type that the leaderboard has; the average over types needs all of these means."""
        scores, scored = {id: score.median for id, score in row.scores.items()}, self._tasks(row.scores)
        means = {
            name: fmean(scores[id] for id in ids if id in scores)
            for name, ids in self.by_type.items()
            if self._tasks(ids) <= scored
        }
        averages = {id: value for id, value in (printed or {}).items() if value is not None}
        if scores and not (self.complete_only and printed is None and self.benchmark.missing(scored)):
            averages.setdefault(AVERAGE, fmean(scores.values()))
        if len(means) == len(self.by_type):
            averages.setdefault(BY_TYPE, fmean(means.values()))
        return {id: single(mean) for id, mean in {**averages, **means}.items()}

    def leaderboard(self, id: str, title: str, rows: Sequence[EncoderRow], facts: Sequence[str]) -> Leaderboard:
        """The leaderboard of these rows: a table of the means by type, and a group for the tasks of each type."""
        rows, types = by_family(rows), {name: self.benchmark.types[name] for name in self.by_type}
        groups = []
        for name, ids in self.by_type.items():
            task_titles = {id: self.columns[id].title for id in ids}
            heading = f"{types[name].title}, {types[name].metric_title}"
            groups.append(Group(name, heading, task_titles, _lines(rows, ids, name), has_mean=len(ids) > 1))
        type_titles = {name: type_.title for name, type_ in types.items()}
        return Leaderboard(
            id,
            title,
            SCALE,
            {AVERAGE: Column("AVG", "mean"), **self.columns},
            rows,
            marks=[PARTIAL_MARK] if any(row.missing for row in rows) else [],
            facts=[*facts, *self._seen_notes(rows)],
            groups=groups,
            page_groups=[Group("types", "by type", type_titles, _lines(rows, type_titles, BY_TYPE), has_mean=True)],
            table={
                AVERAGE: Column("AVG, tasks", "mean"),
                BY_TYPE: Column("AVG, types", "mean"),
                **{name: Column(type_.title, type_.metric_title) for name, type_ in types.items()},
            },
            groups_title="Scores by type",
            groups_note=GROUPS_NOTE,
            unscored=self.benchmark.missing(self._tasks(self.columns)),
            whole_averages=self.complete_only,
        )

    def _seen_notes(self, rows: Sequence[EncoderRow]) -> list[str]:
        """A note on each row with scores on tasks whose training rows the encoder has seen."""
        notes = []
        for row in rows:
            seen = row.evaluation.summary["seen"] if row.evaluation is not None else {}
            if tasks := [task for task in seen if task in self._tasks(row.scores)]:
                notes.append(f"‡ {row.label}: trained on training rows of {', '.join(tasks)}.")
        return notes


def _titles(evaluations: Sequence[Evaluation]) -> list[str]:
    """The titles of evaluations, with the seed where several have the same title."""
    encoders = [evaluation.summary["encoder"] for evaluation in evaluations]
    counts = Counter(encoder["title"] for encoder in encoders)
    titles = []
    for title, seed in ((encoder["title"], encoder["seed"]) for encoder in encoders):
        titles.append(f"{title}, seed {seed}" if counts[title] > 1 and seed is not None else title)
    return titles


def _lines(rows: Sequence[Row], columns: Collection[str], mean: str) -> list[GroupLine]:
    """A line for each row with scores or means in these columns; `mean` is the column of their mean."""
    lines = []
    for row in rows:
        if scores := {id: score for id in columns if (score := row.score(id))}:
            mean_score = row.score(mean)
            lines.append(GroupLine(row, scores, mean_score.median if mean_score else None, row.mark(mean)))
    return lines
