"""The leaderboards of sentence encoders that mteb evaluated: for each benchmark, one with the published rows and those of our scores that are
comparable with them, on exact data; and one with all scores of ours alone, where a column is a task on one version of its rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from mtl.reports.board import Column, Leaderboard
from mtl.vectors.board_layout import BoardLayout, EncoderRow
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import EXACT, Evaluation, EvaluationFolder, find_evaluations


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
