"""The site of a leaderboard: the board of scores on hidden labels, with intervals and ranks, the same as JSON, and a page for each system.
Texts of submissions are shown as text, and no file names a time at which it was made, so that the same submissions give the same bytes."""

import html
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtl.base.wording import MISSING
from mtl.benchmark_making.leaderboard.scoring import LabelledTasks, ScoredSubmission
from mtl.reports.board import Column, Leaderboard, PairTests
from mtl.reports.document import document
from mtl.reports.markdown import rank_text
from mtl.reports.page import render_page, render_static
from mtl.reports.pair_tests import pair_tests
from mtl.reports.rows import Row, Score, by_family, cost_cell
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
NOT_STATED = "not stated"


@dataclass(frozen=True, eq=False)
class Entry:
    """A system on the board."""

    row: Row
    scored: ScoredSubmission
    ranks: Mapping[str, tuple[int, int]]  # the interval of its rank, by column
    alike: Sequence[str]  # the names of the other systems with the same predictions


def site_files(
    suite: Suite, tasks: LabelledTasks, scored: Sequence[ScoredSubmission], split: str, refused: Mapping[str, str]
) -> dict[str, str]:
    """The files of the site, by their path in it. `refused` says why a submission is not on the board, by its name."""
    in_order = sorted(scored, key=lambda submission: submission.name)
    board = leaderboard(suite, tasks, in_order, split)
    entries = _entries(board, in_order)
    pages = {f"systems/{entry.row.name}.html": _system_page(board, entry) for entry in entries}
    index = render_page(document([board], "", "", title=f"{suite.title} leaderboard"))
    content = json.dumps(_as_json(board, split, entries, refused), indent=1, ensure_ascii=False) + "\n"
    return {"index.html": index, "leaderboard.json": content, **pages}


def leaderboard(suite: Suite, tasks: LabelledTasks, scored: Sequence[ScoredSubmission], split: str) -> Leaderboard:
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
    title, scale, tests = f"{suite.title}, {split}", suite.shown, PairTests(ranks=pair_tests(rows).ranks)
    return Leaderboard(suite.name, title, scale, columns, rows, marks=marks, notes=[NOTE], tests=tests, noun="system")


def _row(suite: Suite, scored: ScoredSubmission, split: str) -> Row:
    """The row of the board for a submission."""
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

    def cut(score: float) -> float:
        return rounded(scale, min(100.0, max(lowest, score))) * scale.divisor

    value = cut(float(sample.by_seed[0]))
    low, high = estimate(sample).interval
    return Score(value, value, value, (cut(low), cut(high)))


def rounded(scale: Scale, score: float) -> float:
    """A score × 100 on a scale, rounded."""
    return round(scale.value(score), scale.decimals)


def _entries(board: Leaderboard, scored: Sequence[ScoredSubmission]) -> list[Entry]:
    """The systems by their average, those without one last; equal ones by name."""
    by_name, entries = {submission.name: submission for submission in scored}, list[Entry]()
    for number, row in enumerate(board.rows):
        ranks = {column: by_row[number] for column, by_row in board.tests.ranks.items() if number in by_row}
        entered = by_name[row.name]
        alike = [name for name, other in by_name.items() if other is not entered and other.digest == entered.digest]
        entries.append(Entry(row, entered, ranks, alike))
    entries.sort(key=lambda entry: (-entry.row.average.median if entry.row.average else math.inf, entry.row.name))
    return entries


def _as_json(board: Leaderboard, split: str, entries: Sequence[Entry], refused: Mapping[str, str]) -> dict[str, Any]:
    """The content of leaderboard.json."""
    systems = []
    for entry in entries:
        row, average = entry.row, entry.row.average
        scores = {id: rounded(board.scale, score.median) for id, score in row.scores.items()}
        mean = None if average is None else rounded(board.scale, average.median)
        about = {"name": row.name, "title": row.label, "scores": scores, "average": mean}
        systems.append({**about, "rank": entry.ranks.get(AVERAGE), "same_predictions": entry.alike})
    return {
        "suite": board.name,
        "split": split,
        "systems": systems,
        "refused": [{"name": name, "reason": reason} for name, reason in sorted(refused.items())],
    }


def _system_page(board: Leaderboard, entry: Entry) -> str:
    """The page of one system. Names of systems are not escaped: they have no character that HTML reads otherwise (`submission.FOLDER_NAME`)."""
    body = [
        '<p><a href="../index.html">All systems</a></p>',
        f'<p class="quiet">{html.escape(board.title)}: {entry.row.name}</p>',
        "<h2>Scores</h2>",
        _table(["", "score", "95 % CI", "rank"], _score_lines(board, entry)),
        f'<p class="quiet">{html.escape(" ".join(board.marks))}</p>',
        "<h2>The system</h2>",
        _table((), _facts(entry)),
    ]
    return render_static(entry.row.label, "\n".join(body))


def _score_lines(board: Leaderboard, entry: Entry) -> Iterator[list[str]]:
    """By column of the board: its title, and the system's score, interval and rank."""
    show = board.scale.show
    for id, column in board.columns.items():
        cells = [MISSING] * 3
        if score := entry.row.score(id):
            interval = " to ".join(map(show, score.interval)) if score.interval else MISSING
            cells = [show(score.median) + entry.row.mark(id), interval, rank_text(entry.ranks.get(id))]
        yield [html.escape(f"{column.title}, {column.metric}"), *cells]


def _facts(entry: Entry) -> Iterator[tuple[str, str]]:
    """What is known of the system, each with its name."""
    system = entry.scored.system
    about = {
        "Team": system.team,
        "Date": system.date,
        "Family": system.family,
        "Parameters": None if system.parameters is None else cost_cell("parameters", system.parameters),
        "Training": None if system.seconds is None else cost_cell("finetune_seconds", system.seconds),
        "Training text": system.text,
        "Hardware": system.hardware,
        "Licence": system.license,
    }
    for name, value in about.items():
        yield name, html.escape(value) if value else NOT_STATED
    link = html.escape(system.link, quote=True) if system.link else None
    yield "Link", f'<a href="{link}" rel="nofollow noopener">{link}</a>' if link else NOT_STATED
    yield "Predictions (SHA-256)", f"<code>{entry.scored.digest}</code>"
    if entry.alike:
        yield "The same predictions", ", ".join(f'<a href="{name}.html">{name}</a>' for name in entry.alike)


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML; the first cell of each line is its header."""
    titles = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    head = f"<thead><tr>{titles}</tr></thead>" if header else ""
    body = ""
    for first, *cells in lines:
        body += f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    return f'<div class="scroller"><table class="static">{head}<tbody>{body}</tbody></table></div>'
