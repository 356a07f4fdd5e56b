"""The site of a leaderboard: the board of scores on hidden labels, the same as JSON, and a page for each system.
Texts of submissions are shown as text, and no file names a time at which it was made, so that the same submissions give the same bytes."""

import html
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtl.base.wording import MISSING
from mtl.benchmark_making.leaderboard.board import NOT_STATED, rounded, submission_board
from mtl.benchmark_making.leaderboard.scoring import LabelledTasks, ScoredSubmission
from mtl.reports.board import Leaderboard
from mtl.reports.document import document
from mtl.reports.markdown import rank_text
from mtl.reports.page import render_page, render_static
from mtl.reports.rows import Row, cost_cell
from mtl.tasks.suite import AVERAGE, Suite


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
    board = submission_board(suite, tasks, in_order, split)
    entries = _entries(board, in_order)
    pages = {f"systems/{entry.row.name}.html": _system_page(board, entry) for entry in entries}
    index = render_page(document([board], "", "", title=f"{suite.title} leaderboard"))
    content = json.dumps(_as_json(board, split, entries, refused), indent=1, ensure_ascii=False) + "\n"
    return {"index.html": index, "leaderboard.json": content, **pages}


def _entries(board: Leaderboard, scored: Sequence[ScoredSubmission]) -> list[Entry]:
    """The systems by their average, those without one last; equal ones by name."""
    by_name = {submission.name: submission for submission in scored}
    entries = []
    for number, row in enumerate(board.rows):
        submission = by_name[row.name]
        ranks = {column: by_row[number] for column, by_row in board.tests.ranks.items() if number in by_row}
        alike = [name for name in by_name if name != row.name and by_name[name].digest == submission.digest]
        entries.append(Entry(row, submission, ranks, alike))
    entries.sort(key=lambda entry: (-entry.row.average.median if entry.row.average else math.inf, entry.row.name))
    return entries


def _as_json(board: Leaderboard, split: str, entries: Sequence[Entry], refused: Mapping[str, str]) -> dict[str, Any]:
    systems = []
    for entry in entries:
        row, average = entry.row, entry.row.average
        scores = {id: rounded(board.scale, score.median) for id, score in row.scores.items()}
        mean = None if average is None else rounded(board.scale, average.median)
        about = {"name": row.name, "title": row.label, "scores": scores, "average": mean}
        systems.append({**about, "rank": entry.ranks.get(AVERAGE), "same_predictions": entry.alike})
    refusals = [{"name": name, "reason": reason} for name, reason in sorted(refused.items())]
    return {"suite": board.name, "split": split, "systems": systems, "refused": refusals}


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
    for id, column in board.columns.items():
        score = entry.row.score(id)
        interval = " to ".join(map(board.scale.show, score.interval)) if score and score.interval else MISSING
        cells = [board.cell(entry.row, id), interval, rank_text(entry.ranks.get(id))]
        yield [html.escape(f"{column.title}, {column.metric}"), *cells]


def _facts(entry: Entry) -> Iterator[tuple[str, str]]:
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
