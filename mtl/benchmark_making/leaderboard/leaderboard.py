"""`mtl leaderboard`: checks the submissions in a folder, scores them on hidden labels, and writes a static site.

The labels stay hidden: messages are about the submissions alone, scores are rounded as the suite shows them, and nothing says which rows are right.
All texts of submissions are shown as text. No file names a time at which it was made, so that the same submissions give the same bytes.
"""

import html
import json
import logging
import math
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from mtl.base.errors import InputError, shortened
from mtl.base.folders import check_written, write_files
from mtl.base.progress import progress
from mtl.base.terminal import visible
from mtl.base.typed import AT_LEAST_ONE
from mtl.base.wording import MISSING, counted
from mtl.benchmark_making.leaderboard import submission
from mtl.benchmark_making.leaderboard.submission import Entrant, LabelledRows, ScoredSubmission, read_predictions
from mtl.reports.board import Column, Leaderboard, PairTests, Row, Score, by_family, cost_cell
from mtl.reports.document import document
from mtl.reports.markdown import rank_text
from mtl.reports.page import render_page, render_static
from mtl.reports.pair_tests import pair_tests
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
    """What a leaderboard asks of submissions."""

    split: Literal["dev", "test"] = "test"  # that they predict
    limit: Annotated[int, AT_LEAST_ONE] | None = None  # of a team in a month; those that are refused do not count


def check_submissions(suite: Suite, folder: Path, data_dir: Path, rules: Rules) -> dict[str, str]:
    """Check the submissions in a folder without labels.

    Returns:
        by name, why a submission is refused; an empty text for one that is valid.

    Raises:
        InputError: if there is no submission, or no data to compare with.
    """
    tasks = submission.read_public_rows(suite, data_dir, rules.split)
    split = rules.split
    return _judge(folder, data_dir, rules, lambda path, _: read_predictions(path, suite, split, tasks), "checking")


def make_leaderboard(suite: Suite, folder: Path, gold: Path, out: Path, rules: Rules) -> dict[str, str]:
    """Score the submissions in a folder and write the site of the leaderboard.

    A submission that is refused stops no other one. The same folders give the same bytes.

    Args:
        gold: a data folder whose files of the split have labels.
        out: the folder of the site. Pages of systems that are no longer there are removed.

    Returns:
        by name, why a submission is refused; an empty text for one that is on the board.

    Raises:
        InputError: if there is no submission, or no label, if the labels are in the folder of the site, and as `write_files` for that folder.
    """
    if gold.resolve().is_relative_to(out.resolve()):
        problem = f"{gold} is in the folder of the site, {out}, which is published; name another one"
        raise InputError(problem, key="gold")
    check_written(out)
    tasks = submission.read_labelled_rows(suite, gold, rules.split)
    if without := [id for id in suite.tasks if id not in tasks]:
        logger.info("tasks without labels, not scored: %s", ", ".join(without))
    scored = list[ScoredSubmission]()

    def score(path: Path, about: Entrant) -> None:
        scored.append(submission.score_submission(path, about, suite, rules.split, tasks))

    refused = _judge(folder, gold, rules, score, "scoring")
    scored.sort(key=lambda system: system.name)
    board = build_board(suite, tasks, scored, rules.split)
    reasons = {name: reason for name, reason in refused.items() if reason}
    entries = _best_first(board, scored)
    files = {
        "index.html": render_page(document([board], "", "", title=f"{suite.title} leaderboard")),
        "leaderboard.json": json.dumps(_as_json(board, entries, reasons), indent=1, ensure_ascii=False) + "\n",
    }
    write_files(out, files | {f"systems/{entry.row.name}.html": _system_page(board, entry) for entry in entries})
    return refused


def _judge(
    folder: Path, data: Path, rules: Rules, take: Callable[[Path, Entrant], object], title: str
) -> dict[str, str]:
    """Take the submissions in a folder, the earliest first; return by name why one is refused, or an empty text. `data`: the folder of the rows."""
    refused = dict[str, str]()

    @contextmanager
    def attempt(path: Path) -> Iterator[None]:
        """Within the block, refuse the submission if a step fails, whatever is in it."""
        refused.setdefault(visible(path.name), "")
        try:
            yield
        except Exception as error:
            refused[visible(path.name)] = _reason(error, (folder, data))

    described = list[tuple[Path, Entrant]]()
    for path in submission.find_submissions(folder):
        with attempt(path):
            described.append((path, submission.read_about(path)))
    described.sort(key=lambda entry: (entry[1].date or "", entry[0].name))
    taken = Counter[tuple[str, str]]()  # by team and month
    for path, about in progress(described, title, "submissions"):
        month = (about.date or "")[:7]
        key = unicodedata.normalize("NFKC", about.team or "").strip().casefold(), month
        with attempt(path):
            if rules.limit is not None and not (about.team and about.date):
                problem = "needs team and date, as this leaderboard limits a team's submissions"
                raise InputError(problem, path=path / submission.ABOUT)
            if rules.limit is not None and taken[key] >= rules.limit:
                limit = f"team {about.team} may make {counted(rules.limit, 'submission')} a month"
                raise InputError(f"{limit}, and this is one more in {month}", path=path)
            take(path, about)
            taken[key] += 1
    return refused


def _reason(error: Exception, folders: Sequence[Path]) -> str:
    """Why a submission is refused, for everybody to read: a short line, without the paths of these folders. Of an error that mtl does not expect
    only its name, since its text may show a label."""
    text = str(error)
    if not isinstance(error, InputError):
        logger.debug("a submission is refused", exc_info=error)
        text = f"cannot be read ({type(error).__name__})"
    for path in (form for folder in folders for form in (folder, folder.resolve()) if form != Path()):
        text = text.replace(f"{path}{os.sep}", "")
    return shortened(text, submission.LONGEST)


def build_board(
    suite: Suite, tasks: Mapping[str, LabelledRows], scored: Sequence[ScoredSubmission], split: str
) -> Leaderboard:
    """The leaderboard of submissions. Scores and intervals are rounded as the suite shows them; ranks are those of the scores before."""
    rows, scale = by_family(_row(suite, system, split) for system in scored), suite.shown
    marks = [
        f"{scale.heading}, on the labels of {split}, rounded. AVG is the mean over {suite.average_text}. "
        "A system without one of these has no average."
    ]
    if partial := [id for id in suite.averaged if id not in tasks]:
        marks.append(f"* AVG is without {', '.join(partial)}, which have no labels here.")
    columns = {AVERAGE: Column("AVG", "mean")}
    for id, task in ((id, tasks[id].task) for id in tasks if any(id in row.scores for row in rows)):
        metric = metric_named(task.metric).title
        columns[id] = Column(task.title, metric, task.metric, id, id in suite.averaged)
    title, tests, facts = f"{suite.title}, {split}", PairTests(ranks=pair_tests(rows).ranks), [SYSTEMS_NOTE]
    return Leaderboard(suite.name, title, scale, columns, rows, marks=marks, facts=facts, tests=tests, noun="system")


def _row(suite: Suite, scored: ScoredSubmission, split: str) -> Row:
    """The row of the board for a submission."""
    system, samples = scored.system, scored.samples
    scores = {id: _score(suite, samples[id], lowest_score(suite.tasks[id])) for id in samples if id != AVERAGE}
    means = {}
    if average := samples.get(AVERAGE):
        means[AVERAGE] = _score(suite, average, suite.mean({id: lowest_score(suite.tasks[id]) for id in scores}) or 0.0)
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
        samples=samples,
        comparable=dict.fromkeys(samples, "labels"),
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


@dataclass(frozen=True, eq=False)
class Entry:
    """A system on the board, with the intervals of its ranks by column, and the names of the other systems with the same predictions."""

    row: Row
    scored: ScoredSubmission
    ranks: Mapping[str, tuple[int, int]]
    alike: Sequence[str]


def _best_first(board: Leaderboard, scored: Sequence[ScoredSubmission]) -> list[Entry]:
    """The systems by their average, those without one last; equal ones by name."""
    systems, entries = {system.name: system for system in scored}, list[Entry]()
    for number, row in enumerate(board.rows):
        system = systems[row.name]
        ranks = {column: ranks[number] for column, ranks in board.tests.ranks.items() if number in ranks}
        alike = [other.name for other in scored if other.digest == system.digest and other is not system]
        entries.append(Entry(row, system, ranks, alike))
    entries.sort(key=lambda entry: (-entry.row.average.median if entry.row.average else math.inf, entry.row.name))
    return entries


def _as_json(board: Leaderboard, entries: Sequence[Entry], refused: Mapping[str, str]) -> dict[str, Any]:
    """The content of leaderboard.json."""
    return {
        "suite": board.name,
        "split": entries[0].row.split if entries else None,
        "systems": [
            {
                "name": entry.row.name,
                "title": entry.row.label,
                "scores": {id: _shown(board, score.median) for id, score in entry.row.scores.items()},
                "average": _shown(board, entry.row.average.median) if entry.row.average else None,
                "rank": entry.ranks.get(AVERAGE),
                "same_predictions": entry.alike,
            }
            for entry in entries
        ],
        "refused": [{"name": name, "reason": reason} for name, reason in sorted(refused.items())],
    }


def _shown(board: Leaderboard, score: float) -> float:
    """A score × 100 as the suite shows it."""
    return round(board.scale.value(score), board.scale.decimals)


def _system_page(board: Leaderboard, entry: Entry) -> str:
    """The page of one system. Names of systems are not escaped: they have no character that HTML reads otherwise (`submission.read_about`)."""
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
    for column, shown in board.columns.items():
        cells = [MISSING] * 3
        if score := entry.row.score(column):
            interval = " to ".join(map(show, score.interval)) if score.interval else MISSING
            cells = [show(score.median) + entry.row.mark(column), interval, rank_text(entry.ranks.get(column))]
        yield [html.escape(f"{shown.title}, {shown.metric}"), *cells]


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
        yield name, html.escape(value) if value else "not stated"
    link = html.escape(system.link, quote=True) if system.link else None
    yield "Link", f'<a href="{link}" rel="nofollow noopener">{link}</a>' if link else "not stated"
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
