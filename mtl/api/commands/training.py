"""Commands that make what is kept: runs, sweeps, data, word embeddings."""

import argparse
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

    from mtl.jobs.job import Job


def add_training(commands: Commands) -> None:
    """Add the commands of this file."""
    baseline = commands.add_parser("baseline", help="train, evaluate and tabulate: the whole job")
    baseline.set_defaults(run=_baseline)
    completed_by(baseline.add_argument("settings", nargs="*", metavar="key=value", help=KEYS), complete_settings)

    imported = commands.add_parser("import", help="make a run of the predictions of another system")
    imported.set_defaults(run=_import)
    imported.add_argument("name", metavar="NAME", help="name of the run and of the system")
    files = "a zip or a folder for each seed; suite=NAME, seed=N or seed=[N,…], system=FILE, labels=FILE, tasks=[ID,…], data_dir=, run_dir="
    text = "; or ".join([files, *(importer.help for importer in _importers())])
    imported.add_argument("settings", nargs="+", metavar="PREDICTIONS | key=value", help=text)

    ensemble = commands.add_parser("ensemble", help="make a run of the averaged outputs of finished runs")
    ensemble.set_defaults(run=_ensemble)
    text = (
        "folders of finished runs of a suite whose models are kept; suite=, data_dir=, tasks=[ID,…] are those of the first run, run_dir=,"
        " ensemble.by_seed=true to average, for each seed, the runs' models of this seed; seeds= are then those of the first run"
    )
    ensemble.add_argument("settings", nargs="+", metavar="RUN | key=value", help=text)

    sweep = commands.add_parser("sweep", help="make the runs that a file lists, if they do not exist yet, and report")
    sweep.set_defaults(run=_sweep)
    file = sweep.add_argument("file", metavar="FILE", help="a name in configs/sweep, or the path of a YAML file")
    completed_by(file, partial(names_of, "sweep"))
    settings = sweep.add_argument("settings", nargs="*", metavar="key=value", help=f"for every run: {KEYS}")
    completed_by(settings, complete_settings)
    sweep.add_argument("--only", action="append", default=[], metavar="NAME", help="a run to make, instead of all")
    sweep.add_argument("--plan", action="store_true", help="print seeds and expected hours, and run nothing")
    add_report_dir(sweep, "the folder of the report")

    data = commands.add_parser("data", help="download a suite's data, or write that of an embedded suite")
    data.set_defaults(run=_data)
    suite = data.add_argument("suite", help="a suite's name, or a path to a suite file")
    completed_by(suite, partial(names_of, "suite"))
    text = "data_dir=FOLDER (else data/SUITE), tasks=[ID,…]"
    data.add_argument("settings", nargs="*", metavar="key=value", help=text)

    trained = trainings()
    text = "fetch word embeddings" if trained is None else "train or fetch word embeddings"
    actions = commands.add_parser("embeddings", help=text).add_subparsers(metavar="ACTION", required=True)
    if trained is not None:
        trained.add_command(actions)
    fetch = actions.add_parser("fetch", help="download pretrained vectors")
    fetch.set_defaults(run=_fetch_embeddings)
    fetch.add_argument("embeddings", metavar="EMBEDDINGS", help="fasttext or glove")
    text = "recipe=NAME (a file in embeddings/), embeddings_dir=FOLDER"
    fetch.add_argument("settings", nargs="*", metavar="key=value", help=text)


def _importers() -> list[Importer]:
    """The files beside those of leaderboards that `mtl import` takes."""
    return [importer for wing in wings() for importer in wing.importers]


def _baseline(arguments: argparse.Namespace) -> None:
    _run(job_of(arguments.settings), arguments.command)


def _import(arguments: argparse.Namespace) -> None:
    from mtl.jobs.imports import import_job

    words, settings = _paths_and_settings(arguments.settings)
    paths = list(map(Path, words))
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

    _run(ensemble_job(*_paths_and_settings(arguments.settings)), arguments.command)


def _paths_and_settings(words: "Sequence[str]") -> tuple[list[str], dict[str, Any]]:
    """The words that name files or folders, and the settings that the others are."""
    from mtl.jobs.job import parse_settings

    paths = []
    for word in words:
        with suppress(OSError):  # a setting may be longer than any path
            if "=" not in word or Path(word).exists():
                paths.append(word)
    return paths, parse_settings([word for word in words if word not in paths])


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


def _run_together(runs: "Sequence[Job]", command: str) -> None:
    """Make several runs at once. Print the table of each when it is finished."""
    from mtl.jobs.together import run_together

    def show(run: "Job") -> None:
        print(f"run {run.name} · {run.folder.table}\n\n{run.folder.read_table()}", flush=True)

    run_together(runs, command, show)


def _sweep(arguments: argparse.Namespace) -> None:
    from mtl.base.files import counted
    from mtl.jobs.job import parse_settings
    from mtl.jobs.sweep import load_sweep, run_sweep

    sweep = load_sweep(arguments.file, parse_settings(arguments.settings), arguments.only)
    config = sweep.runs[0].config  # all runs are in its runs_dir
    if arguments.plan:
        from mtl.jobs.plan import plan_text

        print(plan_text(sweep.runs, config.seeds_in_parallel))
        return
    for run in sweep.runs:
        run.check_memory()
    finished = sum(run.is_finished for run in sweep.runs)
    print(f"{sweep.title}: {counted(len(sweep.runs), 'run')}, {finished} of them finished", flush=True)

    def report() -> None:
        from mtl.reports.report import write_report

        print(write_report(Path(config.runs_dir), arguments.out, arguments.command, Path(config.cache_dir)), flush=True)

    make, make_together = (partial(function, command=arguments.command) for function in (_run, _run_together))
    if busy := run_sweep(sweep, make, make_together, report):
        runs = counted(len(sweep.runs), "run")
        print(f"{len(busy)} of {runs} busy in another process: {', '.join(busy)}", flush=True)


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
