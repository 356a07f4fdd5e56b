"""Commands that make what is kept: runs, sweeps, data, word embeddings."""

import argparse
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mtl.api.commands.job_settings import (
    KEYS,
    Commands,
    add_report_dir,
    complete_settings,
    completed_by,
    job_of,
    names_of,
)
from mtl.base.wings import Importer, trainings, wings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mtl.jobs.job import Job, NamedRun


def add_training(commands: Commands) -> None:
    """Add the commands of this file."""
    baseline = commands.add_parser("baseline", help="train, evaluate and tabulate: the whole job")
    completed_by(baseline.add_argument("settings", nargs="*", metavar="key=value", help=KEYS), complete_settings)
    baseline.set_defaults(run=_baseline)

    imported = commands.add_parser("import", help="make a run of the predictions of another system")
    imported.add_argument("name", metavar="NAME", help="name of the run and of the system")
    files = "a zip or a folder for each seed; suite=NAME, seed=N or seed=[N,…], system=FILE, labels=FILE, tasks=[ID,…], data_dir=, run_dir="
    text = "; or ".join([files, *(importer.help for importer in _importers())])
    imported.add_argument("settings", nargs="+", metavar="PREDICTIONS | key=value", help=text)
    imported.set_defaults(run=_import)

    ensemble = commands.add_parser("ensemble", help="make a run of the averaged outputs of finished runs")
    ensemble.add_argument(
        "settings",
        nargs="+",
        metavar="RUN | key=value",
        help="folders of finished runs of a suite whose models are kept; suite=, data_dir=, tasks=[ID,…] are those of the first run, run_dir=,"
        " ensemble.by_seed=true to average, for each seed, the runs' models of this seed; seeds= are then those of the first run",
    )
    ensemble.set_defaults(run=_ensemble)

    sweep = commands.add_parser("sweep", help="make the runs that a file lists, if they do not exist yet, and report")
    file = sweep.add_argument("file", metavar="FILE", help="a name in configs/sweep, or the path of a YAML file")
    completed_by(file, partial(names_of, "sweep"))
    settings = sweep.add_argument("settings", nargs="*", metavar="key=value", help=f"for every run: {KEYS}")
    completed_by(settings, complete_settings)
    sweep.add_argument("--only", action="append", default=[], metavar="NAME", help="a run to make, instead of all")
    sweep.add_argument("--plan", action="store_true", help="print seeds and expected hours, and run nothing")
    add_report_dir(sweep, "the folder of the report")
    sweep.set_defaults(run=_sweep)

    data = commands.add_parser("data", help="download a suite's data, or write that of an embedded suite")
    completed_by(
        data.add_argument("suite", help="a suite's name, or a path to a suite file"), partial(names_of, "suite")
    )
    text = "data_dir=FOLDER (else data/SUITE), tasks=[ID,…]"
    data.add_argument("settings", nargs="*", metavar="key=value", help=text)
    data.set_defaults(run=_data)

    trained = trainings()
    text = "fetch word embeddings" if trained is None else "train or fetch word embeddings"
    actions = commands.add_parser("embeddings", help=text).add_subparsers(metavar="ACTION", required=True)
    if trained is not None:
        trained.add_command(actions)
    fetch = actions.add_parser("fetch", help="download pretrained vectors")
    fetch.add_argument("embeddings", metavar="EMBEDDINGS", help="fasttext or glove")
    text = "recipe=NAME (a file in embeddings/), embeddings_dir=FOLDER"
    fetch.add_argument("settings", nargs="*", metavar="key=value", help=text)
    fetch.set_defaults(run=_fetch_embeddings)


def _importers() -> list[Importer]:
    """The files beside those of leaderboards that `mtl import` takes."""
    return [importer for wing in wings() for importer in wing.importers]


def _baseline(arguments: argparse.Namespace) -> None:
    _run(job_of(arguments.settings), arguments.command)


def _import(arguments: argparse.Namespace) -> None:
    from mtl.jobs.imports import import_job
    from mtl.jobs.job import parse_settings

    words = arguments.settings
    paths = [Path(word) for word in words if "=" not in word or _is_path(word)]
    settings = parse_settings([word for word in words if Path(word) not in paths])
    importer = next((importer for importer in _importers() if any(map(importer.takes, paths))), None)
    if importer is None:
        _run(import_job(arguments.name, paths, settings), arguments.command)
        return
    with importer.jobs(arguments.name, paths, settings) as (jobs, notes):
        for job in jobs:
            _run(job, arguments.command)
    for note in notes:
        print(note)


def _ensemble(arguments: argparse.Namespace) -> None:
    from mtl.jobs.ensemble import ensemble_job
    from mtl.jobs.job import parse_settings

    runs = [word for word in arguments.settings if "=" not in word or _is_path(word)]
    settings = parse_settings([word for word in arguments.settings if word not in runs])
    _run(ensemble_job(runs, settings), arguments.command)


def _is_path(word: str) -> bool:
    """Whether there is a file or a folder at this path. A setting may be longer than any path."""
    try:
        return Path(word).exists()
    except OSError:
        return False


def _run(job: "Job", command: str) -> None:
    """Run one job. Print its settings first, and its table, its duration and the table's path at the end."""
    from mtl.methods import METHODS

    start = time.monotonic()
    config, folder = job.config, job.folder
    job.check_memory()
    print(
        f"suite {job.suite.name} ({job.data_dir}) · {METHODS[config.method].title(config)}"
        f" · seeds {' '.join(map(str, config.seeds))} · results in {folder.path}",
        flush=True,
    )
    from mtl.api.run import run_job
    from mtl.base.clock import format_duration

    print(f"{run_job(job, command).table()}\n")
    print(f"suite {job.suite.name}: {format_duration(time.monotonic() - start)}; {folder.table}")


def _run_together(runs: "Sequence[NamedRun]", command: str) -> None:
    """Make several runs at once. Print the table of each when it is finished."""
    from mtl.jobs.together import run_together

    def show(run: "NamedRun") -> None:
        print(f"run {run.name} · {run.job.folder.table}\n\n{run.job.folder.read_table()}", flush=True)

    run_together(runs, command, show)


def _sweep(arguments: argparse.Namespace) -> None:
    from mtl.base.files import counted
    from mtl.jobs.job import parse_settings
    from mtl.jobs.sweep import load_sweep, run_sweep

    sweep = load_sweep(arguments.file, parse_settings(arguments.settings), arguments.only)
    if arguments.plan:
        from mtl.jobs.plan import plan_text

        print(plan_text(sweep.runs, sweep.runs[0].job.config.seeds_in_parallel))
        return
    for run in sweep.runs:
        run.job.check_memory()
    finished = sum(run.finished for run in sweep.runs)
    print(f"{sweep.title}: {counted(len(sweep.runs), 'run')}, {finished} of them finished", flush=True)

    def report() -> None:
        from mtl.reports.report import write_report

        cache_dir = Path(sweep.runs[0].job.config.cache_dir)
        print(write_report(sweep.runs_dir, arguments.out, arguments.command, cache_dir), flush=True)

    make, make_together = (partial(function, command=arguments.command) for function in (_run, _run_together))
    if busy := run_sweep(sweep, make, make_together, report):
        print(
            f"{len(busy)} of {counted(len(sweep.runs), 'run')} busy in another process: {', '.join(busy)}", flush=True
        )


def _data(arguments: argparse.Namespace) -> None:
    from mtl.data.fetching.fetch import fetch_suite

    job = job_of([f"suite={arguments.suite}", *arguments.settings])
    fetch_suite(job.suite, job.tasks, job.data_dir)


def _fetch_embeddings(arguments: argparse.Namespace) -> None:
    from mtl.base.typed import check_known
    from mtl.embedders.recipes import fetch_embeddings
    from mtl.jobs.job import parse_settings

    settings = parse_settings(arguments.settings)
    check_known(settings, {"recipe", "embeddings_dir"})
    print(fetch_embeddings(arguments.embeddings, **{key: str(value) for key, value in settings.items()}))
