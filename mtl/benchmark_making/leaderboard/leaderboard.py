"""`mtl leaderboard`: checks the submissions in a folder, scores them on hidden labels, and writes a static site.

The labels stay hidden: messages are about the submissions alone, scores are rounded as the suite shows them, and nothing says which rows are right.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import counted
from mtl.base.progress import progress
from mtl.benchmark_making.leaderboard.rows import TaskRows, read_labelled_rows, read_public_rows
from mtl.benchmark_making.leaderboard.scoring import ScoredSubmission, Scorer
from mtl.benchmark_making.leaderboard.site import write_site
from mtl.benchmark_making.leaderboard.submission import (
    ABOUT,
    Entrant,
    find_submissions,
    read_about,
    read_predictions,
    read_submission,
)
from mtl.reports.board import Column, Leaderboard, PairTests, Row, Score, by_family
from mtl.reports.pairs import column_ranks
from mtl.stats.comparison import Sample, estimate
from mtl.tasks.metrics import lowest_score, metric_named
from mtl.tasks.suite import AVERAGE, Suite

logger = logging.getLogger("mtl")

SYSTEMS_NOTE = (
    "A system is what it answers: intervals and tests say how it would answer other rows of the same kind, not how it would be if it were "
    "trained again. The variance over rows comes from bootstrap resamples of the rows, the same for all systems. Every pair of systems is "
    "tested on every task and the average, with Holm's correction for all tests together. Systems that no test separates share their ranks; all "
    "ranks hold at once with a probability of at least 95 %."
)


@dataclass(frozen=True)
class Rules:
    """What a leaderboard asks of submissions.

    Args:
        split: the split that they predict, dev or test.
        limit: the most submissions of a team in a month; None: any number.
    """

    split: str = "test"
    limit: int | None = None


def check_submissions(suite: Suite, folder: Path, data_dir: Path, rules: Rules) -> dict[str, str]:
    """Check the submissions in a folder without labels.

    Returns:
        by name, why a submission is refused; an empty text for one that is valid.

    Raises:
        InputError: if there is no submission, or no data to compare with.
    """
    tasks = read_public_rows(suite, data_dir, rules.split)
    described, refused = _describe(folder)
    limit = _Limit(rules.limit)
    for path, about in progress(described, "checking", "submissions"):
        try:
            limit.check(path, about)
            read_predictions(read_submission(path, about, suite, rules.split), suite, rules.split, tasks)
            limit.count(about)
        except InputError as error:
            refused[path.name] = str(error)
    return {path.name: refused.get(path.name, "") for path in find_submissions(folder)}


def make_leaderboard(
    suite: Suite, folder: Path, gold: Path, out: Path, rules: Rules, cache: Path | None = None, url: str | None = None
) -> dict[str, str]:
    """Score the submissions in a folder and write the site of the leaderboard.

    A submission that is refused stops no other one. The same folders give the same bytes.

    Args:
        gold: a data folder whose files of the split have labels.
        out: the folder of the site. Pages of systems that are no longer there are removed.
        cache: the folder that keeps scores and resamples by content; it must not be published.
        url: the address of the site, for the feed.

    Returns:
        by name, why a submission is refused; an empty text for one that is on the board.

    Raises:
        InputError: if there is no submission, or no label, and if the labels or the cache are in the folder of the site.
    """
    for what, path in (("gold", gold), ("cache", cache)):
        if path is not None and path.resolve().is_relative_to(out.resolve()):
            raise InputError(
                f"{path} is in the folder of the site, {out}, which is published; name another one", key=what
            )
    tasks = read_labelled_rows(suite, gold, rules.split)
    if without := [id for id in suite.tasks if id not in tasks]:
        logger.info("tasks without labels, not scored: %s", ", ".join(without))
    scorer = Scorer(suite, rules.split, tasks, cache)
    described, refused = _describe(folder)
    limit = _Limit(rules.limit)
    scored = []
    for path, about in progress(described, "scoring", "submissions"):
        try:
            limit.check(path, about)
            scored.append(scorer.score(read_submission(path, about, suite, rules.split)))
            limit.count(about)
        except InputError as error:
            refused[path.name] = str(error)
    scored.sort(key=lambda each: each.name)
    board = build_board(suite, tasks, scored, rules.split)
    write_site(f"{suite.title} leaderboard", board, scored, refused, out, url)
    return {path.name: refused.get(path.name, "") for path in find_submissions(folder)}


def _describe(folder: Path) -> tuple[list[tuple[Path, Entrant]], dict[str, str]]:
    """The submissions whose descriptions can be read, the earliest first; and by name, why the others are refused."""
    refused: dict[str, str] = {}
    described: list[tuple[Path, Entrant]] = []
    for path in find_submissions(folder):
        try:
            described.append((path, read_about(path)))
        except InputError as error:
            refused[path.name] = str(error)
    return sorted(described, key=lambda each: (each[1].date or "", each[0].name)), refused


class _Limit:
    """How many submissions of each team in a month are on the board. Those that are refused do not count."""

    def __init__(self, most: int | None) -> None:
        """
        Args:
            most: of a team in a month; None: any number.
        """
        self.most = most
        self.made: Counter[tuple[str, str]] = Counter()

    def check(self, path: Path, about: Entrant) -> None:
        """Raise InputError if the submission is one too many, or does not say whose and when it is."""
        if self.most is None:
            return
        if about.team is None or about.date is None:
            raise InputError("needs team and date, as this leaderboard limits a team's submissions", path=path / ABOUT)
        if self.made[self._key(about)] >= self.most:
            limit = counted(self.most, "submission")
            raise InputError(
                f"team {about.team} may make {limit} a month, and this is one more in {about.date[:7]}", path=path
            )

    def count(self, about: Entrant) -> None:
        """Count a submission that is not refused."""
        self.made[self._key(about)] += 1

    def _key(self, about: Entrant) -> tuple[str, str]:
        return (about.team or "").strip().casefold(), (about.date or "")[:7]


def build_board(
    suite: Suite, tasks: Mapping[str, TaskRows], scored: Sequence[ScoredSubmission], split: str
) -> Leaderboard:
    """The leaderboard of submissions. Scores and intervals are rounded as the suite shows them; ranks are those of the scores before."""
    rows = [_row(suite, each, split) for each in scored]
    scale = suite.shown
    ranks = column_ranks(rows)
    for column in (AVERAGE, *tasks):  # a single system has the first rank
        alone = [number for number, row in enumerate(rows) if row.score(column)]
        if len(alone) == 1:
            ranks[column] = {alone[0]: (1, 1)}
    partial = [id for id in suite.averaged if id not in tasks]
    marks = [
        f"{scale.heading}, on the labels of {split}, rounded. AVG is the mean over {suite.average_text}. "
        "A system without one of these has no average."
    ]
    marks += [f"* AVG is without {', '.join(partial)}, which have no labels here."] if partial else []
    columns = {id: each.task for id, each in tasks.items() if any(id in row.scores for row in rows)}
    return Leaderboard(
        suite.name,
        f"{suite.title}, {split}",
        scale,
        {
            AVERAGE: Column("AVG", "mean"),
            **{
                id: Column(task.title, metric_named(task.metric).title, task.metric, id, id in suite.averaged)
                for id, task in columns.items()
            },
        },
        by_family(rows),
        marks=marks,
        facts=[SYSTEMS_NOTE],
        tests=PairTests(ranks=_reordered(rows, ranks)),
        noun="system",
    )


def _reordered(
    rows: Sequence[Row], ranks: Mapping[str, Mapping[int, tuple[int, int]]]
) -> dict[str, dict[int, tuple[int, int]]]:
    """Ranks by the index of a row in the order of families."""
    index = {row: number for number, row in enumerate(by_family(rows))}
    return {
        column: {index[rows[number]]: interval for number, interval in intervals.items()}
        for column, intervals in ranks.items()
    }


def _row(suite: Suite, scored: ScoredSubmission, split: str) -> Row:
    system = scored.system
    scores = {id: _score(suite, scored.samples[id], lowest_score(suite.tasks[id])) for id in scored.scores}
    means = {}
    if AVERAGE in scored.samples:
        lowest = suite.mean({id: lowest_score(suite.tasks[id]) for id in scores})
        means[AVERAGE] = _score(suite, scored.samples[AVERAGE], lowest or 0.0)
    missing = suite.lacking(scores) if means else []
    return Row(
        name=scored.name,
        label=system.title or scored.name,
        family=system.family or "not stated",
        split=split,
        scores=scores,
        means=means,
        missing=missing,
        marks={AVERAGE: "*" if missing else ""},
        reasons={AVERAGE: tuple(missing)},
        cost={"parameters": system.parameters, "finetune_seconds": system.seconds},
        samples=scored.samples,
        comparable=dict.fromkeys(scored.samples, "labels"),
        page=f"systems/{scored.name}.html",
    )


def _score(suite: Suite, sample: Sample, lowest: float) -> Score:
    """A score × 100 and its interval, both rounded as the suite shows them. lowest: × 100, of the metric."""
    scale = suite.shown

    def rounded(score: float) -> float:
        return round(scale.value(min(100.0, max(lowest, score))), scale.decimals) * scale.divisor

    value = rounded(float(sample.by_seed[0]))
    low, high = estimate(sample).interval
    return Score(value, value, value, (rounded(low), rounded(high)))
