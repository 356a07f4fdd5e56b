"""Forms, and files of answers as forms export them, for tests."""

from pathlib import Path
from typing import Any

from data_files import read_json
from small_suite import write_suite

from mtl.benchmark_making.annotate.draw import read_sample_settings, sample_id, write_forms
from mtl.benchmark_making.annotate.form import COLUMNS
from mtl.data.sampled import Key
from mtl.jobs.job import load_job


def write_forms_of(folder: Path, suite: str = "liten.yaml", **wanted: Any) -> Path:
    """The forms of a sample of the small suite, or of another suite in the folder, in a folder `forms`."""
    if suite == "liten.yaml":
        write_suite(folder)
    job = load_job({"suite": str(folder / suite), "data_dir": str(folder / "data")})
    write_forms(job, read_sample_settings(wanted), folder / "forms")
    return folder / "forms"


def read_key_of(forms: Path) -> Key:
    return read_json(forms / "key.json")


def answer_lines(forms: Path, task: str, name: str, answers: list[str]) -> list[str]:
    """The lines of the file that a person exports with these answers, in the order of the rows in the data."""
    key = read_key_of(forms)
    own = key["tasks"][task]
    sample = sample_id(key["suite"], task, own)
    rows = zip(own["lines"], answers, strict=True)
    return ["\t".join(COLUMNS), *("\t".join((task, sample, name, str(line), answer)) for line, answer in rows)]
