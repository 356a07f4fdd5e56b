"""The rows of a leaderboard that are runs: their scores with intervals, their average, and the marks on both."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from mtl.base.progress import progress
from mtl.reports.rows import RUN_COSTS, Causes, Row, Score
from mtl.runs.finished import FinishedRun
from mtl.runs.notes import splits_text
from mtl.runs.records import MetricScores
from mtl.stats.comparison import Sample, estimate
from mtl.stats.samples import SampleCache, samples_of
from mtl.tasks.metrics import is_metric, lowest_score
from mtl.tasks.suite import AVERAGE


def run_rows(runs: Sequence[FinishedRun], cache: SampleCache) -> list[Row]:
    """The rows of runs on one suite, in the order of the runs."""
    rows = []
    labels, tasks_apart = _labels(runs), _tasks_apart(runs)
    for run, label, apart in zip(progress(runs, "resampling", "runs"), labels, tasks_apart, strict=True):
        rows.append(_run_row(run, samples_of(run, cache.reduced(run)), label, apart))
    return rows


def _labels(runs: Sequence[FinishedRun]) -> list[str]:
    """The label of each run: its title, with its name if another run has this title, too."""
    titles = Counter(run.summary["title"] for run in runs)
    labels = []
    for run in runs:
        label, folder = run.summary["title"], run.summary["folder"]
        if titles[label] > 1 and run.name != folder:
            label += f", {run.name.removeprefix(folder + ',')}"
        labels.append(label)
    return labels


def _tasks_apart(runs: Sequence[FinishedRun]) -> list[dict[str, str]]:
    """For each run, its tasks on other examples than most runs (than most on the published data, if any is), with the key of its examples."""
    by_split: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, run in enumerate(runs):
        for task in run.tasks:
            by_split[task.id, run.split(task)][run.examples_key(task)].append(number)
    apart: list[dict[str, str]] = [{} for _ in runs]
    for (id, _), by_examples in by_split.items():
        published = [key for key, numbers in by_examples.items() if id not in runs[numbers[0]].summary["reduced"]]
        usual = max(published or by_examples, key=lambda key: len(by_examples[key]))
        for key, numbers in by_examples.items():
            if key != usual:
                for number in numbers:
                    apart[number][id] = key
    return apart


def _run_row(run: FinishedRun, samples: Mapping[str, Sample], label: str, apart: Mapping[str, str]) -> Row:
    """The row of a run. `apart` is as in `Row`."""
    summary = run.summary
    averaged = [id for id in run.suite.averaged if id in summary["tasks"]]
    splits: dict[str, str] = {id: record["split"] for id, record in summary["tasks"].items()}
    comparable = {task.id: run.examples_key(task) for task in run.tasks}
    means = {}
    if averaged:
        means[AVERAGE] = _average(run, samples[AVERAGE], averaged)
        splits[AVERAGE] = ", ".join(sorted({splits[id] for id in averaged}))
        comparable[AVERAGE] = repr([(id, comparable[id]) for id in averaged])
    causes = _causes_of_marks(run, averaged, apart)
    return Row(
        name=run.name,
        label=label,
        family=summary["family"],
        split=splits_text(summary),
        splits=splits,
        scores=_scores(run, samples),
        means=means,
        further=_further_scores(run),
        missing=run.suite.lacking(summary["tasks"]),
        reduced=summary["reduced"],
        apart=apart,
        marks={column: "".join(by_mark) for column, by_mark in causes.items()},
        causes=causes,
        cost={key: summary["cost"].get(key) for key in RUN_COSTS},
        run=run,
        samples=samples,
        comparable=comparable,
    )


def _scores(run: FinishedRun, samples: Mapping[str, Sample]) -> dict[str, Score]:
    """The score of each task, with its interval."""
    intervals = {task.id: _interval(samples[task.id], lowest_score(task)) for task in run.tasks}
    return {id: _score(run.summary["tasks"][id], interval) for id, interval in intervals.items()}


def _further_scores(run: FinishedRun) -> dict[str, dict[str, Score]]:
    """The scores of each task by further metrics, without intervals."""
    recorded = {task.id: run.summary["tasks"][task.id].get("also", {}) for task in run.tasks}
    return {id: {name: _score(also[name]) for name in also if is_metric(name)} for id, also in recorded.items()}


def _average(run: FinishedRun, sample: Sample, averaged: Sequence[str]) -> Score:
    """The mean of the scores of these tasks, with its range over seeds and its interval."""
    lowest = run.suite.mean({id: lowest_score(run.suite.tasks[id]) for id in averaged}) or 0.0
    mean = run.suite.mean({id: run.summary["tasks"][id]["median"] for id in averaged}) or 0.0
    return Score(mean, float(sample.by_seed.min()), float(sample.by_seed.max()), _interval(sample, lowest))


def _score(record: MetricScores, interval: tuple[float, float] | None = None) -> Score:
    return Score(record["median"], record["min"], record["max"], interval)


def _interval(sample: Sample, lowest: float) -> tuple[float, float]:
    """The interval of a score, cut at the lowest and the highest value × 100 of the metric."""
    low, high = estimate(sample).interval
    return max(low, lowest), min(high, 100.0)


def _causes_of_marks(run: FinishedRun, averaged: Sequence[str], apart: Mapping[str, str]) -> dict[str, Causes]:
    """What causes the marks of a run's row, by column. `averaged` are the tasks of its average."""
    reduced, chosen = run.summary["reduced"], run.summary.get("chosen_on_scored", ())
    marked_tasks = {"†": {id: id for id in reduced}, "§": apart, "¶": {id: id for id in chosen}}
    causes: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    if missing := run.suite.lacking(run.summary["tasks"]):
        causes[AVERAGE]["*"] = missing
    tasks_of_columns = {**{task.id: [task.id] for task in run.tasks}, AVERAGE: averaged}
    for column, ids in tasks_of_columns.items():
        for mark, tasks in marked_tasks.items():
            keys = [tasks[id] for id in ids if id in tasks]
            if keys:
                causes[column][mark] = keys
    return dict(causes)
