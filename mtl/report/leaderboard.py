"""All runs on one suite beside the published rows, and the tests between runs: the content of every form of the report."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from statistics import fmean

from mtl.base.progress import progress
from mtl.report.notes import (
    Breakdown,
    SettingsSpread,
    breakdowns,
    interval_note,
    mark_notes,
    run_notes,
    settings_spreads,
)
from mtl.report.row import Row, Score
from mtl.runs.finished import Run
from mtl.runs.summary import splits_text
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, Comparison, Sample, compare, estimate, with_holm
from mtl.stats.samples import RecordedGroups, SampleCache, samples_of
from mtl.tasks.metrics import METRICS, lowest_score
from mtl.tasks.suite import AVERAGE, Published, Suite

MOST_FOR_PAIRS = 40  # runs; of more, not every pair is tested, as the number of pairs is quadratic in that of runs


@dataclass(frozen=True)
class PairTests:
    """Paired tests between runs.

    comparisons: by the indices of two rows (first minus second), then by task id and AVERAGE; only what can be compared. references:
    the indices of the rows that every run was compared with; empty: every pair. Holm's correction is for `family` tests: those that are
    made, or, where the references were chosen by their scores (`by_score`), those of every pair, since the choice depends on all of them.
    """

    comparisons: Mapping[tuple[int, int], Mapping[str, Comparison]] = field(default_factory=dict)
    references: Sequence[int] = ()
    by_score: bool = False
    family: int = 0

    @property
    def made(self) -> int:
        """The number of tests: of the comparisons of runs that both have enough seeds."""
        return _tested(test for tests in self.comparisons.values() for test in tests.values())


def pair_tests(rows: Sequence[Row], references: Collection[str] = ()) -> PairTests:
    """The tests between the runs among these rows, with Holm's correction for all of them together.

    references: names of runs to compare every run with. If the rows have none of them, every pair is compared; of more than
    MOST_FOR_PAIRS runs, every run with the run that has the best average of its split.
    """
    runs = [number for number, row in enumerate(rows) if row.run]
    named = [number for number in runs if rows[number].name in references]
    by_score = not named and len(runs) > MOST_FOR_PAIRS
    references_tested = _best_of_each_split(rows, runs) if by_score else named
    pairs = [(second, first) for first, second in combinations(runs, 2)]
    if references_tested:
        pairs = [
            (one, other)
            for other in references_tested
            for one in runs
            if one != other and not (one in references_tested and one < other)
        ]
    tests = {(pair, column): test for pair in pairs for column, test in _compared(*(rows[i] for i in pair)).items()}
    family = _number_of_all(rows) if by_score else _tested(tests.values())
    comparisons: dict[tuple[int, int], dict[str, Comparison]] = {}
    for (pair, column), test in with_holm(tests, family).items():
        comparisons.setdefault(pair, {})[column] = test
    return PairTests(comparisons, references_tested, by_score, family)


def tests_note(rows: Sequence[Row], tests: PairTests) -> list[str]:
    """A note on the paired tests that were made, if there are any."""
    if not tests.comparisons:
        return []
    against = ", ".join(rows[number].name for number in tests.references)
    note = (
        "Paired tests compare the means over seeds of two runs, so a difference may not equal that of the medians shown. Runs on "
        f"the same rows are resampled together. The verdict is better or worse if p is below {LEVEL:g}, else undecided. The "
        f"interval of the difference then does not contain 0; but with five groups of rows or fewer, p is never below {LEVEL:g}. If a run "
        f"has fewer than {LEAST_SEEDS} seeds, there is no verdict. Of tests "
        f"between equal runs, {100 * LEVEL:g} % give better or worse by chance."
    )
    if not tests.made:
        return [note]
    if tests.by_score:
        note += (
            f" Of more than {MOST_FOR_PAIRS} runs, each is tested only against the one with the best average of each split "
            f"({against}); mtl report --reference NAME names another. These were chosen by their scores on the same rows, so without "
            f"Holm's correction, worse is too frequent. The correction is therefore for the {tests.family:,} tests of every pair of runs, "
            f"every task and the average, of which {tests.made:,} are made"
        )
    else:
        pairs = f"every run against {against}" if tests.references else "every pair of runs"
        note += (
            f" With Holm's correction for the {tests.made:,} tests of this suite ({pairs}, every task and the average)"
        )
    return [f"{note}; the probability of even one such error is then at most {100 * LEVEL:g} %."]


def _best_of_each_split(rows: Sequence[Row], runs: Sequence[int]) -> list[int]:
    """Of each split that averages are on, the run with the best average; a partial average counts only where there is no other."""
    best: dict[str, int] = {}
    for number in sorted(runs, key=lambda number: rank(rows[number]), reverse=True):
        best.setdefault(rows[number].split_of(AVERAGE), number)
    return sorted(best.values())


def rank(row: Row) -> tuple[bool, bool, float]:
    """The larger, the better the row's average; a row with a partial average comes after all others, one without an average last."""
    return row.average is not None, not row.missing, row.average.median if row.average else 0.0


def _tested(comparisons: Iterable[Comparison]) -> int:
    """How many of the comparisons are tests: there is none of a run with too few seeds."""
    return sum(comparison.p is not None for comparison in comparisons)


def _number_of_all(rows: Sequence[Row]) -> int:
    """The number of tests that every pair of runs would give."""
    enough = [row for row in rows if row.seeds >= LEAST_SEEDS]
    counts = Counter(column for row in enough for column in row.comparable.items())
    return sum(count * (count - 1) // 2 for count in counts.values())


def _compared(one: Row, other: Row) -> dict[str, Comparison]:
    """One row minus another: the tasks that both have on the same rows, and the average if these are all that it counts in both."""
    shared = (column for column, key in one.comparable.items() if other.comparable.get(column) == key)
    return {column: compare(one.samples[column], other.samples[column]) for column in shared}


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
        best: dict[str, dict[str, set[Row]]] = {}
        for column in self.columns:
            by_split: dict[str, list[Row]] = {}
            for row in self.rows:
                if row.score(column):
                    by_split.setdefault(row.split_of(column), []).append(row)
            best[column] = {split: self._best_of(scored, column) for split, scored in by_split.items()}
        return best

    def _best_of(self, scored: Sequence[Row], column: str) -> set[Row]:
        """The best of the rows with a score on one split; none if no two can be compared."""
        compared = [row for row in scored if not row.mark(column)] or scored
        reasons = {(*row.missing, "", *row.reduced_average) for row in compared if column == AVERAGE}
        if len(compared) < 2 or len(reasons) > 1:
            return set()
        scale = self.suite.shown
        rounded = {
            row: round(scale.value(score.median), scale.decimals) for row in compared if (score := row.score(column))
        }
        most = max(rounded.values())
        return {row for row, value in rounded.items() if value == most}

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
        record = summary["tasks"][task.id]
        scores[task.id] = Score(
            record["median"], record["min"], record["max"], _interval(samples[task.id], lowest_score(task))
        )
        further[task.id] = {
            name: Score(also["median"], also["min"], also["max"])
            for name, also in record.get("also", {}).items()
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
