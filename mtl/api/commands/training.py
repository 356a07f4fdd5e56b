"""Commands that train or import runs, and fetch data and word embeddings."""

import argparse
import os.path
import shlex
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from mtl.api.commands.job_settings import SETTINGS_HELP, Commands, add_command, job_of, keys_text, setting_text
from mtl.base.errors import InputError
from mtl.base.wings import Trainings, hook, wings

if TYPE_CHECKING:
    from mtl.jobs.job import Job

# The settings of the data and the folders, which runs that stand beside each other share.
SHARED_KEYS = ("data_dir", "runs_dir", "cache_dir", "tasks", "held_out", "choosing_share")


def add_training(commands: Commands) -> None:
    """Add the commands of this file."""
    add = partial(add_command, commands)
    baseline = add("baseline", _baseline, "train, evaluate and tabulate: the whole job", add_help=False)
    baseline.add_argument("settings", nargs="*", metavar="key=value", help=SETTINGS_HELP)
    baseline.add_argument("-h", "--help", action=_KeysHelp, nargs=0, help="show this help with all settings and exit")

    config = add("config", _config, "print the settings that a run would have, and where each comes from")
    config.add_argument("settings", nargs="*", metavar="key=value", help=SETTINGS_HELP)

    imported = add("import", _import, "make a run of the predictions of another system")
    imported.add_argument("name", metavar="NAME", help="name of the run and of the system")
    files = "a zip or a folder for each seed; suite=NAME, seed=N or seed=[N,…], system=FILE, labels=FILE, tasks=[ID,…], data_dir=, run_dir="
    import_help = "; or ".join([files, *(importer.help for wing in wings() for importer in wing.importers)])
    imported.add_argument("settings", nargs="+", metavar="PREDICTIONS | key=value", help=import_help)

    ensemble = add("ensemble", _ensemble, "make a run of the averaged outputs of finished runs")
    ensemble_help = (
        "folders of finished runs of a suite whose models are kept; suite=, data_dir=, tasks=[ID,…] are those of the first run, run_dir=,"
        " ensemble.by_seed=true to average, for each seed, the runs' models of this seed; seeds= are then those of the first run"
    )
    ensemble.add_argument("settings", nargs="+", metavar="RUN | key=value", help=ensemble_help)

    data = add("data", _data, "download a suite's data, or write that of an embedded suite")
    data.add_argument("suite", help="a suite's name, or a path to a suite file")
    data_help = "data_dir=FOLDER (else data/SUITE), tasks=[ID,…]"
    data.add_argument("settings", nargs="*", metavar="key=value", help=data_help)
    splits = "also write the train and dev that mtl uses: where there is no dev file, it holds out examples of train"
    data.add_argument("--write-splits", type=Path, metavar="DIR", help=splits)

    trainings: Trainings | None = hook("trainings")
    embeddings_help = "fetch word embeddings" if trainings is None else "train or fetch word embeddings"
    actions = commands.add_parser("embeddings", help=embeddings_help).add_subparsers(metavar="ACTION", required=True)
    if trainings is not None:
        trainings.add_command(actions)
    fetch = add_command(actions, "fetch", _fetch_embeddings, "download pretrained vectors")
    fetch.add_argument("embeddings", metavar="EMBEDDINGS", help="fasttext or glove; elmo: says where to find it")
    keys = "recipe=NAME (a file in embeddings/), embeddings_dir=FOLDER"
    fetch.add_argument("settings", nargs="*", metavar="key=value", help=keys)


def run_and_print(job: "Job", command: str) -> None:
    """Run one job. Print its settings first, and its table, its duration and the table's path at the end."""
    from mtl.api.making import run_job
    from mtl.base.wording import format_duration

    start = time.monotonic()
    config, folder = job.config, job.folder
    job.check_memory()
    seeds = " ".join(map(str, config.seeds))
    begun = f"suite {job.suite.name} ({job.data_dir}) · {job.title} · seeds {seeds} · results in {folder.path}"
    print(begun, flush=True)
    print(f"{run_job(job, command).table()}\n")
    print(f"next: {_next_command(job)}")
    print(f"suite {job.suite.name}: {format_duration(time.monotonic() - start)}; {folder.table}")


class _KeysHelp(argparse.Action):
    """Prints the help with the keys of the settings: they are read from a file, which only this option does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(f"{parser.format_help()}\n{keys_text()}", end="")
        parser.exit()


def _config(arguments: argparse.Namespace) -> None:
    from mtl.base.settings.layers import flatten_config, matches
    from mtl.jobs.job import load_run, parse_settings
    from mtl.methods import METHODS

    job = load_run(parse_settings(arguments.settings))
    kind = METHODS[job.config.method]
    unread = kind.unread(job.config)  # what the method does not read would change nothing
    origins: dict[str, str] = {}  # of the values, by "key=value"
    for key, value in flatten_config(job.config).items():
        if key == "method" or (kind.reads_key(key) and not matches(key, unread)):
            name = "embeddings" if key == "embeddings.name" else key
            origins[f"{name}={setting_text(value)}"] = job.origins.get(key, "")
    width = min(60, max(map(len, origins)))
    for setting, origin in origins.items():
        print(f"{setting.ljust(width)}  # {origin}")


def _baseline(arguments: argparse.Namespace) -> None:
    from mtl.jobs.job import load_run, parse_settings

    run_and_print(load_run(parse_settings(arguments.settings)), arguments.command)


def _import(arguments: argparse.Namespace) -> None:
    from mtl.jobs.imports import import_job

    words, settings = paths_and_settings(arguments.settings)
    paths = list(map(Path, words))
    importers = [importer for wing in wings() for importer in wing.importers if any(map(importer.takes, paths))]
    if not importers:
        run_and_print(import_job(arguments.name, paths, settings), arguments.command)
        return
    with importers[0].jobs(arguments.name, paths, settings) as (jobs, notes):
        for job in jobs:
            run_and_print(job, arguments.command)
    for note in notes:
        print(note)


def _ensemble(arguments: argparse.Namespace) -> None:
    from mtl.jobs.ensemble import ensemble_job

    run_and_print(ensemble_job(*paths_and_settings(arguments.settings)), arguments.command)


def paths_and_settings(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """The words that name files or folders, and the settings that the others are."""
    from mtl.jobs.job import parse_settings

    # Path.exists raises OSError for a setting that is longer than any path.
    paths = [word for word in words if "=" not in word or os.path.exists(word)]  # noqa: PTH110
    return paths, parse_settings([word for word in words if word not in paths])


def _next_command(job: "Job") -> str:
    """What a user could do after a run, as a command: train an LSTM, train further seeds, or compare all runs."""
    from mtl.jobs.setting_files import COMMAND_LINE
    from mtl.methods import METHODS

    config, folder = job.config, job.folder.path
    texts = {key: setting_text(getattr(config, key)) for key in SHARED_KEYS if job.origins.get(key) == COMMAND_LINE}
    kept = "".join(f" {key}={shlex.quote(text)}" for key, text in texts.items())
    if METHODS[config.method].family == "floor":
        return f"mtl baseline suite={shlex.quote(config.suite)}{kept} seeds=3    # an LSTM beside this simple baseline"
    if len(config.seeds) < 3 and not METHODS[config.method].is_one_system(config):
        return "the same command with seeds=5    # at least 3 seeds are needed for tests between runs"
    return f"mtl report {shlex.quote(str(folder.parent))}    # all runs in one page, with intervals and tests"


def _data(arguments: argparse.Namespace) -> None:
    from mtl.base.folders import new_folder
    from mtl.base.untrusted import inside
    from mtl.data.fetching.fetch import fetch_suite
    from mtl.data.splits import split_files

    for wing in wings():
        if arguments.suite in wing.data_notes:
            raise InputError(wing.data_notes[arguments.suite], key="suite", value=arguments.suite)
    job = job_of([f"suite={arguments.suite}", *arguments.settings])
    fetch_suite(job.suite, job.tasks, job.data_dir)
    if arguments.write_splits is not None:
        with new_folder(arguments.write_splits) as folder:
            for task in job.tasks:
                for name, content in split_files(task, job.data_dir, job.config.held_out).items():
                    path = inside(folder, name)
                    if path.exists():
                        remedy = f"write one of them at a time, with tasks=[{task.id}]"
                        raise InputError(f"{name}: two tasks have this file; {remedy}", key="--write-splits")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
        print(arguments.write_splits)


def _fetch_embeddings(arguments: argparse.Namespace) -> None:
    from mtl.base.typed import check_known
    from mtl.embedders.recipes import fetch_embeddings
    from mtl.jobs.job import parse_settings

    settings = parse_settings(arguments.settings)
    check_known(settings, {"recipe", "embeddings_dir"})
    print(fetch_embeddings(arguments.embeddings, **{key: str(value) for key, value in settings.items()}))
