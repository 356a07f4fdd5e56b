"""Commands about data."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtl.base.errors import InputError
from mtl.commands.job_settings import Commands, complete_settings, completed_by, job_of, names_of

if TYPE_CHECKING:
    from mtl.jobs.job import Job


def add_data(commands: Commands) -> None:
    """Commands about data."""
    data = commands.add_parser("data", help="download a suite's data, or write that of an embedded suite")
    suite = data.add_argument("suite", help="a suite's name, or a path to a suite file")
    completed_by(suite, partial(names_of, "suite"))
    data.add_argument(
        "settings", nargs="*", metavar="key=value", help="data_dir=FOLDER (else data/SUITE), tasks=[ID,…]"
    )
    data.set_defaults(run=_data)

    audit = commands.add_parser("audit", help="check a suite's data for errors, duplicates and leaks")
    settings = audit.add_argument(
        "settings", nargs="*", metavar="key=value", help="suite=NAME, data_dir=FOLDER and all of baseline's"
    )
    completed_by(settings, complete_settings)
    audit.add_argument("--strict", action="store_true", help="exit status 1 if anything is found")
    sheets = audit.add_mutually_exclusive_group()
    sheets.add_argument(
        "--artefacts",
        action="store_true",
        help="instead: what each task gives away to floors that read a part of a row",
    )
    sheets.add_argument(
        "--near",
        action="store_true",
        help="instead: rows that are nearly the same as another row, in one split or in two",
    )
    sheets.add_argument("--sheet", metavar="TASK", help="instead: draft the task's documentation sheet")
    sheets.add_argument(
        "--check-sheet", type=Path, metavar="FILE", help="instead: check a sheet; exit status 1 if anything is found"
    )
    sheets.add_argument(
        "--write-clean",
        type=Path,
        metavar="DIR",
        help="instead: a copy of the data without training rows that are nearly the same as dev or test rows",
    )
    audit.add_argument(
        "--share",
        type=float,
        metavar="S",
        help="for --near and --write-clean: the character n-grams that two such rows have in common (else 0.8)",
    )
    audit.add_argument(
        "--floors",
        metavar="NAME,…",
        help="for --artefacts: svm (the default), logistic, naive_bayes, fasttext, static; several with commas",
    )
    audit.add_argument("--out", type=Path, metavar="FILE", help="for --sheet: a file to write to, else standard output")
    audit.set_defaults(run=_audit)

    annotate = commands.add_parser("annotate", help="write forms in which people answer a sample of a task's rows")
    annotate.add_argument("suite", metavar="SUITE", help="a suite's name or file")
    annotate.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="task=ID or [ID,…], out=DIR, rows=N (else 50), seed=N (else 1), split=, instructions=FILE, data_dir=FOLDER",
    )
    annotate.set_defaults(run=_annotate)

    make = commands.add_parser("make", help="make the tasks of a benchmark from raw data, as a recipe says")
    make.add_argument("recipe", metavar="RECIPE", help="the path of a recipe, or the name of a shipped one")
    make.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="out=DIR (a new folder), data_dir=FOLDER of the sources, artefacts=false",
    )
    make.set_defaults(run=_make)

    init = commands.add_parser("init-suite", help="guess a suite file from a folder of data files")
    init.add_argument(
        "data_dir",
        type=Path,
        metavar="DATA_DIR",
        help="a folder with .tsv, .csv, .jsonl or .parquet files, at any depth",
    )
    init.add_argument("--language", help="language of the tokenizer, as in sv; default: en")
    init.add_argument("--name", help="name of the suite; default: the folder's")
    init.add_argument("--out", type=Path, metavar="FILE", help="the file to write, else NAME.yaml")
    init.set_defaults(run=_init_suite)


def _data(arguments: argparse.Namespace) -> None:
    from mtl.fetching.fetch import fetch_suite

    job = job_of([f"suite={arguments.suite}", *arguments.settings])
    fetch_suite(job.suite, job.tasks, job.data_dir)


def _audit(arguments: argparse.Namespace) -> int:
    from mtl.api.suites import audit_job

    job = job_of(arguments.settings)
    if arguments.out is not None and arguments.sheet is None:
        raise InputError(f"--out {arguments.out}: is for --sheet TASK only")
    floors = None if arguments.floors is None else [name.strip() for name in arguments.floors.split(",")]
    if floors is not None and not arguments.artefacts:
        raise InputError(f"--floors {arguments.floors}: is for --artefacts only")
    if arguments.sheet is not None:
        return _draft_sheet(job, arguments.sheet, arguments.out)
    if arguments.check_sheet is not None:
        return _check_sheet(job, arguments.check_sheet)
    near = arguments.near or arguments.write_clean is not None
    if arguments.share is not None and not near:
        raise InputError(f"--share {arguments.share:g}: is for --near and --write-clean only")
    if arguments.write_clean is not None:
        return _write_clean(job, arguments.share, arguments.write_clean)
    done = audit_job(job, "near" if near else "artefacts" if arguments.artefacts else "data", arguments.share, floors)
    print(done.report)
    return 1 if arguments.strict and done.findings else 0


def _write_clean(job: "Job", share: float | None, clean: Path) -> int:
    from mtl.audits.clean import write_clean
    from mtl.audits.near import SHARE

    print(write_clean(job, SHARE if share is None else share, clean))
    return 0


def _draft_sheet(job: "Job", task: str, out: Path | None) -> int:
    from mtl.audits.sheets.draft import draft_sheet
    from mtl.base.files import write_text

    sheet = draft_sheet(job, task)
    if out is None:
        sys.stdout.write(sheet)
    else:
        write_text(out, sheet)
    return 0


def _check_sheet(job: "Job", path: Path) -> int:
    from mtl.audits.sheets.check import check_sheet

    findings = check_sheet(job, path)
    for finding in findings or [f"{path}: nothing found"]:
        print(finding)
    return 1 if findings else 0


def _annotate(arguments: argparse.Namespace) -> None:
    from mtl.annotate.draw import read_wanted, write_forms
    from mtl.base.typed import check_known
    from mtl.jobs.job import load_job, parse_settings

    given: dict[str, Any] = parse_settings(arguments.settings)
    check_known(given, {"task", "rows", "split", "seed", "instructions", "out", "data_dir", "held_out"})
    of_job: dict[str, Any] = {key: given[key] for key in ("data_dir", "held_out") if key in given}
    wanted, job = read_wanted(given), load_job({**of_job, "suite": arguments.suite})
    if given.get("out") is None:
        raise InputError("name a new folder for the forms and their key", key="out")
    for path in write_forms(job, wanted, Path(str(given["out"]))):
        print(path)


def _make(arguments: argparse.Namespace) -> None:
    from mtl.base.typed import check_known
    from mtl.jobs.job import parse_settings
    from mtl.make.make import make

    given: dict[str, Any] = parse_settings(arguments.settings)
    check_known(given, {"out", "data_dir", "artefacts"})
    if given.get("out") is None:
        raise InputError("names the new folder; give out=DIR", key="out")
    if not isinstance(given.get("artefacts", True), bool):
        raise InputError("must be true or false", key="artefacts", value=given["artefacts"])
    data_dir = given.get("data_dir")
    made = make(arguments.recipe, Path(str(given["out"])), None if data_dir is None else Path(str(data_dir)))
    print(made.summary, flush=True)
    if given.get("artefacts", True):
        print(f"\nWhat the tasks give away (tables: mtl audit --artefacts suite={made.folder / 'suite.yaml'}):")
        print(made.artefacts)


def _init_suite(arguments: argparse.Namespace) -> None:
    from mtl.init_suite.init_suite import init_suite

    print(init_suite(arguments.data_dir, arguments.language, arguments.name, arguments.out).summary)
