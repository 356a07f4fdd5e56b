"""Compare all finished runs and evaluations, and write the report: a page, Markdown, LaTeX and CSV."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.folders import check_writable, write_files
from mtl.base.log import logger
from mtl.base.names import meant
from mtl.base.wings import wings
from mtl.reports.document import document
from mtl.reports.latex import render_latex
from mtl.reports.leaderboard import by_suite, leaderboard
from mtl.reports.markdown import render_markdown
from mtl.reports.page import render_page
from mtl.reports.tables import render_csv
from mtl.runs.finished import FinishedRun, find_runs
from mtl.stats.samples import SampleCache


def write_report(
    runs_dir: Path, out: Path, command: str, cache_dir: Path | None = None, references: Collection[str] = ()
) -> Path:
    """Write the report on all runs of `runs_dir` to the folder `out`, and return the path of its page. It names `command`, the command line.
    `cache_dir` keeps resamples; `references` are runs to test every run against. Raises InputError for no run, an unknown reference and bad files."""
    check_writable(out)
    cache = SampleCache(cache_dir and cache_dir / "resampled")
    runs = find_runs(runs_dir, cache.check)
    wing_boards = [board for wing in wings() if wing.boards is not None for board in wing.boards(runs_dir)]
    if not runs and not wing_boards:
        raise InputError("holds no finished run; make one with mtl baseline", path=runs_dir)
    check_references(references, runs)
    boards = [*(leaderboard(group, cache, references) for group in by_suite(runs)), *wing_boards]
    generated = f"{datetime.now(UTC):%Y-%m-%d %H:%M UTC}"
    forms = {
        "report.md": render_markdown(boards, generated, command),
        "report.tex": render_latex(boards, generated, command),
        **render_csv(boards),
        "index.html": render_page(document(boards, generated, command)),
    }
    write_files(out, forms)
    logger.info("runs compared: %d; %s", len(runs), ", ".join(f"{out / name}" for name in forms))
    return out / "index.html"


def check_references(references: Collection[str], runs: Sequence[FinishedRun]) -> None:
    """Raise InputError unless each reference is the name of one of the runs."""
    names = {run.name for run in runs}
    for name in references:
        if name not in names:
            close = " or ".join(meant(name, names))
            remedy = f"is it {close}?" if close else "the first column of the table of scores has the names"
            raise InputError(f"no finished run has this name; {remedy}", key="reference", value=name)
