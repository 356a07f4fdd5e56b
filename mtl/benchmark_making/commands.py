"""The commands of this wing: suites, audits, annotation, leaderboards, sweeps, power."""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtl.api.commands import results
from mtl.api.commands.job_settings import SETTINGS_HELP, Commands, add_command, add_report_dir, job_of
from mtl.api.commands.training import paths_and_settings, run_and_print
from mtl.base.errors import InputError
from mtl.base.wording import counted

if TYPE_CHECKING:
    from mtl.jobs.job import Job


def add_commands(commands: Commands) -> None:
    """Add every command of this wing, as `mtl.api.cli.add_commands` adds those of the core."""
    add = partial(add_command, commands)

    def add_settings(parser: argparse.ArgumentParser, help: str, metavar: str = "key=value") -> None:
        parser.add_argument("settings", nargs="*", metavar=metavar, help=help)

    audit = add("audit", _audit, "check a suite's data for errors, duplicates and leaks")
    add_settings(audit, "suite=NAME, data_dir=FOLDER and all of baseline's")
    audit.add_argument("--strict", action="store_true", help="exit status 1 if anything is found")
    alternatives = audit.add_mutually_exclusive_group()
    artefacts_help = "instead: annotation artefacts, which simple baselines show that read a part of an example"
    alternatives.add_argument("--artefacts", action="store_const", const="artefacts", dest="check", help=artefacts_help)
    near_help = "instead: near duplicates, within and between splits"
    alternatives.add_argument("--near", action="store_const", const="near", dest="check", help=near_help)
    copy_help = "instead: a copy of the data without training examples that are near duplicates of dev or test examples"
    alternatives.add_argument("--write-clean", type=Path, metavar="DIR", help=copy_help)
    audit.set_defaults(check="data")

    annotate = add("annotate", _annotate, "write forms in which people annotate a sample of examples")
    annotate.add_argument("suite", metavar="SUITE", help="a suite's name or file")
    add_settings(annotate, "task=ID or [ID,…], out=DIR, rows=N (else 50), seed=N (else 1), data_dir=DIR, held_out=N")

    make = add("make", _make, "make the tasks of a benchmark from raw data, as a recipe says")
    make.add_argument("recipe", metavar="RECIPE", help="the path of a recipe, or the name of a shipped one")
    add_settings(make, "out=DIR (a new folder), data_dir=FOLDER of the sources")

    init = add("init-suite", _init_suite, "guess a suite file from a folder of data files")
    folder_help = "a folder with data files, at any depth, or a data set of the Hugging Face Hub: hf://OWNER/NAME, and /CONFIGURATION"
    init.add_argument("data_dir", metavar="DATA_DIR", help=folder_help)
    answers = "answers to its questions, as in tasks.reviews.target=stars"
    init.add_argument("--answer", action="extend", nargs="+", default=[], metavar="tasks.TASK.KEY=VALUE", help=answers)
    init.add_argument("--language", help="language of the tokenizer, as in sv; default: the Hub card's, else en")
    init.add_argument("--name", help="name of the suite; default: the folder's")
    init.add_argument("--out", type=Path, metavar="FILE", help="the file to write, else NAME.yaml")

    board_help = "check submissions, score them on hidden labels, and write the site of a leaderboard"
    board = add("leaderboard", _leaderboard, board_help)
    board.add_argument("suite", metavar="SUITE", help="a suite's name or file")
    board.add_argument("submissions", type=Path, metavar="SUBMISSIONS", help="a folder with a folder for each")
    board_settings = "gold=FOLDER with labels and out=FOLDER of the site, or data_dir=FOLDER to check without labels"
    add_settings(board, f"{board_settings}; split=, limit=")

    sweep = add("sweep", _sweep, "make the runs that a file lists, if they do not exist yet, and report")
    sweep.add_argument("file", metavar="FILE", help="a name in configs/sweep, or the path of a YAML file")
    add_settings(sweep, f"for every run: {SETTINGS_HELP}")
    sweep.add_argument("--only", action="append", default=[], metavar="NAME", help="a run to make, instead of all")
    sweep.add_argument("--plan", action="store_true", help="print seeds and expected hours, and run nothing")
    add_report_dir(sweep, "the folder of the report")

    power_help = "the smallest differences that tests detect, and the examples and seeds that they need"
    power_settings = "a folder of runs, as runs/klej, else runs; difference=POINTS (else 2), seeds=N"
    add_settings(add("power", _power, power_help), power_settings, "RUNS_DIR | key=value")


def _audit(arguments: argparse.Namespace) -> int:
    if arguments.write_clean is not None:
        from mtl.benchmark_making.audits.clean_copy import write_clean

        if arguments.strict:
            raise InputError("is not used with --write-clean, which writes a copy and checks nothing", key="--strict")
        print(write_clean(job_of(arguments.settings), arguments.write_clean))
        return 0
    from mtl.benchmark_making.audits.checks import audit_job

    audit = audit_job(job_of(arguments.settings), arguments.check)
    print(audit.report)
    return 1 if arguments.strict and audit.findings else 0


def _annotate(arguments: argparse.Namespace) -> None:
    from mtl.base.typed import check_known
    from mtl.benchmark_making.annotate.draw import read_sample_settings, write_forms
    from mtl.jobs.job import load_job, parse_settings

    settings: dict[str, Any] = parse_settings(arguments.settings)
    check_known(settings, {"task", "rows", "seed", "out", "data_dir", "held_out"})
    job_settings: dict[str, Any] = {key: settings.pop(key) for key in ("data_dir", "held_out") if key in settings}
    out = settings.pop("out", None)
    sample, job = read_sample_settings(settings), load_job({**job_settings, "suite": arguments.suite})
    if out is None:
        raise InputError("name a new folder for the forms and their key", key="out")
    for path in write_forms(job, sample, Path(str(out))):
        print(path)


def _make(arguments: argparse.Namespace) -> None:
    from mtl.base.typed import check_known
    from mtl.benchmark_making.make.make import make
    from mtl.jobs.job import parse_settings

    settings: dict[str, Any] = parse_settings(arguments.settings)
    check_known(settings, {"out", "data_dir"})
    if settings.get("out") is None:
        raise InputError("names the new folder; give out=DIR", key="out")
    data_dir = settings.get("data_dir")
    print(make(arguments.recipe, Path(str(settings["out"])), None if data_dir is None else Path(str(data_dir))))


def _init_suite(arguments: argparse.Namespace) -> None:
    from mtl.benchmark_making.init_suite.init_suite import init_suite
    from mtl.benchmark_making.init_suite.known_keys import parse_answers

    answers = parse_answers(arguments.answer)
    print(init_suite(arguments.data_dir, arguments.language, arguments.name, arguments.out, answers).summary)


def _leaderboard(arguments: argparse.Namespace) -> None:
    from mtl.base.settings.layers import find_yaml
    from mtl.base.typed import typed
    from mtl.benchmark_making.leaderboard.leaderboard import Rules, check_submissions, make_leaderboard
    from mtl.jobs.job import load_job, parse_settings
    from mtl.tasks.suite import load_suite

    settings, submissions = parse_settings(arguments.settings), arguments.submissions
    rules = typed(Rules, {key: settings.pop(key) for key in ("split", "limit") if key in settings})
    gold, out = settings.pop("gold", None), settings.pop("out", None)
    suite = load_suite(find_yaml("suite", arguments.suite))
    if gold is not None:
        if out is None:
            raise InputError("name the folder of the site", key="out")
        if settings:
            raise InputError("is not used with gold=", key=next(iter(settings)))
        _print_verdicts(make_leaderboard(suite, submissions, Path(str(gold)), Path(str(out)), rules))
        print(Path(str(out), "index.html"))
        return
    if out is not None:
        raise InputError("is used with gold= alone", key="out")
    verdicts = check_submissions(suite, submissions, load_job({**settings, "suite": arguments.suite}).data_dir, rules)
    _print_verdicts(verdicts)
    if refused := sum(map(bool, verdicts.values())):
        raise InputError(f"{refused} of {counted(len(verdicts), 'submission')} would be refused", path=submissions)


def _print_verdicts(verdicts: Mapping[str, str]) -> None:
    for name, reason in verdicts.items():
        print(f"{name}: refused: {reason}" if reason else f"{name}: valid")


def _run_together(runs: Sequence["Job"], command: str) -> None:
    """Make several runs at once. Print the table of each when it is finished."""
    from mtl.benchmark_making.sweeps.plan import expected_seconds
    from mtl.jobs.together import run_together

    def show(run: "Job") -> None:
        print(f"run {run.name} · {run.folder.table}\n\n{run.folder.read_table()}", flush=True)

    run_together(runs, command, show, expected_seconds(runs))


def _sweep(arguments: argparse.Namespace) -> None:
    from mtl.base.folders import check_writable
    from mtl.benchmark_making.sweeps.making import run_sweep
    from mtl.benchmark_making.sweeps.sweep import load_sweep
    from mtl.jobs.job import parse_settings

    sweep = load_sweep(arguments.file, parse_settings(arguments.settings), arguments.only)
    config = sweep.runs[0].config  # all runs are in its runs_dir
    if arguments.plan:
        from mtl.benchmark_making.sweeps.plan import plan_text

        print(plan_text(sweep.runs))
        return
    check_writable(arguments.out)  # before days of training
    for run in sweep.runs:
        run.check_memory()
    finished = sum(run.is_finished for run in sweep.runs)
    print(f"{sweep.title}: {counted(len(sweep.runs), 'run')}, {finished} of them finished", flush=True)

    def report() -> None:
        from mtl.reports.report import write_report

        print(write_report(Path(config.runs_dir), arguments.out, arguments.command, Path(config.cache_dir)), flush=True)

    one_run = partial(run_and_print, command=arguments.command)
    if busy := run_sweep(sweep, one_run, partial(_run_together, command=arguments.command), report):
        runs = counted(len(sweep.runs), "run")
        print(f"{len(busy)} of {runs} busy in another process: {', '.join(busy)}", flush=True)


def _power(arguments: argparse.Namespace) -> None:
    from mtl.base.typed import typed
    from mtl.benchmark_making.power import PowerSettings, power_report

    folders, keys = paths_and_settings(arguments.settings)
    settings = typed(PowerSettings, keys)
    if len(folders) > 1:
        raise InputError("name one folder", path=folders[-1])
    print(power_report(Path(folders[0] if folders else "runs"), settings, results.CACHE))
