"""The static site of a leaderboard: the board, a page for each system, and JSON.

All texts of submissions are shown as text. No file names a time at which it was made, so that the same submissions give the same bytes.
"""

import html
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.folders import write_files
from mtl.base.terminal import MISSING
from mtl.benchmark_making.leaderboard.submission import ScoredSubmission
from mtl.reports.board import Leaderboard, Row, cost_cell
from mtl.reports.document import document
from mtl.reports.markdown import rank_text
from mtl.reports.page import render_page, render_static
from mtl.tasks.suite import AVERAGE


@dataclass(frozen=True, eq=False)
class Entry:
    """A system on the board, with the intervals of its ranks by column, and the names of the other systems with the same predictions."""

    row: Row
    scored: ScoredSubmission
    ranks: Mapping[str, tuple[int, int]]
    alike: Sequence[str]


def write_site(
    title: str, board: Leaderboard, scored: Sequence[ScoredSubmission], refused: Mapping[str, str], out: Path
) -> None:
    """Write index.html, systems/NAME.html and leaderboard.json, as `write_files` does.

    Args:
        title: of the site.
        refused: by name, why a submission is not on the board.
    """
    entries = _best_first(board, scored)
    files = {
        "index.html": render_page(document([board], "", "", title=title)),
        "leaderboard.json": json.dumps(_content(board, entries, refused), indent=1, ensure_ascii=False) + "\n",
    }
    files |= {f"systems/{entry.row.name}.html": _system_page(board, entry) for entry in entries}
    write_files(out, files)


def _best_first(board: Leaderboard, scored: Sequence[ScoredSubmission]) -> list[Entry]:
    """The systems by their average, those without one last; equal ones by name."""
    systems = {each.name: each for each in scored}
    alike: dict[str, list[str]] = {}
    for each in scored:
        alike.setdefault(each.digest, []).append(each.name)
    entries = []
    for number, row in enumerate(board.rows):
        ranks = {column: ranks[number] for column, ranks in board.tests.ranks.items() if number in ranks}
        others = [name for name in alike[systems[row.name].digest] if name != row.name]
        entries.append(Entry(row, systems[row.name], ranks, others))
    return sorted(entries, key=lambda each: (-each.row.average.median if each.row.average else math.inf, each.row.name))


def _content(board: Leaderboard, entries: Sequence[Entry], refused: Mapping[str, str]) -> dict[str, Any]:
    """The content of leaderboard.json."""
    return {
        "suite": board.name,
        "split": entries[0].row.split if entries else None,
        "systems": [
            {
                "name": entry.row.name,
                "title": entry.row.label,
                "team": entry.scored.system.team,
                "date": entry.scored.system.date,
                "scores": {id: _shown(board, score.median) for id, score in entry.row.scores.items()},
                "intervals": {
                    column: [_shown(board, end) for end in score.interval]
                    for column in board.columns
                    if (score := entry.row.score(column)) and score.interval
                },
                "average": _shown(board, entry.row.average.median) if entry.row.average else None,
                "rank": entry.ranks.get(AVERAGE),
                "ranks": {id: interval for id, interval in entry.ranks.items() if id != AVERAGE},
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
    """The page of one system."""
    row, system = entry.row, entry.scored.system
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
    facts = [(what, html.escape(value) if value else "not stated") for what, value in about.items()]
    link = html.escape(system.link, quote=True) if system.link else None
    facts.append(("Link", f'<a href="{link}" rel="nofollow noopener">{link}</a>' if link else "not stated"))
    facts.append(("Predictions (SHA-256)", f"<code>{entry.scored.digest}</code>"))
    if entry.alike:
        facts.append(("The same predictions", ", ".join(f'<a href="{name}.html">{name}</a>' for name in entry.alike)))
    scores = []
    for column, shown in board.columns.items():
        cells, score, show = [MISSING] * 3, row.score(column), board.scale.show
        if score is not None:
            interval = " to ".join(map(show, score.interval)) if score.interval else MISSING
            cells = [show(score.median) + row.mark(column), interval, rank_text(entry.ranks.get(column))]
        scores.append([html.escape(f"{shown.title}, {shown.metric}"), *cells])
    body = [
        '<p><a href="../index.html">All systems</a></p>',
        f'<p class="quiet">{html.escape(board.title)}: {row.name}</p>',
        "<h2>Scores</h2>",
        _table(["", "score", "95 % CI", "rank"], scores),
        f'<p class="quiet">{html.escape(" ".join(board.marks))}</p>',
        "<h2>The system</h2>",
        _table(None, facts),
    ]
    return render_static(row.label, "\n".join(body))


def _table(header: Sequence[str] | None, lines: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML; the first cell of each line is its header."""
    titles = "".join(f'<th scope="col">{cell}</th>' for cell in header or ())
    head = f"<thead><tr>{titles}</tr></thead>" if header else ""
    body = ""
    for first, *cells in lines:
        body += f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    return f'<div class="scroller"><table class="static">{head}<tbody>{body}</tbody></table></div>'
