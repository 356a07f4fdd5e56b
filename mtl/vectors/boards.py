"""The leaderboards of sentence encoders that mteb evaluated: for each benchmark, one with the published rows and those of our scores that are
comparable with them, on exact data; and one with all scores of ours alone, where a column is a task on one version of its rows."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from mtl.reports.board import Column, Leaderboard
from mtl.reports.rows import single
from mtl.tasks.suite import AVERAGE
from mtl.vectors.board_layout import BY_TYPE, BoardLayout, EncoderRow
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import EXACT, Evaluation, EvaluationFolder, find_evaluations

SPLIT = "test"
ENCODER_COSTS = ("parameters", "parameters_without_embeddings", "sentences_per_second", "seconds_per_task", "memory", "dim")  # fmt: skip


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
    ours = _our_rows(layout, evaluations, lambda evaluation, task: task if evaluation.is_comparable(task) else None)
    rows = [row for row in ours if row.scores]
    facts = [
        "Scores × 100. AVG is the mean over tasks, by type the mean over the means of the types. Our rows are scored by mteb's own"
        " evaluation, on the rows that mteb describes; scores on other rows are left out here."
    ]
    if rows:
        facts += benchmark.not_comparable_notes(benchmark.tasks)
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
    evaluated = [evaluation.summary["tasks"] for evaluation in evaluations]
    for task in benchmark.tasks:
        versions = {tasks[task]["revision"]: tasks[task] for tasks in evaluated if task in tasks}
        for number, (revision, record) in enumerate(versions.items(), 1):
            title = f"{task}, rows {number}" if len(versions) > 1 else task
            columns[f"{task}@{revision}"] = _column(benchmark, task, title)
            if record["data"] != EXACT:
                facts.append(f"† {title}: {record['data']} data ({'; '.join(record['differences'])}).")
    if len(columns) > len({column.task for column in columns.values()}):
        facts.append("Means over different versions of a task's rows cannot be compared with each other.")
    layout = BoardLayout(benchmark, columns, complete_only=False)
    rows = _our_rows(
        layout, evaluations, lambda evaluation, task: f"{task}@{evaluation.summary['tasks'][task]['revision']}"
    )
    title = f"{benchmark.title}, local data: not comparable with published scores"
    return layout.leaderboard(f"{id}-local", title, rows, facts)


def _column(benchmark: Benchmark, task: str, title: str) -> Column:
    type_ = benchmark.types[benchmark.type_of(task)]
    return Column(title, type_.metric_title, type_.metric, task)


def _our_rows(
    layout: BoardLayout, evaluations: Sequence[Evaluation], column_of: Callable[[Evaluation, str], str | None]
) -> list[EncoderRow]:
    """The rows of evaluations, named by folder, or by path where names repeat. `column_of` gives the id of a task's column, None if it has none."""
    paths = [evaluation.path for evaluation in evaluations]
    counts = Counter(path.name for path in paths)
    names = [path.name if counts[path.name] == 1 else path.as_posix() for path in paths]
    rows = []
    for evaluation, name, label in zip(evaluations, names, _labels(evaluations, names), strict=True):
        summary = evaluation.summary
        columns = {task: column_of(evaluation, task) for task in summary["tasks"]}
        row = EncoderRow(
            name, label, summary["encoder"]["family"], SPLIT, means={}, evaluation=evaluation,
            scores={id: single(evaluation.scores[task]) for task, id in columns.items() if id is not None},
            cost={key: summary["cost"].get(key) for key in ENCODER_COSTS},
        )  # fmt: skip
        rows.append(layout.with_means(row))
    return rows


def _labels(evaluations: Sequence[Evaluation], names: Sequence[str]) -> list[str]:
    """The titles of evaluations, with the seed where several have the same title, and with the name where they still have."""
    encoders = [evaluation.summary["encoder"] for evaluation in evaluations]
    counts = Counter(encoder["title"] for encoder in encoders)
    titles = []
    for title, seed in ((encoder["title"], encoder["seed"]) for encoder in encoders):
        titles.append(f"{title}, seed {seed}" if counts[title] > 1 and seed is not None else title)
    return [f"{title}, {name}" if titles.count(title) > 1 else title for title, name in zip(titles, names, strict=True)]
