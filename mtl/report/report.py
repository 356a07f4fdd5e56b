"""Compare all finished runs and write the report: a page, Markdown, LaTeX and CSV."""

import logging
from datetime import UTC, datetime
from pathlib import Path

from mtl.files import write_text
from mtl.report.document import document
from mtl.report.latex import render_latex
from mtl.report.leaderboard import by_suite, leaderboard
from mtl.report.markdown import render_markdown
from mtl.report.page import render_page
from mtl.report.sheets import render_comparisons, render_costs, render_scores, render_settings
from mtl.runs.finished import find_runs

logger = logging.getLogger("mtl")


def write_report(runs_dir: Path, out: Path, command: str) -> Path:
    """Compare the finished runs below a folder, write the report to the folder `out`, and return the path of its page.

    Files: index.html, report.md, report.tex, scores.csv, comparisons.csv, settings.csv, costs.csv. command: the command line that the report
    names. Raises InputError if there is no finished run, or if a run's files cannot be read.
    """
    runs = find_runs(runs_dir)
    boards = [leaderboard(group) for group in by_suite(runs)]
    generated = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    forms = {
        "report.md": render_markdown(boards, generated, command),
        "report.tex": render_latex(boards, generated, command),
        "scores.csv": render_scores(boards),
        "comparisons.csv": render_comparisons(boards),
        "settings.csv": render_settings(boards),
        "costs.csv": render_costs(boards),
        "index.html": render_page(document(boards, generated, command)),
    }
    for name, content in forms.items():
        write_text(out / name, content)
    logger.info("runs compared: %d; %s", len(runs), ", ".join(f"{out / name}" for name in forms))
    return out / "index.html"
