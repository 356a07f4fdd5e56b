"""The program as its user runs it, and what a run leaves."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from data_files import read_json

from mtl.jobs.job import Job, load_job, parse_settings


def mtl(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mtl", *arguments], cwd=cwd, capture_output=True, text=True)


def job(settings: Sequence[str], name: str = "") -> Job:
    """The run that `mtl baseline` makes with these settings, or one of several with this name."""
    return replace(load_job(parse_settings(settings)), name=name)


def content(folder: Path) -> dict[str, bytes]:
    """Whatever of a run is a result, by path."""
    names = ("*.tsv", "*.zip", "table.md")
    files = {str(path.relative_to(folder)): path.read_bytes() for name in names for path in sorted(folder.rglob(name))}
    if (summary := folder / "summary.json").exists():
        # Seconds and memory are measured; where things lie, what is installed there, and the command, may differ.
        apart = ("cost", "versions", "config", "command")
        kept = [value for key, value in read_json(summary).items() if key not in apart]
        files["summary.json"] = repr(kept).encode()
    return files
