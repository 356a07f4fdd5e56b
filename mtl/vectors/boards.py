"""The leaderboards of sentence encoders that mteb evaluated: for each benchmark, one with the published rows and those of our scores that are
comparable with them, on exact data; and one with all scores of ours alone, where a column is a task on one version of its rows."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from mtl.base.wording import MISSING
from mtl.reports.board import COSTS, Column, Group, GroupLine, Leaderboard, Row, by_family, single
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
    """The leaderboards of the evaluations below a folder. That of our rows alone is left out if it would have no score
    that the other one lacks. Evaluations with other tasks or metrics under the same name have leaderboards of their
    own. The published rows are those of the benchmark's newest copy."""
    by_benchmark: dict[tuple[str, str], list[Evaluation]] = {}
    for evaluation in find_evaluations(folder):
        benchmark = evaluation.benchmark
        by_benchmark.setdefault((benchmark.name, repr(benchmark.types)), []).append(evaluation)
    boards = []
    numbers = Counter[str]()
    for (name, _), group in by_benchmark.items():
        numbers[name] += 1
        id = f"{name}-{numbers[name]}" if numbers[name] > 1 else name
        benchmark = max(group, key=lambda one: (one.path / "benchmark.yaml").stat().st_mtime).benchmark
        boards.append(_beside_published(id, benchmark, group))
        if not all(evaluation.is_comparable(task) for evaluation in group for task in evaluation.summary["tasks"]):
            boards.append(_ours_alone(id, benchmark, group))
    return [board for board in boards if board.rows]


def _beside_published(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """The comparable scores of ours, and the published rows."""
    layout = _Layout(benchmark, {name: (name, name) for name in benchmark.tasks}, bool(benchmark.published))
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
    for row in benchmark.published:
        scores = {id: row.scores[id] for id in layout.columns if id in row.scores}
        printed = {AVERAGE: row.average, BY_TYPE: row.average_by_type}
        rows.append(layout.row(scores, printed, name=row.model, label="published", family=row.family))
        models_by_source.setdefault(row.source, []).append(row.model)
    facts += [f"Published in the {source}: {', '.join(models)}." for source, models in models_by_source.items()]
    return layout.leaderboard(id, benchmark.title, rows, facts)


def _ours_alone(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """All scores of ours. A task whose rows differ between evaluations has a column for each version."""
    titles: dict[str, tuple[str, str]] = {}
    facts = ["Scores × 100 of our rows alone, on data of which some is not the benchmark's."]
    for task in benchmark.tasks:
        records = [one.summary["tasks"][task] for one in evaluations if task in one.summary["tasks"]]
        versions = {record["revision"]: record for record in records}
        for number, (revision, record) in enumerate(versions.items(), 1):
            title = f"{task}, rows {number}" if len(versions) > 1 else task
            titles[f"{task}@{revision}"] = task, title
            if record["data"] != EXACT:
                facts.append(f"† {title}: {record['data']} data ({'; '.join(record['differences'])}).")
    if len(titles) > len({task for task, _ in titles.values()}):
        facts.append("Means over different versions of a task's rows cannot be compared with each other.")
    layout = _Layout(benchmark, titles, complete_only=False)
    rows = layout.our_rows(evaluations, lambda one, task: f"{task}@{one.summary['tasks'][task]['revision']}")
    title = f"{benchmark.title}, local data: not comparable with published scores"
    return layout.leaderboard(f"{id}-local", title, rows, facts)


class _Layout:
    """The columns of a leaderboard, and whether only a row with all tasks of the benchmark has an average."""

    def __init__(self, benchmark: Benchmark, titles: Mapping[str, tuple[str, str]], complete_only: bool) -> None:
        """The task and the title of each column."""
        self.benchmark, self.complete_only = benchmark, complete_only
        types = {task: type_ for type_ in benchmark.types.values() for task in type_.tasks}
        self.columns = {
            id: Column(title, types[task].metric_title, types[task].metric, task)
            for id, (task, title) in titles.items()
        }
        self.task_of = {id: task for id, (task, _) in titles.items()}
        self.by_type = {
            name: [id for id, task in self.task_of.items() if task in type_.tasks]
            for name, type_ in benchmark.types.items()
            if not type_.tasks.keys().isdisjoint(self.task_of.values())
        }

    def our_rows(
        self, evaluations: Sequence[Evaluation], column_of: Callable[[Evaluation, str], str | None]
    ) -> list[EncoderRow]:
        """The rows of evaluations. `column_of` names the column of a task's score; None: it has none. Titles that several
        evaluations share have the seed, and names that they share are paths."""
        names = Counter(evaluation.path.name for evaluation in evaluations)
        titles = _titles(evaluations)
        rows = []
        for evaluation, title in zip(evaluations, titles, strict=True):
            summary, path = evaluation.summary, evaluation.path
            columns = {task: id for task in summary["tasks"] if (id := column_of(evaluation, task)) is not None}
            name = path.name if names[path.name] == 1 else path.as_posix()
            rows.append(
                self.row(
                    {id: evaluation.scores[task] for task, id in columns.items()},
                    seen=[id for task, id in columns.items() if task in summary["seen"]],
                    inexact=[id for task, id in columns.items() if summary["tasks"][task]["data"] != EXACT],
                    name=name,
                    label=f"{title}, {name}" if titles.count(title) > 1 else title,
                    family=summary["encoder"]["family"],
                    cost={key: summary["cost"].get(key) for key in ENCODER_COSTS},
                    evaluation=evaluation,
                )
            )
        return rows

    def row(
        self,
        scores: Mapping[str, float],
        printed: Mapping[str, float | None] | None = None,
        seen: Collection[str] = (),
        inexact: Collection[str] = (),
        **facts: Any,
    ) -> EncoderRow:
        """A row with its scores by column, its means and marks, and these facts as its other fields."""
        benchmark, by_type, task_of = self.benchmark, self.by_type, self.task_of
        scored, seen_tasks = {task_of[id] for id in scores}, {task_of[id] for id in seen}
        # By mean, the benchmark's tasks that it is over.
        tasks = dict.fromkeys((AVERAGE, BY_TYPE), benchmark.tasks)
        tasks |= {name: benchmark.types[name].tasks for name in by_type}
        lacking = {mean for mean, counted in tasks.items() if scores and not scored.issuperset(counted)}
        trained = {*seen, *(mean for mean, counted in tasks.items() if not seen_tasks.isdisjoint(counted))}
        marked = (("*", lacking), ("†", inexact), ("‡", trained))
        reasons = {mean: tuple(id for id in task_of if id in scores and task_of[id] in tasks[mean]) for mean in tasks}
        return EncoderRow(
            split=SPLIT,
            scores={id: single(score) for id, score in scores.items()},
            means={id: single(mean) for id, mean in self._means(scores, printed).items()},
            missing=benchmark.missing(scored),
            seen=[id for id in [*task_of, *by_type] if id in trained],
            partial=[name for name in by_type if name in lacking],
            marks={id: "".join(mark for mark, ids in marked if id in ids) for id in [*task_of, *tasks]},
            reasons=reasons,
            **facts,
        )

    def _means(self, scores: Mapping[str, float], printed: Mapping[str, float | None] | None) -> dict[str, float]:
        """The averages of a row, the printed ones if it is published, and the means by type. The mean of a type needs a
        score on each task of the type that the leaderboard has; the average over types needs all of these means."""
        scored = {self.task_of[id] for id in scores}
        means = {
            name: fmean(scores[id] for id in ids if id in scores)
            for name, ids in self.by_type.items()
            if {self.task_of[id] for id in ids} <= scored
        }
        averages = {id: value for id, value in (printed or {}).items() if value is not None}
        if scores and not (self.complete_only and printed is None and self.benchmark.missing(scored)):
            averages.setdefault(AVERAGE, fmean(scores.values()))
        if len(means) == len(self.by_type):
            averages.setdefault(BY_TYPE, fmean(means.values()))
        return {**averages, **means}

    def leaderboard(self, id: str, title: str, rows: Sequence[EncoderRow], facts: Sequence[str]) -> Leaderboard:
        """The leaderboard of these rows: a table of the means by type, and a group for the tasks of each type."""
        rows, types = by_family(rows), {name: self.benchmark.types[name] for name in self.by_type}
        titles = {name: type_.title for name, type_ in types.items()}
        groups = []
        for name, ids in self.by_type.items():
            title_of = {id: self.columns[id].title for id in ids}
            heading = f"{titles[name]}, {types[name].metric_title}"
            groups.append(Group(name, heading, title_of, _lines(rows, ids, name), len(ids) > 1))
        return Leaderboard(
            id,
            title,
            SCALE,
            {AVERAGE: Column("AVG", "mean"), **self.columns},
            rows,
            marks=[PARTIAL_MARK] if any(row.missing for row in rows) else [],
            facts=[*facts, *_row_notes(rows)],
            groups=groups,
            page_groups=[Group("types", "by type", titles, _lines(rows, titles, BY_TYPE), has_mean=True)],
            table={
                AVERAGE: Column("AVG, tasks", "mean"),
                BY_TYPE: Column("AVG, types", "mean"),
                **{name: Column(type_.title, type_.metric_title) for name, type_ in types.items()},
            },
            groups_title="Scores by type",
            groups_note=GROUPS_NOTE,
            unscored=self.benchmark.missing({column.task for column in self.columns.values()}),
            whole_averages=self.complete_only,
        )


def _titles(evaluations: Sequence[Evaluation]) -> list[str]:
    """The titles of evaluations, with the seed where several have the same title."""
    encoders = [evaluation.summary["encoder"] for evaluation in evaluations]
    counts = Counter(encoder["title"] for encoder in encoders)
    return [
        f"{title}, seed {seed}" if counts[title] > 1 and seed is not None else title
        for title, seed in ((encoder["title"], encoder["seed"]) for encoder in encoders)
    ]


def _lines(rows: Sequence[Row], columns: Collection[str], mean: str) -> list[GroupLine]:
    """The rows with scores or means in these columns, and their mean in another one."""
    lines = []
    for row in rows:
        if scores := {id: score for id in columns if (score := row.score(id))}:
            whole = row.score(mean)
            lines.append(GroupLine(row, scores, whole.median if whole else None, row.mark(mean)))
    return lines


def _row_notes(rows: Sequence[EncoderRow]) -> list[str]:
    """Notes on single rows: tasks whose training rows an encoder has seen."""
    notes = []
    for row in rows:
        if row.evaluation is not None and row.seen:
            seen = row.evaluation.summary["seen"]
            tasks = [task for task in seen if any(id.partition("@")[0] == task for id in row.seen)]
            notes.append(f"‡ {row.label}: trained on training rows of {', '.join(tasks)}.")
    return notes
