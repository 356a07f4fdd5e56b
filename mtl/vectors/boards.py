"""The leaderboards of sentence encoders that mteb evaluated: for each benchmark, one with the published rows and those of our scores that are
comparable with them, on exact data; and one with all scores of ours alone, where a column is a task on one version of its rows."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from mtl.base.wording import MISSING
from mtl.reports.board import Column, Group, GroupLine, Leaderboard
from mtl.reports.rows import Row, by_family, single
from mtl.tasks.scale import Scale
from mtl.tasks.suite import AVERAGE
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import EXACT, Evaluation, EvaluationFolder, find_evaluations

BY_TYPE, SPLIT = "average_by_type", "test"
ENCODER_COSTS = ("parameters", "parameters_without_embeddings", "sentences_per_second", "seconds_per_task", "memory", "dim")  # fmt: skip
SCALE = Scale(1.0, 2, "score × 100")  # two decimals, as the published rows have
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


class BoardLayout:
    """The columns of a leaderboard by id, and whether an evaluation has an average only with all tasks of the benchmark."""

    def __init__(self, benchmark: Benchmark, columns: Mapping[str, Column], complete_only: bool) -> None:
        self.benchmark, self.columns, self.complete_only = benchmark, columns, complete_only
        # By the id of a type, those of its columns; types without a column are left out.
        self.by_type: dict[str, list[str]] = {}
        for type_id, type_ in benchmark.types.items():
            if ids := [id for id, column in columns.items() if column.task in type_.tasks]:
                self.by_type[type_id] = ids
        # By the id of a mean, which may be that of a type, the tasks of the benchmark that it is over.
        self.mean_tasks = {AVERAGE: benchmark.tasks, BY_TYPE: benchmark.tasks}
        self.mean_tasks |= {type_id: benchmark.types[type_id].tasks for type_id in self.by_type}

    def row(
        self,
        name: str,
        label: str,
        family: str,
        scores: Mapping[str, float],
        evaluation: Evaluation | None = None,
        printed: tuple[float | None, float | None] = (None, None),
    ) -> EncoderRow:
        """The row of these scores × 100 by column, with its means and marks. `printed` has both averages of a published row, × 100."""
        marks, cost = self._marks(scores, evaluation), None
        if evaluation is not None:
            cost = {key: evaluation.summary["cost"].get(key) for key in ENCODER_COSTS}
        causes = {}
        for mean, tasks in self.mean_tasks.items():
            causes[mean] = {"*": [id for id in self.columns if id in scores and self.columns[id].task in tasks]}
        return EncoderRow(
            name, label, family, SPLIT,
            scores={id: single(scores[id]) for id in self.columns if id in scores},
            means={id: single(mean) for id, mean in self._means(scores, evaluation, printed).items()},
            missing=self.benchmark.missing(self._tasks_of(scores)),
            seen=[id for id in [*self.columns, *self.by_type] if "‡" in marks[id]],
            partial=[type_id for type_id in self.by_type if "*" in marks[type_id]],
            marks=marks, causes=causes, cost=cost, evaluation=evaluation,
        )  # fmt: skip

    def _means(
        self, scores: Mapping[str, float], evaluation: Evaluation | None, printed: Iterable[float | None]
    ) -> dict[str, float]:
        """The averages of a row, the printed ones if it is published, and the means of the types of which it has all tasks of this leaderboard."""
        by_task, means = {self.columns[id].task: score for id, score in scores.items()}, {}
        type_means = self.benchmark.type_means(by_task)
        type_means = {id: type_means[id] for id, ids in self.by_type.items() if self._tasks_of(ids) <= by_task.keys()}
        is_withheld = self.complete_only and evaluation is not None and self.benchmark.missing(by_task)
        if scores and not is_withheld:
            means[AVERAGE] = fmean(scores.values())
        if len(type_means) == len(self.by_type):
            means[BY_TYPE] = fmean(type_means.values())
        means |= {id: mean for id, mean in zip((AVERAGE, BY_TYPE), printed, strict=True) if mean is not None}
        return means | type_means

    def _marks(self, scores: Mapping[str, float], evaluation: Evaluation | None) -> dict[str, str]:
        """The marks of a row's scores and means, by the ids of columns and means (`Row.mark` says what a mark means)."""
        scored, seen, inexact = self._tasks_of(scores), set[str](), set[str]()
        if evaluation is not None:
            seen = scored & evaluation.summary["seen"].keys()
            inexact = {task for task in scored if evaluation.summary["tasks"][task]["data"] != EXACT}
        marks = dict.fromkeys(self.columns, "")
        for id in scores:
            task = self.columns[id].task
            marks[id] = "†" * (task in inexact) + "‡" * (task in seen)
        for mean, tasks in self.mean_tasks.items():
            is_partial = bool(scored) and not scored.issuperset(tasks)
            marks[mean] = "*" * is_partial + "‡" * (not seen.isdisjoint(tasks))
        return marks

    def _tasks_of(self, columns: Collection[str]) -> set[str]:
        """The tasks of the columns with these ids."""
        return {self.columns[id].task for id in columns}

    def leaderboard(self, board_id: str, title: str, rows: Sequence[EncoderRow], notes: Sequence[str]) -> Leaderboard:
        """The leaderboard of these rows: a table of the means by type, and a group for the tasks of each type."""
        rows = by_family(rows)
        titles = {type_id: self.benchmark.types[type_id].title for type_id in self.by_type}
        shown = {AVERAGE: Column("AVG, tasks", "mean"), BY_TYPE: Column("AVG, types", "mean")}
        shown |= {id: Column(title, self.benchmark.types[id].metric_title) for id, title in titles.items()}
        return Leaderboard(
            board_id, title, SCALE, {AVERAGE: Column("AVG", "mean"), **self.columns}, rows,
            marks=[PARTIAL_MARK] if any(row.missing for row in rows) else [], notes=[*notes, *self._seen_notes(rows)],
            groups=[self._type_group(type_id, rows) for type_id in titles],
            page_groups=[Group("types", "by type", titles, _group_lines(rows, titles, BY_TYPE), has_mean=True)],
            shown_columns=shown, groups_title="Scores by type", groups_note=GROUPS_NOTE,
            unscored=self.benchmark.missing(self._tasks_of(self.columns)), whole_averages=self.complete_only,
        )  # fmt: skip

    def _type_group(self, type_id: str, rows: Sequence[EncoderRow]) -> Group:
        """The group of the tasks of a type."""
        type_, ids = self.benchmark.types[type_id], self.by_type[type_id]
        titles = {id: self.columns[id].title for id in ids}
        lines = _group_lines(rows, ids, type_id)
        return Group(type_id, f"{type_.title}, {type_.metric_title}", titles, lines, has_mean=len(ids) > 1)

    def _seen_notes(self, rows: Sequence[EncoderRow]) -> list[str]:
        """A note on each row with scores on tasks whose training rows the encoder has seen."""
        notes = []
        for row in rows:
            seen, scored = row.evaluation.summary["seen"] if row.evaluation else (), self._tasks_of(row.scores)
            if tasks := [task for task in seen if task in scored]:
                notes.append(f"‡ {row.label}: trained on training rows of {', '.join(tasks)}.")
        return notes


def find_boards(folder: Path) -> list[Leaderboard]:
    """The leaderboards of the evaluations below a folder. For each benchmark, and each version of the types in its file, there is one with
    the published rows, which are those of the benchmark's newest copy; and one of our rows alone, if it has a score that the first lacks."""
    by_benchmark: dict[tuple[str, str], list[Evaluation]] = {}
    for evaluation in find_evaluations(folder):
        benchmark = evaluation.benchmark
        by_benchmark.setdefault((benchmark.name, repr(benchmark.types)), []).append(evaluation)
    boards = []
    numbers = Counter[str]()
    for (name, _), evaluations in by_benchmark.items():
        numbers[name] += 1
        id = f"{name}-{numbers[name]}" if numbers[name] > 1 else name
        newest = max(evaluations, key=lambda evaluation: EvaluationFolder(evaluation.path).benchmark.stat().st_mtime)
        boards.append(_beside_published(id, newest.benchmark, evaluations))
        if not all(evaluation.is_comparable(task) for evaluation in evaluations for task in evaluation.scores):
            boards.append(_ours_alone(id, newest.benchmark, evaluations))
    return [board for board in boards if board.rows]


def _beside_published(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """The comparable scores of ours, and the published rows. A column's id is its task."""
    columns = {task: _column(benchmark, task, title=task) for task in benchmark.tasks}
    layout = BoardLayout(benchmark, columns, complete_only=bool(benchmark.published))
    comparable = [{task: score for task, score in one.scores.items() if one.is_comparable(task)} for one in evaluations]
    ours = [row for row in _our_rows(layout, evaluations, comparable) if row.scores]
    facts = [
        "Scores × 100. AVG is the mean over tasks, by type the mean over the means of the types. Our rows are scored by mteb's own"
        " evaluation, on the rows that mteb describes; scores on other rows are left out here."
    ]
    if ours:
        facts += benchmark.not_comparable_notes(benchmark.tasks)
    if layout.complete_only and any(row.missing for row in ours):
        facts.append("A row of ours that lacks a task of the benchmark has no AVG beside the published ones.")
    models_by_source: dict[str, list[str]] = {}
    for row in benchmark.published:
        models_by_source.setdefault(row.source, []).append(row.model)
    facts += [f"Published in the {source}: {', '.join(models)}." for source, models in models_by_source.items()]
    published = [
        layout.row(row.model, "published", row.family, row.scores, printed=(row.average, row.average_by_type))
        for row in benchmark.published
    ]
    return layout.leaderboard(id, benchmark.title, [*ours, *published], facts)


def _ours_alone(id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """All scores of ours. A task whose rows differ between evaluations has a column for each version, with the id TASK@VERSION."""
    columns: dict[str, Column] = {}
    facts = ["Scores × 100 of our rows alone, of which some cannot be compared with published ones."]
    evaluated = [evaluation.summary["tasks"] for evaluation in evaluations]
    for task in benchmark.tasks:
        versions = {tasks[task]["revision"]: tasks[task] for tasks in evaluated if task in tasks}
        for number, (revision, record) in enumerate(versions.items(), 1):
            title = f"{task}, rows {number}" if len(versions) > 1 else task
            columns[f"{task}@{revision}"] = _column(benchmark, task, title)
            if record["data"] != EXACT:
                facts.append(f"† {title}: {record['data']} data ({'; '.join(record['differences'])}).")
    present = [task for task in benchmark.tasks if any(task in tasks for tasks in evaluated)]
    facts += benchmark.not_comparable_notes(present)
    if len(columns) > len(present):
        facts.append("Means over different versions of a task's rows cannot be compared with each other.")
    layout = BoardLayout(benchmark, columns, complete_only=False)
    scores = [
        {f"{task}@{one.summary['tasks'][task]['revision']}": score for task, score in one.scores.items()}
        for one in evaluations
    ]
    rows = _our_rows(layout, evaluations, scores)
    title = f"{benchmark.title}, all our scores: not comparable with published scores"
    return layout.leaderboard(f"{id}-local", title, rows, facts)


def _column(benchmark: Benchmark, task: str, title: str) -> Column:
    """The column of a task, with the metric of its type."""
    type_ = benchmark.types[benchmark.type_of(task)]
    return Column(title, type_.metric_title, type_.metric, task)


def _our_rows(
    layout: BoardLayout, evaluations: Sequence[Evaluation], scores: Sequence[Mapping[str, float]]
) -> list[EncoderRow]:
    """The rows of evaluations with their scores by the ids of columns. They are named by folder, or by path where names repeat. Their labels are
    their titles, with the seed where several have the same title, and with the name where they still have."""
    paths = [evaluation.path for evaluation in evaluations]
    folders = Counter(path.name for path in paths)
    names = [path.name if folders[path.name] == 1 else path.as_posix() for path in paths]
    encoders = [evaluation.summary["encoder"] for evaluation in evaluations]
    titles = Counter(encoder["title"] for encoder in encoders)
    labels = []
    for title, seed in ((encoder["title"], encoder["seed"]) for encoder in encoders):
        labels.append(f"{title}, seed {seed}" if titles[title] > 1 and seed is not None else title)
    rows = []
    for name, label, evaluation, by_column in zip(names, labels, evaluations, scores, strict=True):
        shown = f"{label}, {name}" if labels.count(label) > 1 else label
        rows.append(layout.row(name, shown, evaluation.summary["encoder"]["family"], by_column, evaluation))
    return rows


def _group_lines(rows: Sequence[Row], columns: Collection[str], mean: str) -> list[GroupLine]:
    """A line for each row with scores or means in these columns; `mean` is the column of their mean."""
    lines = []
    for row in rows:
        if scores := {id: score for id in columns if (score := row.score(id))}:
            mean_score = row.score(mean)
            lines.append(GroupLine(row, scores, mean_score.median if mean_score else None, row.mark(mean)))
    return lines
