"""All runs on one suite beside the published rows: the content of every form of the report."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from mtl.progress import progress
from mtl.report.breakdown import Breakdown, breakdowns
from mtl.report.comparison import Comparison, Sample, estimate
from mtl.report.notes import interval_note, mark_notes, run_notes
from mtl.report.pairs import PairTests, pair_tests, tests_note
from mtl.report.row import Row, Score
from mtl.report.sample_cache import SampleCache
from mtl.report.samples import RecordedGroups, samples_of
from mtl.report.settings import SettingsSpread, settings_spreads
from mtl.runs.finished import Run
from mtl.runs.summary import splits_text
from mtl.tasks.metrics import METRICS, lowest_score
from mtl.tasks.suite import AVERAGE, Published, Suite

# Titles of the families of rows, in the order of the table. An unknown family comes last, under its own name.
FAMILIES = {"floor": "floor", "lstm": "LSTM", "transformer": "transformer", "llm": "large language model"}


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The rows of one suite (floors, LSTMs, transformers; in each family, runs come before published rows), and tests between runs.

    ungrouped: names of runs that did not record the groups of their scored rows.
    """

    suite: Suite
    rows: Sequence[Row]
    tests: PairTests = field(default_factory=PairTests)
    ungrouped: Sequence[str] = ()

    @property
    def comparisons(self) -> Mapping[tuple[int, int], Mapping[str, Comparison]]:
        """`PairTests.comparisons`."""
        return self.tests.comparisons

    @cached_property
    def breakdowns(self) -> list[Breakdown]:
        """The runs' scores on parts of the rows."""
        return breakdowns(self.rows)

    @cached_property
    def settings(self) -> list[SettingsSpread]:
        """The spread of each model over its settings."""
        return settings_spreads([row.run for row in self.rows if row.run], self.suite)

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
        return row in self._best[column].get(row.split_of(column), ())

    @cached_property
    def _best(self) -> dict[str, dict[str, set[Row]]]:
        """The best rows by column and split."""
        found: dict[str, dict[str, set[Row]]] = {}
        for column in self.columns:
            by_split: dict[str, list[Row]] = {}
            for row in self.rows:
                if row.score(column):
                    by_split.setdefault(row.split_of(column), []).append(row)
            found[column] = {split: self._best_of(scored, column) for split, scored in by_split.items()}
        return found

    def _best_of(self, scored: Sequence[Row], column: str) -> set[Row]:
        """The best of the rows with a score on one split; none if no two can be compared."""
        compared = [row for row in scored if not row.mark(column)] or scored
        reasons = {(*row.missing, "", *row.reduced_average) for row in compared if column == AVERAGE}
        if len(compared) < 2 or len(reasons) > 1:
            return set()
        scale = self.suite.shown
        shown = {
            row: round(scale.value(score.median), scale.decimals) for row in compared if (score := row.score(column))
        }
        most = max(shown.values())
        return {row for row, value in shown.items() if value == most}

    @property
    def notes(self) -> list[str]:
        """Notes that explain the rows, in sentences."""
        return self.marks + self.facts

    @property
    def marks(self) -> list[str]:
        """The notes that explain the scores and marks in the table."""
        return mark_notes(self.suite, self.rows)

    @property
    def facts(self) -> list[str]:
        """The other notes: how intervals and tests are computed, and what the scored rows are."""
        return [
            interval_note(),
            *tests_note(self.rows, self.tests),
            *run_notes(self.suite, self.rows, self.ungrouped),
        ]


def leaderboard(runs: Sequence[Run], cache: SampleCache | None = None, references: Collection[str] = ()) -> Leaderboard:
    """The leaderboard of runs on one suite.

    cache: of their resamples. references: names of the runs to test every run against (`pair_tests`). Raises InputError for a run's
    file that cannot be read.
    """
    suite, cache = runs[0].suite, cache or SampleCache(None)
    titles = Counter(run.summary["title"] for run in runs)
    recorded = RecordedGroups(runs)
    rows = []
    for run in progress(runs, "resampling", "runs"):
        samples = samples_of(run, cache.reduced(run, recorded))
        rows.append(_of_run(run, samples, titles[run.summary["title"]] > 1))
    rows += [_published(row, suite) for row in suite.published]
    order = list(FAMILIES)
    rows.sort(key=lambda row: order.index(row.family) if row.family in order else len(order))
    ungrouped = [run.name for run in runs if recorded.lacks(run)]
    return Leaderboard(suite, rows, pair_tests(rows, references), ungrouped)


def by_suite(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs grouped by suite: the same name, tasks, targets, metrics and average. Runs of a group may be scored on different rows."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        tasks = [(t.id, t.kind, t.metric, t.positive, t.labels, t.range) for t in run.suite.tasks.values()]
        groups.setdefault(repr((run.suite.name, tasks, run.suite.averaged)), []).append(run)
    return list(groups.values())


def _of_run(run: Run, samples: Mapping[str, Sample], same_title: bool) -> Row:
    """The row of a run. same_title: whether another run has the same title."""
    summary = run.summary
    scores, further = {}, {}
    for task in run.tasks:
        of = summary["tasks"][task.id]
        scores[task.id] = Score(of["median"], of["min"], of["max"], _interval(samples[task.id], lowest_score(task)))
        further[task.id] = {
            name: Score(also["median"], also["min"], also["max"])
            for name, also in of.get("also", {}).items()
            if name in METRICS
        }
    averaged = [id for id in run.suite.averaged if id in samples]
    mean = None
    if averaged:
        seeds = samples[AVERAGE].by_seed
        interval = _interval(samples[AVERAGE], fmean(lowest_score(run.suite.tasks[id]) for id in averaged))
        average = fmean(summary["tasks"][id]["median"] for id in averaged)
        mean = Score(average, float(seeds.min()), float(seeds.max()), interval)
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
