"""All runs on one suite beside the published rows: what every form of the report shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from mtl.results.resampling import COVERAGE, RESAMPLES, Comparison, compare, interval, resampled_scores
from mtl.results.runs import Run
from mtl.suite import AVERAGE, Published, Suite

FAMILIES = ("floor", "lstm", "transformer")

_WORDS = {"random": "random", "fasttext": "fastText", "elmo": "ELMo"}
_FLOORS = {
    "random": "Random targets",
    "majority": "Majority",
    "svm": "TF-IDF + linear SVM",
    "tree": "TF-IDF + decision tree",
    "forest": "TF-IDF + random forest",
}


@dataclass(frozen=True)
class Score:
    """A task's score × 100, or an average's: the median over seeds, the least and the most, a 95 % interval over dev rows."""

    median: float
    min: float
    max: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Row:
    """One row of the leaderboard. run: None for a published one."""

    name: str
    label: str
    family: str
    split: str
    scores: Mapping[str, Score]  # by task id
    average: Score
    missing: Sequence[str]
    reduced: Sequence[str]
    run: Run | None = None
    resampled: Mapping[str, np.ndarray] = field(default_factory=dict)  # (RESAMPLES,), by task id and AVERAGE

    @property
    def seeds(self) -> int:
        """How many seeds its medians are of; 0 of a published row."""
        return len(self.run.summary["seeds"]) if self.run else 0

    def mark(self, column: str) -> str:
        """* of a partial average, † of a task of other split sizes than the published ones, and of an average with one."""
        if column == AVERAGE:
            return ("*" if self.missing else "") + ("†" if self.reduced else "")
        return "†" if column in self.reduced else ""

    def score(self, column: str) -> Score | None:
        """Of a task's id, or AVERAGE."""
        return self.average if column == AVERAGE else self.scores.get(column)


@dataclass(frozen=True)
class Leaderboard:
    """The rows of one suite: floors, LSTMs, transformers, ours before the published ones; and ours against each other.

    comparisons: by the places of two of `rows`, one minus the other, by task id and AVERAGE; what cannot be compared is absent.
    """

    suite: Suite
    rows: Sequence[Row]
    comparisons: Mapping[tuple[int, int], Mapping[str, Comparison]]

    @property
    def columns(self) -> dict[str, str]:
        """Titles by task id, AVERAGE first."""
        return {AVERAGE: "AVG", **{id: task.title for id, task in self.suite.tasks.items()}}

    def is_best(self, row: Row, column: str) -> bool:
        """Whether no row that compares with it has a better score, to the digit that is shown.

        Rows of the same split compare; scores with a mark compare only where all are marked for the same reason.
        """
        scored = [other for other in self.rows if other.split == row.split and other.score(column)]
        compared = [other for other in scored if not other.mark(column)] or scored
        reasons = {(*other.missing, "", *other.reduced) for other in compared if column == AVERAGE}
        if row not in compared or len(compared) < 2 or len(reasons) > 1:
            return False
        shown = {other: round(score.median, 1) for other in compared if (score := other.score(column))}
        return shown[row] == max(shown.values())

    @property
    def notes(self) -> list[str]:
        """What a reader must know to read the rows, in sentences."""
        return self.marks + self.facts

    @property
    def marks(self) -> list[str]:
        """Those among the notes that say what stands in the table."""
        notes = [
            "Scores × 100. Our rows: medians over seeds, AVG the mean of the medians, on dev, on which checkpoints and settings were chosen, "
            "which flatters them a little."
        ]
        if any(row.run is None for row in self.rows):
            notes.append("Published rows are scores on the test sets.")
        partial: dict[str, list[str]] = {}
        for row in self.rows:
            if row.missing:
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
        """The others: how intervals and tests came about, and what the dev rows are."""
        facts = [
            f"Intervals ({COVERAGE:g} %) and paired tests: {RESAMPLES} bootstrap resamples of the dev rows, the same for all runs. They say "
            "how much depends on the rows; min and max over seeds say how much depends on the seed. "
            "A difference is better or worse where its interval leaves out 0, else undecided; tests are not corrected for their number."
        ]
        held_out = {id: n for row in self.rows if row.run for id, n in row.run.summary["held_out"].items()}
        if held_out:
            counts = ", ".join(f"{count} of {id}" for id, count in held_out.items())
            facts.append(f"Where a task has no dev file, dev is rows held out of the training file: {counts}.")
        if self.suite.generated:
            facts.append("This is the embedded sample: generated sentences. Its scores say nothing about real texts.")
        return facts


def leaderboard(runs: Sequence[Run]) -> Leaderboard:
    """The leaderboard of runs on one suite. Raises InputError for files of theirs that cannot be read."""
    suite = runs[0].suite
    labels = Counter(label(run.summary) for run in runs)
    rows = [_of_run(run, labels[label(run.summary)] > 1) for run in runs] + [
        _published(row, suite) for row in suite.published
    ]
    rows.sort(key=lambda row: FAMILIES.index(row.family) if row.family in FAMILIES else len(FAMILIES))
    comparisons = {}
    for i, j in combinations(range(len(rows)), 2):
        if rows[i].run and rows[j].run and (found := _compared(rows[j], rows[i])):
            comparisons[j, i] = found
    return Leaderboard(suite, rows, comparisons)


def by_suite(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs apart by suite: the same name and the same tasks."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(repr((run.suite.name, run.suite.tasks)), []).append(run)
    return list(groups.values())


def label(summary: Mapping[str, Any]) -> str:
    """What a run is, in words."""
    if summary["method"] != "lstm":
        return _FLOORS[summary["method"]]
    embeddings = _WORDS.get(summary["embeddings"], summary["embeddings"])
    return f"LSTM, {embeddings}, {summary['variant']}"


def plain_name(summary: Mapping[str, Any]) -> str:
    """The folder that a run has unless it is told otherwise."""
    return f"{summary['embeddings']}-{summary['variant']}" if summary["method"] == "lstm" else str(summary["method"])


def _of_run(run: Run, alike: bool) -> Row:
    """alike: whether another run has the same label."""
    scores, resampled = {}, {}
    for task in run.tasks:
        resampled[task.id] = resampled_scores(task, run.predictions(task), run.gold(task))
        of = run.summary["tasks"][task.id]
        scores[task.id] = Score(of["median"], of["min"], of["max"], interval(resampled[task.id]))
    resampled[AVERAGE] = np.mean(list(resampled.values()), axis=0)
    seeds = [fmean(of["scores"][str(seed)] for of in run.summary["tasks"].values()) for seed in run.summary["seeds"]]
    return Row(
        name=run.name,
        label=f"{label(run.summary)}, {run.name}"
        if alike and run.name != plain_name(run.summary)
        else label(run.summary),
        family="lstm" if run.summary["method"] == "lstm" else "floor",
        split=run.summary["split"],
        scores=scores,
        average=Score(run.summary["average"], min(seeds), max(seeds), interval(resampled[AVERAGE])),
        missing=run.summary["missing"],
        reduced=run.summary["reduced"],
        run=run,
        resampled=resampled,
    )


def _published(row: Published, suite: Suite) -> Row:
    return Row(
        name=row.model,
        label="published",
        family=row.family,
        split="test",
        scores={id: Score(value, value, value) for id, value in row.scores.items()},
        average=Score(row.average, row.average, row.average),
        missing=[id for id in suite.tasks if id not in row.scores],
        reduced=[],
    )


def _compared(one: Row, other: Row) -> dict[str, Comparison]:
    """One row minus another: the tasks that both have on the same dev rows, and the average where that is all of both."""
    assert one.run and other.run
    shared = [
        task for task in one.run.tasks if task.id in other.scores and one.run.rows_key(task) == other.run.rows_key(task)
    ]
    found = {
        task.id: compare(
            one.scores[task.id].median - other.scores[task.id].median, one.resampled[task.id], other.resampled[task.id]
        )
        for task in shared
    }
    if shared and len(shared) == len(one.scores) == len(other.scores):
        difference = one.average.median - other.average.median
        found[AVERAGE] = compare(difference, one.resampled[AVERAGE], other.resampled[AVERAGE])
    return found
