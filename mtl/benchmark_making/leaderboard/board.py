"""The board of submissions, by their scores on hidden labels: rounded scores and intervals, and ranks."""

from collections.abc import Sequence

from mtl.benchmark_making.leaderboard.scoring import LabelledTasks, ScoredSubmission
from mtl.reports.board import Column, Leaderboard, PairTests
from mtl.reports.pair_tests import pair_tests
from mtl.reports.rows import Row, Score, by_family
from mtl.stats.comparison import Sample, estimate
from mtl.tasks.metrics import lowest_score, metric_named
from mtl.tasks.scale import Scale
from mtl.tasks.suite import AVERAGE, Suite

NOTE = (
    "A system is what it answers: intervals and tests say how it would answer other rows of the same kind, not how it would be if it were "
    "trained again. The variance over rows comes from bootstrap resamples of the rows, the same for all systems. Every pair of systems is "
    "tested on every task and the average, with Holm's correction for all tests together. Systems that no test separates share their ranks; all "
    "ranks hold at once with a probability of at least 95 %."
)
NOT_STATED = "not stated"  # in place of what a submission does not say of its system


def submission_board(suite: Suite, tasks: LabelledTasks, scored: Sequence[ScoredSubmission], split: str) -> Leaderboard:
    """The leaderboard of submissions, with scores and intervals rounded as the suite shows them, and the ranks of the scores before that."""
    rows = by_family(_row(suite, submission, split) for submission in scored)
    marks = [
        f"{suite.shown.heading}, on the labels of {split}, rounded. AVG is the mean over {suite.average_text}. "
        "A system without one of these has no average."
    ]
    if unlabelled := [id for id in suite.averaged if id not in tasks]:
        marks.append(f"* AVG is without {', '.join(unlabelled)}, which have no labels here.")
    columns = {AVERAGE: Column("AVG", "mean")}
    for id, labelled in tasks.items():
        if any(id in row.scores for row in rows):
            task = labelled.task
            columns[id] = Column(task.title, metric_named(task.metric).title, task.metric, id, id in suite.averaged)
    title = f"{suite.title}, {split}"
    tests = PairTests(ranks=pair_tests(rows).ranks)  # without the comparisons of pairs
    return Leaderboard(suite.name, title, suite.shown, columns, rows, marks, [NOTE], tests, noun="system")


def _row(suite: Suite, scored: ScoredSubmission, split: str) -> Row:
    system, samples = scored.system, scored.samples
    lowest = {id: lowest_score(suite.tasks[id]) for id in samples if id != AVERAGE}
    scores = {id: _score(suite.shown, samples[id], lowest[id]) for id in lowest}
    means = {}
    if average := samples.get(AVERAGE):
        means[AVERAGE] = _score(suite.shown, average, suite.mean(lowest) or 0.0)
    missing = suite.lacking(scores) if means else []
    return Row(
        name=scored.name,
        label=system.title or scored.name,
        family=system.family or NOT_STATED,
        split=split,
        scores=scores,
        means=means,
        missing=missing,
        marks={AVERAGE: "*" if missing else ""},
        causes={AVERAGE: {"*": missing}},
        cost={"parameters": system.parameters, "finetune_seconds": system.seconds},
        samples=samples,
        comparable=dict.fromkeys(samples, "labels"),
        page=f"systems/{scored.name}.html",
    )


def _score(scale: Scale, sample: Sample, lowest: float) -> Score:
    """A score × 100 and its interval, cut at 100 and at the lowest score × 100 of the metric, and rounded as the scale shows them."""

    def shown(score: float) -> float:
        return rounded(scale, min(100.0, max(lowest, score))) * scale.divisor

    score = shown(float(sample.by_seed[0]))
    low, high = estimate(sample).interval
    return Score(score, score, score, (shown(low), shown(high)))


def rounded(scale: Scale, score: float) -> float:
    """A score × 100 on a scale, rounded."""
    return round(scale.value(score), scale.decimals)
