"""The leaderboards of sentence encoders that mteb evaluated: for each benchmark, one with published rows, and one of our scores alone."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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
COSTS = ("parameters", "parameters_without_embeddings", "sentences_per_second", "seconds_per_task", "memory", "dim")
SCALE = Scale(1.0, 2, "score × 100")  # two decimals, as the published rows have
PARTIAL_MARK = (
    "* partial: the mean of the scores that the row has, without some of the benchmark's tasks. A type has"
    f" {MISSING} where the row lacks one of its tasks that this board has."
)
GROUPS_NOTE = (
    "The mean of each type of which a row has all tasks of this board, and the mean over the types where it has all of them."
    " *: without some of the benchmark's tasks."
)
Scores = Mapping[str, float]  # × 100, by the id of a column or by task
Averages = Mapping[str, float | None]  # × 100, by the id of their column; None: not printed


class EncoderRow(Row):
    """One row: an evaluation of an encoder, or a published one, which has no costs."""

    @property
    def ours(self) -> bool:
        """Whether this is an evaluation, not a published row."""
        return self.cost is not None


class BoardLayout:
    """The columns of a leaderboard. Those of tasks have ids of their own; those of means have the id of a type, AVERAGE or BY_TYPE."""

    def __init__(self, benchmark: Benchmark, columns: Mapping[str, Column], complete_only: bool) -> None:
        """`columns` are those of tasks, by id. With `complete_only`, an evaluation has an average only if it has all tasks of the benchmark."""
        self.benchmark, self.columns, self.complete_only = benchmark, columns, complete_only
        self.tasks = {column.task for column in columns.values()}
        self.types = {id: type_ for id, type_ in benchmark.types.items() if self.tasks & type_.tasks.keys()}
        # By the id of a mean, the tasks of the benchmark that it is over.
        self.mean_tasks = {AVERAGE: benchmark.tasks, BY_TYPE: benchmark.tasks}
        self.mean_tasks |= {type_id: type_.tasks for type_id, type_ in self.types.items()}

    def row(
        self, name: str, label: str, family: str, scores: Scores, evaluation: Evaluation | None, printed: Averages
    ) -> EncoderRow:
        """The row of these scores by column, with its means and marks: of an evaluation, or a published one (None) with its printed averages."""
        by_task = {self.columns[id].task: score for id, score in scores.items()}
        means = self._means(by_task, printed, is_ours=evaluation is not None)
        marks = self._marks(scores, by_task, evaluation)
        causes = {}
        for mean_id, tasks in self.mean_tasks.items():
            causes[mean_id] = {"*": [id for id in self.columns if id in scores and self.columns[id].task in tasks]}
        cost = None if evaluation is None else {key: evaluation.summary["cost"].get(key) for key in COSTS}
        return EncoderRow(
            name, label, family, SPLIT,
            scores={id: single(scores[id]) for id in self.columns if id in scores},
            means={id: single(mean) for id, mean in means.items()},
            missing=self.benchmark.missing(by_task),
            seen=[id for id in [*self.columns, *self.types] if "‡" in marks[id]],
            partial=[type_id for type_id in self.types if "*" in marks[type_id]],
            marks=marks, causes=causes, cost=cost,
        )  # fmt: skip

    def _means(self, by_task: Scores, printed: Averages, is_ours: bool) -> dict[str, float]:
        """The means of a row: its averages, as printed if they are, and those of the types of which it has all tasks of this leaderboard."""
        means = {}
        if by_task and not (is_ours and self.complete_only and self.benchmark.missing(by_task)):
            means[AVERAGE] = fmean(by_task.values())
        type_means = {}
        for type_id, mean in self.benchmark.type_means(by_task).items():
            if self.tasks & self.types[type_id].tasks.keys() <= by_task.keys():
                type_means[type_id] = mean
        if len(type_means) == len(self.types):
            means[BY_TYPE] = fmean(type_means.values())
        means |= {mean_id: mean for mean_id, mean in printed.items() if mean is not None}
        return means | type_means

    def _marks(self, scores: Scores, scored: Collection[str], evaluation: Evaluation | None) -> dict[str, str]:
        """The marks of a row with these scores and scored tasks, by the ids of columns and means (`Row.mark` says what a mark means)."""
        seen, inexact = set[str](), set[str]()
        if evaluation is not None:
            seen = {task for task in scored if task in evaluation.summary["seen"]}
            inexact = {task for task in scored if evaluation.summary["tasks"][task]["data"] != EXACT}
        marks = dict.fromkeys(self.columns, "")
        for id in scores:
            task = self.columns[id].task
            marks[id] = "†" * (task in inexact) + "‡" * (task in seen)
        for mean_id, tasks in self.mean_tasks.items():
            is_partial = bool(scored) and any(task not in scored for task in tasks)
            marks[mean_id] = "*" * is_partial + "‡" * (not seen.isdisjoint(tasks))
        return marks

    def leaderboard(self, board_id: str, title: str, rows: Sequence[EncoderRow], notes: Sequence[str]) -> Leaderboard:
        """The leaderboard of these rows: a table of the means by type, and a group for the tasks of each type."""
        rows = by_family(rows)
        titles = {type_id: type_.title for type_id, type_ in self.types.items()}
        shown = {AVERAGE: Column("AVG, tasks", "mean"), BY_TYPE: Column("AVG, types", "mean")}
        shown |= {type_id: Column(type_.title, type_.metric_title) for type_id, type_ in self.types.items()}
        return Leaderboard(
            board_id, title, SCALE, {AVERAGE: Column("AVG", "mean"), **self.columns}, rows,
            marks=[PARTIAL_MARK] if any(row.missing for row in rows) else [],
            notes=[*notes, *self._seen_notes(rows)],
            groups=[self._type_group(type_id, rows) for type_id in self.types],
            page_groups=[Group("types", "by type", titles, _group_lines(rows, titles, BY_TYPE), has_mean=True)],
            shown_columns=shown, groups_title="Scores by type", groups_note=GROUPS_NOTE,
            unscored=self.benchmark.missing(self.tasks), whole_averages=self.complete_only,
        )  # fmt: skip

    def _type_group(self, type_id: str, rows: Sequence[EncoderRow]) -> Group:
        """The group of the tasks of a type."""
        type_ = self.types[type_id]
        titles = {id: column.title for id, column in self.columns.items() if column.task in type_.tasks}
        lines = _group_lines(rows, titles, type_id)
        return Group(type_id, f"{type_.title}, {type_.metric_title}", titles, lines, has_mean=len(titles) > 1)

    def _seen_notes(self, rows: Sequence[EncoderRow]) -> list[str]:
        """A note on each row with scores on tasks whose training rows the encoder has seen."""
        notes = []
        for row in rows:
            tasks = [self.columns[id].task for id in row.seen if id in row.scores]
            if tasks:
                notes.append(f"‡ {row.label}: trained on training rows of {', '.join(tasks)}.")
        return notes


def _group_lines(rows: Sequence[Row], columns: Collection[str], mean_id: str) -> list[GroupLine]:
    """A line for each row with scores or means in these columns, whose mean has this id."""
    lines = []
    for row in rows:
        scores = {id: score for id in columns if (score := row.score(id))}
        mean = row.score(mean_id)
        if scores:
            lines.append(GroupLine(row, scores, mean.median if mean else None, row.mark(mean_id)))
    return lines


def _our_rows(layout: BoardLayout, evaluations: Sequence[Evaluation], scores: Sequence[Scores]) -> list[EncoderRow]:
    """The rows of evaluations, named by folder, or by path where names repeat; labelled by title, with the seed, and then the name, if it repeats."""
    folders = Counter(evaluation.path.name for evaluation in evaluations)
    encoders = [evaluation.summary["encoder"] for evaluation in evaluations]
    titles = Counter(encoder["title"] for encoder in encoders)
    labels = []
    for encoder in encoders:
        title, seed = encoder["title"], encoder["seed"]
        labels.append(f"{title}, seed {seed}" if titles[title] > 1 and seed is not None else title)
    rows = []
    for evaluation, label, by_column in zip(evaluations, labels, scores, strict=True):
        name = evaluation.path.name if folders[evaluation.path.name] == 1 else evaluation.path.as_posix()
        shown = f"{label}, {name}" if labels.count(label) > 1 else label
        rows.append(layout.row(name, shown, evaluation.summary["encoder"]["family"], by_column, evaluation, {}))
    return rows


def _column(benchmark: Benchmark, task: str, title: str) -> Column:
    """The column of a task, with the metric of its type."""
    type_ = benchmark.types[benchmark.type_of(task)]
    return Column(title, type_.metric_title, type_.metric, task)


def _published_board(board_id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """The comparable scores of ours, and the published rows. A column's id is its task."""
    columns = {task: _column(benchmark, task, title=task) for task in benchmark.tasks}
    layout = BoardLayout(benchmark, columns, complete_only=bool(benchmark.published))
    scores = []
    for evaluation in evaluations:
        scores.append({task: score for task, score in evaluation.scores.items() if evaluation.is_comparable(task)})
    ours = [row for row in _our_rows(layout, evaluations, scores) if row.scores]
    notes = [
        "Scores × 100. AVG is the mean over tasks, by type the mean over the means of the types. Our rows are scored by mteb's own"
        " evaluation, on the rows that mteb describes; scores on other rows are left out here."
    ]
    if ours:
        notes += benchmark.not_comparable_notes(benchmark.tasks)
    if layout.complete_only and any(row.missing for row in ours):
        notes.append("A row of ours that lacks a task of the benchmark has no AVG beside the published ones.")
    published = []
    models: dict[str, list[str]] = {}  # by source
    for row in benchmark.published:
        averages = {AVERAGE: row.average, BY_TYPE: row.average_by_type}
        published.append(layout.row(row.model, "published", row.family, row.scores, None, averages))
        models.setdefault(row.source, []).append(row.model)
    notes += [f"Published in the {source}: {', '.join(names)}." for source, names in models.items()]
    return layout.leaderboard(board_id, benchmark.title, [*ours, *published], notes)


def _local_board(board_id: str, benchmark: Benchmark, evaluations: Sequence[Evaluation]) -> Leaderboard:
    """All scores of ours. A task whose rows differ between evaluations has a column for each version, with the id TASK@VERSION."""
    columns: dict[str, Column] = {}
    notes = ["Scores × 100 of our rows alone, of which some cannot be compared with published ones."]
    evaluated = [evaluation.summary["tasks"] for evaluation in evaluations]
    for task in benchmark.tasks:
        versions = {tasks[task]["revision"]: tasks[task] for tasks in evaluated if task in tasks}
        for number, (revision, record) in enumerate(versions.items(), 1):
            title = f"{task}, rows {number}" if len(versions) > 1 else task
            columns[f"{task}@{revision}"] = _column(benchmark, task, title)
            if record["data"] != EXACT:
                notes.append(f"† {title}: {record['data']} data ({'; '.join(record['differences'])}).")
    present = [task for task in benchmark.tasks if any(task in tasks for tasks in evaluated)]
    notes += benchmark.not_comparable_notes(present)
    if len(columns) > len(present):
        notes.append("Means over different versions of a task's rows cannot be compared with each other.")
    scores = []
    for evaluation, tasks in zip(evaluations, evaluated, strict=True):
        scores.append({f"{task}@{tasks[task]['revision']}": score for task, score in evaluation.scores.items()})
    layout = BoardLayout(benchmark, columns, complete_only=False)
    title = f"{benchmark.title}, all our scores: not comparable with published scores"
    return layout.leaderboard(board_id, title, _our_rows(layout, evaluations, scores), notes)


def find_boards(folder: Path) -> list[Leaderboard]:
    """The leaderboards of the evaluations below a folder. For each benchmark, and each version of the types in its file, there is one with
    the published rows, which are those of the benchmark's newest copy; and one of our rows alone, if it has a score that the first lacks."""
    by_benchmark: dict[tuple[str, str], list[Evaluation]] = {}
    for evaluation in find_evaluations(folder):
        by_benchmark.setdefault((evaluation.benchmark.name, repr(evaluation.benchmark.types)), []).append(evaluation)
    boards = []
    versions = Counter[str]()
    for (name, _), evaluations in by_benchmark.items():
        versions[name] += 1
        board_id = f"{name}-{versions[name]}" if versions[name] > 1 else name
        newest = max(evaluations, key=lambda evaluation: EvaluationFolder(evaluation.path).benchmark.stat().st_mtime)
        boards.append(_published_board(board_id, newest.benchmark, evaluations))
        if not all(evaluation.is_comparable(task) for evaluation in evaluations for task in evaluation.scores):
            boards.append(_local_board(f"{board_id}-local", newest.benchmark, evaluations))
    return [board for board in boards if board.rows]
