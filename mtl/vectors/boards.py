"""The leaderboards of sentence encoders that mteb evaluated.

For each benchmark there are at most two. One has the published rows, and of our rows only the scores that are comparable with them: on exact
data. The other has only our rows, with all their scores; a column is a task on one version of its rows, so that all scores in a column are
on the same data. Thus no score on reduced data stands beside a published one.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from mtl.base.terminal import MISSING
from mtl.reports.board import COSTS, Column, Group, GroupLine, Leaderboard, Row, Score, by_family, single
from mtl.reports.tables import csv_text
from mtl.tasks.suite import AVERAGE
from mtl.tasks.task import Scale
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import EXACT, Evaluation, choice_note, find_evaluations, not_comparable_notes

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
    """The leaderboards of the evaluations below a folder."""
    return encoder_leaderboards(find_evaluations(folder))


def encoder_leaderboards(evaluations: Sequence[Evaluation]) -> list[Leaderboard]:
    """For each benchmark a leaderboard of the published rows and the scores comparable with them, and one of all scores of ours.

    The second is left out if it would have no score that the first lacks. Evaluations with other tasks or metrics under the same name
    have leaderboards of their own. The published rows are those of the benchmark's newest copy.
    """
    by_benchmark: dict[tuple[str, str], list[Evaluation]] = {}
    for evaluation in evaluations:
        benchmark = evaluation.benchmark
        by_benchmark.setdefault((benchmark.name, repr(benchmark.types)), []).append(evaluation)
    boards, numbers = [], Counter[str]()
    for (name, _), group in by_benchmark.items():
        numbers[name] += 1
        id = f"{name}-{numbers[name]}" if numbers[name] > 1 else name
        benchmark = max(group, key=lambda evaluation: evaluation.folder.benchmark.stat().st_mtime).benchmark
        boards.append(_beside_published(id, benchmark, group))
        if not all(evaluation.is_comparable(task) for evaluation in group for task in evaluation.summary["tasks"]):
            boards.append(_ours_alone(id, benchmark, group))
    return [board for board in boards if board.rows]


def _beside_published(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    columns = {name: _column(benchmark, name, name) for name in benchmark.tasks}
    ids = {
        (evaluation.path, task): task
        for evaluation in evaluations
        for task in evaluation.summary["tasks"]
        if evaluation.is_comparable(task)
    }
    complete_only = bool(benchmark.published)
    ours = [row for row in _our_rows(benchmark, columns, evaluations, ids, complete_only) if row.scores]
    facts = [
        "Scores × 100. AVG is the mean over tasks, by type the mean over the means of the types. Our rows are scored by mteb's own"
        " evaluation, on the rows that mteb describes; scores on other rows are left out here."
    ]
    if ours:
        facts += not_comparable_notes(benchmark, list(benchmark.tasks))
    if complete_only and any(row.missing for row in ours):
        facts.append("A row of ours that lacks a task of the benchmark has no AVG beside the published ones.")
    rows, models_by_source = list(ours), dict[str, list[str]]()
    for row in benchmark.published:
        scores = {id: row.scores[id] for id in columns if id in row.scores}
        averages = {AVERAGE: row.average, BY_TYPE: row.average_by_type}
        printed = {key: value for key, value in averages.items() if value is not None}
        rows.append(_row(benchmark, columns, scores, printed, name=row.model, label="published", family=row.family))
        models_by_source.setdefault(row.source, []).append(row.model)
    facts += [f"Published in the {source}: {', '.join(models)}." for source, models in models_by_source.items()]
    return _leaderboard(id, benchmark.title, benchmark, columns, rows, facts, complete_only)


def _ours_alone(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """All scores of ours. A task whose rows differ between evaluations has a column for each version."""
    ids: dict[tuple[Path, str], str] = {}
    columns, facts = {}, ["Scores × 100 of our rows alone, on data of which some is not the benchmark's."]
    for task in benchmark.tasks:
        versions: dict[str, list[Evaluation]] = {}
        for evaluation in evaluations:
            if task in evaluation.summary["tasks"]:
                versions.setdefault(evaluation.summary["tasks"][task]["revision"], []).append(evaluation)
        for number, (revision, scored) in enumerate(versions.items(), 1):
            title = f"{task}, rows {number}" if len(versions) > 1 else task
            columns[f"{task}@{revision}"] = _column(benchmark, task, title)
            ids |= {(evaluation.path, task): f"{task}@{revision}" for evaluation in scored}
            record = scored[-1].summary["tasks"][task]
            if record["data"] != EXACT:
                facts.append(f"† {title}: {record['data']} data ({'; '.join(record['differences'])}).")
    if len(columns) > len({column.task for column in columns.values()}):
        facts.append("Means over different versions of a task's rows cannot be compared with each other.")
    rows = _our_rows(benchmark, columns, evaluations, ids, complete_only=False)
    title = f"{benchmark.title}, local data: not comparable with published scores"
    return _leaderboard(f"{id}-local", title, benchmark, columns, rows, facts, complete_only=False)


def _column(benchmark: Benchmark, task: str, title: str) -> Column:
    return Column(title, benchmark.types[benchmark.type_of(task)].metric_title, benchmark.metric(task), task)


def _our_rows(
    benchmark: Benchmark,
    columns: Mapping[str, Column],
    evaluations: Sequence[Evaluation],
    ids: Mapping[tuple[Path, str], str],
    complete_only: bool,
) -> list[EncoderRow]:
    """The rows of evaluations. Titles that several evaluations share have the seed, and names that they share are paths.

    Args:
        ids: the column of an evaluation's task, by the evaluation's folder and the task; others are left out.
        complete_only: whether only a row with all tasks of the benchmark has an average.
    """
    encoders, names = (Counter(map(attrgetter(key), evaluations)) for key in ("title", "name"))
    titles = []
    for evaluation in evaluations:
        with_seed = encoders[evaluation.title] > 1 and evaluation.seed is not None
        titles.append(f"{evaluation.title}, seed {evaluation.seed}" if with_seed else evaluation.title)
    rows = []
    for evaluation, title in zip(evaluations, titles, strict=True):
        summary, path = evaluation.summary, evaluation.path
        shown = {task: ids[path, task] for task in summary["tasks"] if (path, task) in ids}
        name = evaluation.name if names[evaluation.name] == 1 else path.as_posix()
        rows.append(
            _row(
                benchmark,
                columns,
                {id: evaluation.score(task) for task, id in shown.items()},
                {},
                seen=[id for task, id in shown.items() if task in summary["seen"]],
                complete_only=complete_only,
                name=name,
                label=f"{title}, {name}" if titles.count(title) > 1 else title,
                family=summary["encoder"]["family"],
                cost={key: summary["cost"].get(key) for key in ENCODER_COSTS},
                evaluation=evaluation,
            )
        )
    return rows


def _row(
    benchmark: Benchmark,
    columns: Mapping[str, Column],
    scores: Mapping[str, float],
    printed: Mapping[str, float],
    *,
    seen: Collection[str] = (),
    complete_only: bool = False,
    **facts: Any,
) -> EncoderRow:
    """A row with its means and marks, and these facts as its other fields.

    The mean of a type needs a score on each task of the type that the leaderboard has; the average over types needs all of these means.

    Args:
        scores: × 100, by column.
        printed: the averages as they were published.
        seen: the columns with training rows that the encoder has seen.
        complete_only: whether only a row with all tasks of the benchmark has an average.
    """
    scored = {columns[id].task for id in scores}
    missing, by_type = benchmark.missing(scored), _ids_by_type(benchmark, columns)
    means = {
        name: fmean(scores[id] for id in ids if id in scores)
        for name, ids in by_type.items()
        if {columns[id].task for id in ids} <= scored
    }
    averages = dict(printed)
    if scores and not (complete_only and missing):
        averages.setdefault(AVERAGE, fmean(scores.values()))
    if len(means) == len(by_type):
        averages.setdefault(BY_TYPE, fmean(means.values()))
    tasks = {AVERAGE: list(benchmark.tasks), BY_TYPE: list(benchmark.tasks)}
    tasks |= {name: list(benchmark.types[name].tasks) for name in by_type}
    lacking = {id for id, counted in tasks.items() if scores and not scored.issuperset(counted)}
    seen_tasks = {columns[id].task for id in seen}
    trained = {*seen, *(id for id, counted in tasks.items() if not seen_tasks.isdisjoint(counted))}
    marked = [*columns, *tasks]
    return EncoderRow(
        split=SPLIT,
        scores={id: single(score) for id, score in scores.items()},
        means={id: single(mean) for id, mean in {**averages, **means}.items()},
        missing=missing,
        seen=[id for id in [*columns, *by_type] if id in trained],
        partial=[name for name in by_type if name in lacking],
        marks={id: ("*" if id in lacking else "") + ("‡" if id in trained else "") for id in marked},
        reasons={
            id: tuple(column for column in columns if column in scores and columns[column].task in counted)
            for id, counted in tasks.items()
        },
        **facts,
    )


def _ids_by_type(benchmark: Benchmark, columns: Mapping[str, Column]) -> dict[str, list[str]]:
    """The columns of each type that has any."""
    return {
        name: ids
        for name, type_ in benchmark.types.items()
        if (ids := [id for id, column in columns.items() if column.task in type_.tasks])
    }


def _leaderboard(
    id: str,
    title: str,
    benchmark: Benchmark,
    columns: Mapping[str, Column],
    rows: Sequence[EncoderRow],
    facts: Sequence[str],
    complete_only: bool,
) -> Leaderboard:
    """The leaderboard of these rows: a table of the means by type, and a group for the tasks of each type."""
    rows = by_family(rows)
    by_type = _ids_by_type(benchmark, columns)
    titles = {name: benchmark.types[name].title for name in by_type}
    groups = []
    for name, ids in by_type.items():
        lines = [
            GroupLine(row, scores, _median(row, name), row.mark(name)) for row in rows if (scores := _chosen(row, ids))
        ]
        type_title = f"{titles[name]}, {benchmark.types[name].metric_title}"
        groups.append(Group(name, type_title, {id: columns[id].title for id in ids}, lines, len(ids) > 1))
    by_row = [GroupLine(row, means, _median(row, BY_TYPE)) for row in rows if (means := _chosen(row, by_type))]
    return Leaderboard(
        id,
        title,
        SCALE,
        {AVERAGE: Column("AVG", "mean"), **columns},
        rows,
        marks=[PARTIAL_MARK] if any(row.missing for row in rows) else [],
        facts=[*facts, *_row_notes(rows)],
        groups=groups,
        page_groups=[Group("types", "by type", titles, by_row, has_mean=True)],
        table={
            AVERAGE: Column("AVG, tasks", "mean"),
            BY_TYPE: Column("AVG, types", "mean"),
            **{name: Column(title, benchmark.types[name].metric_title) for name, title in titles.items()},
        },
        groups_title="Scores by type",
        groups_note=GROUPS_NOTE,
        unscored=benchmark.missing({column.task for column in columns.values()}),
        whole_averages=complete_only,
    )


def _chosen(row: Row, columns: Collection[str]) -> dict[str, Score]:
    """The row's scores or means in these columns."""
    return {id: score for id in columns if (score := row.score(id))}


def _median(row: Row, column: str) -> float | None:
    return score.median if (score := row.score(column)) else None


def _row_notes(rows: Sequence[EncoderRow]) -> list[str]:
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


def render_vectors(boards: Sequence[Leaderboard]) -> str:
    """A line for each encoder and task, each mean of a type, and both averages. Scores are × 100 and not rounded."""
    lines: list[Sequence[Any]] = [
        ["board", "name", "what", "family", "source", "column", "task", "metric", "score", "data", "seen", "partial"]
    ]
    for board in boards:
        averages = [AVERAGE, BY_TYPE]
        tasks = [id for id in board.columns if id != AVERAGE]
        types = [id for id in board.table or () if id not in averages]
        for row in board.rows:
            evaluation = row.evaluation if isinstance(row, EncoderRow) else None
            source = "evaluation" if evaluation else "published"
            for id in [*tasks, *types, *averages]:
                if (score := row.score(id)) is None:
                    continue
                column, data = board.columns.get(id) if id != AVERAGE else None, ""
                if column and evaluation:
                    data = evaluation.summary["tasks"][column.task]["data"]
                what = (column.title, column.task, column.metric) if column else (id, "", "mean")
                marked = ["yes" if sign in row.mark(id) else "no" for sign in "‡*"]
                label = row.label if row.ours else row.name
                lines.append([board.name, row.name, label, row.family, source, *what, score.median, data, *marked])
    return csv_text(lines)
