"""Compare all finished runs and evaluations, and write the report: a page, Markdown, LaTeX and CSV; and what their tests can show."""

import difflib
import logging
from collections.abc import Collection, Sequence
from pathlib import Path

from mtl.base.clock import now
from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.mteb.results import find_evaluations
from mtl.reports.document import document
from mtl.reports.encoders import encoder_leaderboards
from mtl.reports.leaderboard import by_suite, leaderboard
from mtl.reports.markdown import render_markdown
from mtl.reports.page import render_page
from mtl.reports.power import PowerSettings, power_text
from mtl.reports.tables import (
    render_comparisons,
    render_costs,
    render_latex,
    render_ranks,
    render_scores,
    render_settings,
    render_vectors,
)
from mtl.runs.finished import Run, find_runs
from mtl.stats.samples import SampleCache

logger = logging.getLogger("mtl")


def write_report(
    runs_dir: Path, out: Path, command: str, cache_dir: Path | None = None, references: Collection[str] = ()
) -> Path:
    """Compare what is finished below a folder, write the report to the folder `out`, and return the path of its page.

    Files: index.html, report.md, report.tex, scores.csv, comparisons.csv, ranks.csv, settings.csv, costs.csv; where encoders
    were evaluated, vectors.csv too.

    Args:
        command: the command line that the report names.
        cache_dir: resamples are kept in its subfolder `resampled`; None: not at all.
        references: names of the runs to test every run against (`mtl.reports.leaderboard`).

    Raises:
        InputError: if there is neither a finished run nor an evaluation, if there is no run of a reference's name, or
            if a run's files cannot be read.
    """
    cache = SampleCache(cache_dir and cache_dir / "resampled")
    runs = find_runs(runs_dir, cache.check)
    encoders = encoder_leaderboards(find_evaluations(runs_dir))
    if not runs and not encoders:
        raise InputError("holds no finished run; make one with mtl baseline", path=runs_dir)
    check_references(references, runs)
    boards = [leaderboard(same, cache, references) for same in by_suite(runs)]
    generated = now().strftime("%Y-%m-%d %H:%M UTC")
    forms = {
        "report.md": render_markdown([*boards, *encoders], generated, command),
        "report.tex": render_latex([*boards, *encoders], generated, command),
        "scores.csv": render_scores(boards),
        "comparisons.csv": render_comparisons(boards),
        "ranks.csv": render_ranks(boards),
        "settings.csv": render_settings(boards),
        "costs.csv": render_costs(boards),
        "index.html": render_page(document([*boards, *encoders], generated, command)),
    }
    if encoders:
        forms["vectors.csv"] = render_vectors(encoders)
    for name, content in forms.items():
        write_text(out / name, content)
    logger.info("runs compared: %d; %s", len(runs), ", ".join(f"{out / name}" for name in forms))
    return out / "index.html"


def power_report(runs_dir: Path, settings: PowerSettings, cache_dir: Path | None = None) -> str:
    """What the tests of the finished runs below a folder can show, in Markdown: a table for each suite.

    Args:
        cache_dir: as in `write_report`.

    Raises:
        InputError: if there is no finished run, or none of the suite, or if a run's files cannot be read.
    """
    cache = SampleCache(cache_dir and cache_dir / "resampled")
    runs = find_runs(runs_dir, cache.check)
    if not runs:
        raise InputError(
            "holds no finished run; make one with mtl baseline, or give rows=, accuracy= and agreement=", path=runs_dir
        )
    chosen = [run for run in runs if settings.suite in (None, run.suite.name)]
    if not chosen:
        names = ", ".join(sorted({run.suite.name for run in runs}))
        raise InputError(
            f"no finished run below {runs_dir}; there are runs of {names}", key="suite", value=settings.suite
        )
    return "\n\n".join(power_text(leaderboard(same, cache), settings) for same in by_suite(chosen))


def check_references(references: Collection[str], runs: Sequence[Run]) -> None:
    """Raise InputError unless each is the name of one of the runs."""
    names = {run.name for run in runs}
    for name in references:
        if name not in names:
            close = difflib.get_close_matches(name, names)
            remedy = (
                f"is it {' or '.join(close)}?" if close else "the first column of the table of scores has the names"
            )
            raise InputError(f"no finished run has this name; {remedy}", key="reference", value=name)
