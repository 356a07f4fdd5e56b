"""The rows of a leaderboard: runs, evaluations of encoders and published systems, with their scores, marks and costs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mtl.base.wording import MISSING, format_bytes, format_duration
from mtl.runs.finished import FinishedRun
from mtl.stats.comparison import Sample
from mtl.tasks.suite import AVERAGE

# Titles of the families of rows, in the order of the table. An unknown family comes last, under its own name.
FAMILIES = {
    "people": "people", "floor": "simple baseline", "static": "static vectors", "average": "averaged vectors",
    "lstm": "LSTM", "ensemble": "ensemble", "transformer": "transformer", "multilingual": "multilingual transformer",
    "polish": "Polish transformer", "llm": "large language model", "imported": "imported",
}  # fmt: skip
# Titles of costs, by their keys: those in the summary of a run, and further ones of sentence encoders.
RUN_COSTS = {
    "parameters": "parameters", "parameters_without_embeddings": "without embeddings", "pretrain_seconds": "stage 1",
    "finetune_seconds": "stage 2", "peak_memory": "peak memory", "sentences_per_second": "sentences/s",
}  # fmt: skip
COSTS = {**RUN_COSTS, "seconds_per_task": "s/task", "memory": "memory", "dim": "dim"}

Causes = Mapping[str, Sequence[str]]  # by mark, the tasks that cause it, or the keys of their examples


@dataclass(frozen=True)
class Score:
    """The score × 100 of a task, or a mean: the median over seeds, the minimum, the maximum, and a 95 % CI."""

    median: float
    min: float
    max: float
    interval: tuple[float, float] | None = None


def single(score: float) -> Score:
    """A score × 100 that was printed or computed once."""
    return Score(score, score, score)


@dataclass(frozen=True, eq=False)
class Row:
    """One row: a run, a submission, the evaluation of an encoder, or a published system."""

    name: str
    label: str  # for our rows what was run, for the others "published"
    family: str
    split: str  # the split of the scores, where `splits` does not name another one by column
    scores: Mapping[str, Score]  # by the id of a task's column
    means: Mapping[str, Score]  # by the id of a mean's column: AVERAGE, and for encoders the means by type
    missing: Sequence[str] = ()  # the tasks of the average that the row has no score for
    reduced: Sequence[str] = ()  # the tasks whose split sizes or files differ from the published ones
    apart: Mapping[str, str] = field(default_factory=dict)  # by task on other examples than most runs, a key of these
    seen: Sequence[str] = ()  # the columns of tasks that an encoder was trained on, and of means with such a task
    partial: Sequence[str] = ()  # the means, except AVERAGE, that lack one of their tasks
    marks: Mapping[str, str] = field(default_factory=dict)  # by column; `mark` says what each means
    causes: Mapping[str, Causes] = field(default_factory=dict)  # of marks, by column: scores with equal causes compare
    splits: Mapping[str, str] = field(default_factory=dict)  # by column; those of a mean with commas
    further: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)  # scores by task and by another metric
    cost: Mapping[str, float | None] | None = None  # by the keys of COSTS; None for a published row
    run: FinishedRun | None = None
    samples: Mapping[str, Sample] = field(default_factory=dict)  # what the row's tests resample, by task id and AVERAGE
    comparable: Mapping[str, str] = field(default_factory=dict)  # by the same, a key: equal for the same examples
    page: str | None = None  # the address of a page of its own, relative to the report's

    @property
    def ours(self) -> bool:
        """Whether this is a run, a submission or an evaluation, which have costs, not a published row."""
        return self.cost is not None

    @property
    def average(self) -> Score | None:
        return self.means.get(AVERAGE)

    def score(self, column: str) -> Score | None:
        return self.means.get(column) or self.scores.get(column)

    def mark(self, column: str) -> str:
        """The marks of a score: * for a mean without some of its tasks; for a task, or a mean with one, † where its data differs from the published
        data, ‡ where the encoder has seen its training rows, § where other examples score it."""
        return self.marks.get(column, "")

    def split_of(self, column: str) -> str:
        """The split that a task's score is on, or the splits of a mean."""
        return self.splits.get(column, self.split)


def by_family(rows: Iterable[Row]) -> list[Row]:
    """The rows in the order of FAMILIES."""
    order = list(FAMILIES)
    return sorted(rows, key=lambda row: order.index(row.family) if row.family in FAMILIES else len(order))


def average_order(row: Row) -> tuple[bool, bool, float]:
    """The key that sorts rows by their average, the best last: those without an average come first, then those with a partial one."""
    return row.average is not None, not row.missing, row.average.median if row.average else 0.0


def cost_cell(key: str, value: float | None) -> str:
    """A cost with its unit, by a key of COSTS."""
    if value is None:
        return MISSING
    if "seconds" in key:
        return format_duration(value)
    if "memory" in key:
        return format_bytes(int(value))
    return f"{value:,.0f}"
