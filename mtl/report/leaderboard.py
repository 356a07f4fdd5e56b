"""All runs on one suite beside the published rows: the content of every form of the report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np

from mtl.progress import progress
from mtl.report.comparison import (
    COVERAGE,
    LEAST_SEEDS,
    LEVEL,
    Comparison,
    Sample,
    average,
    compare,
    estimate,
    with_holm,
)
from mtl.report.resampling import RESAMPLES, RowGroups, resampled_scores
from mtl.report.row import Row, Score
from mtl.runs.finished import Run
from mtl.runs.summary import below_constant, same_answers, splits_text
from mtl.tasks.metrics import METRICS, lowest_score
from mtl.tasks.suite import AVERAGE, Published, Suite

# Titles of the families of rows, in the order of the table. An unknown family comes last, under its own name.
FAMILIES = {"floor": "floor", "lstm": "LSTM", "transformer": "transformer", "llm": "large language model"}


@dataclass(frozen=True)
class Leaderboard:
    """The rows of one suite (floors, LSTMs, transformers; in each family, runs come before published rows), and comparisons of runs.

    comparisons: by the indices of two of `rows` (first minus second), then by task id and AVERAGE; only what can be compared.
    ungrouped: names of runs that did not record the groups of their scored rows.
    """

    suite: Suite
    rows: Sequence[Row]
    comparisons: Mapping[tuple[int, int], Mapping[str, Comparison]]
    ungrouped: Sequence[str] = ()

    @property
    def columns(self) -> dict[str, str]:
        """Titles by task id, AVERAGE first."""
        return {AVERAGE: "AVG", **{id: task.title for id, task in self.suite.tasks.items()}}

    @property
    def metrics(self) -> dict[str, str]:
        """Titles of metrics by column: task id, or AVERAGE."""
        return {AVERAGE: "mean", **{id: METRICS[task.metric].title for id, task in self.suite.tasks.items()}}

    def is_best(self, row: Row, column: str) -> bool:
        """Whether no comparable row has a better score, after rounding to the digit that is shown.

        Scores on the same split are comparable. Scores with a mark are comparable only if all have it for the same reason.
        """
        split = row.split_of(column)
        scored = [other for other in self.rows if other.split_of(column) == split and other.score(column)]
        compared = [other for other in scored if not other.mark(column)] or scored
        reasons = {(*other.missing, "", *other.reduced_average) for other in compared if column == AVERAGE}
        if row not in compared or len(compared) < 2 or len(reasons) > 1:
            return False
        scale = self.suite.shown
        shown = {
            other: round(scale.value(score.median), scale.decimals)
            for other in compared
            if (score := other.score(column))
        }
        return shown[row] == max(shown.values())

    @property
    def notes(self) -> list[str]:
        """Notes that explain the rows, in sentences."""
        return self.marks + self.facts

    @property
    def marks(self) -> list[str]:
        """The notes that explain the scores and marks in the table."""
        notes = [
            f"{self.suite.shown.heading}. Our rows: medians over seeds, AVG the mean of the medians, on the split that each row names. "
            "Checkpoints and settings were chosen on dev, which flatters scores on dev a little."
        ]
        if self.suite.average is not None:
            notes.append(f"AVG is the mean over {', '.join(self.suite.averaged)}.")
        if splits := {row.split for row in self.rows if row.run is None}:
            on = f"on the {splits.pop()} sets" if len(splits) == 1 else "on the split that they name"
            notes.append(f"Published rows are scores {on}.")
        partial: dict[str, list[str]] = {}
        for row in self.rows:
            if row.missing and row.average:
                partial.setdefault(", ".join(row.missing), []).append(row.name)
        notes += [f"* AVG is partial, without {ids}: {', '.join(names)}." for ids, names in partial.items()]
        if reduced := sorted({id for row in self.rows for id in row.reduced}, key=list(self.suite.tasks).index):
            notes.append(
                f"† other split sizes than the published ones, not comparable with published scores: {', '.join(reduced)}; "
                "an average with † includes such a task."
            )
        bold = "Bold: the best of each split."
        if any(row.mark(column) for row in self.rows for column in self.columns):
            bold += " Marked scores compare only with those marked for the same reason."
        return [*notes, bold]

    @property
    def facts(self) -> list[str]:
        """The other notes: how intervals and tests are computed, and what the scored rows are."""
        facts = [
            f"Intervals ({COVERAGE:g} %) show how far the mean over seeds may be from the score to expect with other seeds and other rows. "
            f"The variance over rows comes from {RESAMPLES} bootstrap resamples of the scored rows (of groups, where rows belong "
            f"together); the variance over seeds is added. With fewer than {LEAST_SEEDS} seeds, an interval covers only the variance over rows."
        ]
        if tests := sum(len(found) for found in self.comparisons.values()):
            facts.append(
                "Paired tests compare the means over seeds of two runs, so a difference may not equal that of the medians shown. Runs on "
                f"the same rows are resampled together. The verdict is better or worse if p is below {LEVEL:g}, else undecided. The "
                f"interval of the difference then does not contain 0; but with five groups of rows or fewer, p is never below {LEVEL:g}. If a run "
                f"has fewer than {LEAST_SEEDS} seeds, there is no verdict. Of tests "
                f"between equal runs, {100 * LEVEL:g} % give better or worse by chance. With Holm's correction for the {tests} tests of this suite "
                f"(every pair of runs, every task and the average), the probability of even one such error is at most {100 * LEVEL:g} %."
            )
        facts += [f"{row.name}: {note}" for row in self.rows if row.run for note in row.run.summary.get("notes", [])]
        if self.ungrouped:
            facts.append(
                "Runs that did not record which scored rows belong together (their rows are resampled one by one, each task separately): "
                f"{', '.join(self.ungrouped)}."
            )
        held_out = {id: n for row in self.rows if row.run for id, n in row.run.summary["held_out"].items()}
        if held_out:
            counts = ", ".join(f"{count} of {id}" for id, count in held_out.items())
            facts.append(f"Where a task has no dev file, dev is rows held out of the training file: {counts}.")
        facts += _unanswered(self.rows)
        facts += _below_constant(self.rows, self.suite)
        facts += _same_answers(self.rows)
        if self.suite.generated:
            facts.append("This is the embedded sample: generated sentences. Its scores say nothing about real texts.")
        return facts


def leaderboard(runs: Sequence[Run]) -> Leaderboard:
    """The leaderboard of runs on one suite. Raises InputError for a run's file that cannot be read."""
    suite = runs[0].suite
    titles = Counter(run.summary["title"] for run in runs)
    recorded = _recorded_rows(runs)
    rows = [_of_run(run, recorded, titles[run.summary["title"]] > 1) for run in progress(runs, "resampling", "runs")]
    rows += [_published(row, suite) for row in suite.published]
    order = list(FAMILIES)
    rows.sort(key=lambda row: order.index(row.family) if row.family in order else len(order))
    ungrouped = [run.name for run in runs if any((task.id, run.rows_key(task)) not in recorded for task in run.tasks)]
    return Leaderboard(suite, rows, _comparisons(rows), ungrouped)


def _below_constant(rows: Sequence[Row], suite: Suite) -> list[str]:
    """A note that names each run's tasks that do not score above the best constant answer, if there are any."""
    found = {row.name: below for row in rows if row.run and (below := below_constant(row.run.summary, suite.shown))}
    listed = "; ".join(f"{name}: {below}" for name, below in found.items())
    return [f"Not above the best constant answer, with its score: {listed}."] if found else []


def _same_answers(rows: Sequence[Row]) -> list[str]:
    """A note that names each run's tasks and seeds with the same prediction for every row, if there are any."""
    found = {row.name: same for row in rows if row.run and (same := same_answers(row.run.summary))}
    listed = "; ".join(f"{name}: {same}" for name, same in found.items())
    return [f"The same prediction for every row: {listed}."] if found else []


def _unanswered(rows: Sequence[Row]) -> list[str]:
    """A note that names the tasks that methods cannot answer, if there are any."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.run and (tasks := row.run.summary.get("unanswered")):
            found.setdefault(", ".join(tasks), []).append(row.name)
    listed = "; ".join(f"{', '.join(names)}: {tasks}" for tasks, names in found.items())
    return [f"Tasks that a method does not answer: {listed}."] if found else []


def by_suite(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs grouped by suite: the same name, tasks, targets, metrics and average. Runs of a group may be scored on different rows."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        tasks = [(t.id, t.kind, t.metric, t.positive, t.labels, t.range) for t in run.suite.tasks.values()]
        groups.setdefault(repr((run.suite.name, tasks, run.suite.averaged)), []).append(run)
    return list(groups.values())


def _recorded_rows(runs: Sequence[Run]) -> dict[tuple[str, str], RowGroups]:
    """The groups of scored rows, by task id and `Run.rows_key`. A run that did not record groups gets those of a run on the same rows."""
    return {
        (task.id, run.rows_key(task)): RowGroups(*recorded)
        for run in runs
        for task in run.tasks
        if (recorded := run.recorded_rows(task))
    }


def _of_run(run: Run, recorded: Mapping[tuple[str, str], RowGroups], same_title: bool) -> Row:
    """The row of a run. same_title: whether another run has the same title."""
    summary = run.summary
    scores, samples, further = {}, {}, {}
    for task in run.tasks:
        of, rows = summary["tasks"][task.id], run.rows(task)
        groups = recorded.get((task.id, run.rows_key(task))) or RowGroups(task.id, np.arange(len(rows.targets)))
        by_seed = np.array([of["scores"][str(seed)] for seed in summary["seeds"]])
        samples[task.id] = Sample(by_seed, {groups: resampled_scores(task, run.predictions(task), rows, groups)})
        interval = _interval(samples[task.id], lowest_score(task))
        scores[task.id] = Score(of["median"], of["min"], of["max"], interval)
        further[task.id] = {
            name: Score(also["median"], also["min"], also["max"])
            for name, also in of.get("also", {}).items()
            if name in METRICS
        }
    averaged = {id: samples[id] for id in run.suite.averaged if id in samples}
    mean = None
    if averaged:
        samples[AVERAGE] = average(list(averaged.values()))
        seeds = samples[AVERAGE].by_seed
        interval = _interval(samples[AVERAGE], fmean(lowest_score(run.suite.tasks[id]) for id in averaged))
        mean = Score(summary["average"], float(seeds.min()), float(seeds.max()), interval)
    named = same_title and run.name != summary["folder"]
    return Row(
        name=run.name,
        label=f"{summary['title']}, {run.name}" if named else summary["title"],
        family=summary["family"],
        split=splits_text(summary),
        scores=scores,
        average=mean,
        missing=run.suite.lacking(scores),
        reduced=summary["reduced"],
        reduced_average=[id for id in summary["reduced"] if id in averaged],
        further=further,
        run=run,
        samples=samples,
    )


def _published(row: Published, suite: Suite) -> Row:
    return Row(
        name=row.model,
        label="published",
        family=row.family,
        split=row.split,
        scores={id: Score(value, value, value) for id, value in row.scores.items()},
        average=None if row.average is None else Score(row.average, row.average, row.average),
        missing=suite.lacking(row.scores),
        reduced=[],
        reduced_average=[],
    )


def _interval(sample: Sample, least: float) -> tuple[float, float]:
    """The interval of a score, cut at the lowest and highest value of the metric. least: the lowest × 100."""
    low, high = estimate(sample).interval
    return max(low, least), min(high, 100.0)


def _comparisons(rows: Sequence[Row]) -> dict[tuple[int, int], dict[str, Comparison]]:
    """The comparisons of every pair of runs, with Holm's correction for all of them together."""
    pairs = [(j, i) for i, j in combinations(range(len(rows)), 2) if rows[i].run and rows[j].run]
    tests = {(pair, column): test for pair in pairs for column, test in _compared(*(rows[i] for i in pair)).items()}
    comparisons: dict[tuple[int, int], dict[str, Comparison]] = {}
    for (pair, column), test in with_holm(tests).items():
        comparisons.setdefault(pair, {})[column] = test
    return comparisons


def _compared(one: Row, other: Row) -> dict[str, Comparison]:
    """One row minus another: the tasks that both have on the same rows, and the average if these are all that it counts in both."""
    assert one.run and other.run
    shared = [
        task for task in one.run.tasks if task.id in other.scores and one.run.rows_key(task) == other.run.rows_key(task)
    ]
    columns = [task.id for task in shared]
    counted = [{id for id in row.scores if id in one.run.suite.averaged} for row in (one, other)]
    if counted[0] and counted[0] == counted[1] and counted[0] <= set(columns):
        columns.append(AVERAGE)
    return {column: compare(one.samples[column], other.samples[column]) for column in columns}
