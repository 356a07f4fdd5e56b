"""The commands and their arguments. Each command calls one function that a script could call, and imports large packages only when
it runs."""

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mtl.errors import InputError

if TYPE_CHECKING:
    from mtl.jobs.job import Job

Commands: TypeAlias = "argparse._SubParsersAction[Any]"

KEYS = "key=value settings, as in encoder.hidden_size=256; configs/baseline.yaml lists them"


def add_commands(commands: Commands) -> None:
    """Add every command. Parsed arguments have a function `run`, which takes them and returns an exit status (None means 0)."""
    for add in (_add_runs, _add_data, _add_embeddings, _add_models, _add_results):
        add(commands)


def _add_runs(commands: Commands) -> None:
    """Commands that train."""
    baseline = commands.add_parser("baseline", help="train, evaluate and tabulate: the whole job")
    baseline.add_argument("settings", nargs="*", metavar="key=value", help=KEYS)
    baseline.set_defaults(run=_baseline)

    sweep = commands.add_parser("sweep", help="make the runs that a file lists, if they do not exist yet, and report")
    sweep.add_argument("file", metavar="FILE", help="a name in configs/sweep, or the path of a YAML file")
    sweep.add_argument("settings", nargs="*", metavar="key=value", help=f"for every run: {KEYS}")
    sweep.add_argument("--only", action="append", default=[], metavar="NAME", help="a run to make, instead of all")
    sweep.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="of the report, else report")
    sweep.set_defaults(run=_sweep)


def _add_data(commands: Commands) -> None:
    """Commands about data."""
    data = commands.add_parser("data", help="download a suite's data, or write that of an embedded suite")
    data.add_argument("suite", help="a suite's name, or a path to a suite file")
    data.add_argument(
        "settings", nargs="*", metavar="key=value", help="data_dir=FOLDER (else data/SUITE), tasks=[ID,…]"
    )
    data.set_defaults(run=_data)

    audit = commands.add_parser("audit", help="check a suite's data for errors, duplicates and leaks")
    audit.add_argument(
        "settings", nargs="*", metavar="key=value", help="suite=NAME, data_dir=FOLDER and all of baseline's"
    )
    audit.add_argument("--strict", action="store_true", help="exit status 1 if anything is found")
    sheets = audit.add_mutually_exclusive_group()
    sheets.add_argument("--sheet", metavar="TASK", help="instead: draft the task's documentation sheet")
    sheets.add_argument(
        "--check-sheet", type=Path, metavar="FILE", help="instead: check a sheet; exit status 1 if anything is found"
    )
    audit.add_argument("--out", type=Path, metavar="FILE", help="for --sheet: a file to write to, else standard output")
    audit.set_defaults(run=_audit)

    init = commands.add_parser("init-suite", help="guess a suite file from a folder of data files")
    init.add_argument(
        "data_dir", type=Path, metavar="DATA_DIR", help="with .tsv, .csv, .jsonl or .parquet files below it"
    )
    init.add_argument("--language", help="of the tokenizer, as in sv; else the file says en")
    init.add_argument("--name", help="of the suite, else the folder's")
    init.add_argument("--out", type=Path, metavar="FILE", help="the file to write, else NAME.yaml")
    init.set_defaults(run=_init_suite)


def _add_embeddings(commands: Commands) -> None:
    """Commands about word embeddings."""
    embeddings = commands.add_parser("embeddings", help="train or fetch word embeddings")
    actions = embeddings.add_subparsers(metavar="ACTION", required=True)
    train = actions.add_parser(
        "train", help="train fastText vectors or an ELMo on text files, or on a suite's training text"
    )
    train.add_argument("embeddings", metavar="EMBEDDINGS", help="fasttext or elmo")
    train.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="out=PATH, texts=[FILE,…] or suite=NAME (with data_dir=), language=CODE of text files, and what docs/embeddings.md lists",
    )
    train.set_defaults(run=_train_embeddings)
    fetch = actions.add_parser("fetch", help="download pretrained vectors")
    fetch.add_argument("embeddings", metavar="EMBEDDINGS", help="fasttext")
    fetch.add_argument(
        "settings", nargs="*", metavar="key=value", help="recipe=NAME (a file in embeddings/), embeddings_dir=FOLDER"
    )
    fetch.set_defaults(run=_fetch_embeddings)


def _add_models(commands: Commands) -> None:
    """Commands that use a finished run."""
    predict = commands.add_parser("predict", help="predict a task's targets for new rows")
    predict.add_argument("run_dir", type=Path)
    predict.add_argument(
        "file", type=Path, metavar="FILE", help="a .tsv, .csv, .jsonl or .parquet file with the task's text columns"
    )
    predict.add_argument("--task", required=True)
    predict.add_argument("--seed", type=int, help="else the seed with the best score on this task's dev split")
    predict.add_argument("--out", type=Path, help="a file to write to, else standard output")
    _add_device(predict)
    predict.set_defaults(run=_predict)

    encode = commands.add_parser("encode", help="write sentence vectors")
    encode.add_argument("encoder", metavar="ENCODER", help="a run's folder, or average: the mean of word vectors")
    encode.add_argument("file", type=Path, metavar="FILE", help="one text per line; -: standard input")
    encode.add_argument("settings", nargs="*", metavar="key=value", help="docs/encoders.md lists them")
    encode.add_argument("--seed", type=int, help="the same as seed=")
    encode.add_argument("--out", type=Path, required=True, metavar="VECTORS", help="a .npy or .parquet file")
    encode.add_argument("--device", help="the same as device=")
    encode.set_defaults(run=_encode)

    export = commands.add_parser("export", help="write a run's encoder in the form of another program")
    export.add_argument("run_dir", type=Path, metavar="RUN")
    export.add_argument("settings", nargs="*", metavar="key=value", help="docs/export.md lists them")
    export.add_argument("--format", required=True, help="sentence-transformers, onnx or vectors")
    export.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    export.set_defaults(run=_export)

    mteb = commands.add_parser("mteb", help="score sentence vectors on a benchmark of mteb's tasks, with mteb itself")
    mteb.add_argument("encoder", metavar="ENCODER", help="a run's folder, or average: averaged word vectors")
    mteb.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="tasks=[NAME,…], data_dir=FOLDER, benchmark=NAME (else pl-mteb), the encoder's settings, and what docs/mteb.md lists",
    )
    mteb.set_defaults(run=_mteb)


def _add_results(commands: Commands) -> None:
    """Commands about predictions and scores."""
    check = commands.add_parser("check-submission", help="check whether the leaderboard can take a submission")
    check.add_argument("submission", type=Path, metavar="SUBMISSION", help="a zip or a folder")
    check.add_argument("settings", nargs="*", metavar="key=value", help="suite=NAME, data_dir=FOLDER")
    check.set_defaults(run=_check_submission)

    rejoin = commands.add_parser("rejoin", help="put a submission's predictions to the rows of the official files")
    rejoin.add_argument("submission", type=Path, metavar="SUBMISSION", help="a zip or a folder")
    rejoin.add_argument("settings", nargs="*", metavar="key=value", help="suite=NAME, data_dir=OFFICIAL, tasks=[ID,…]")
    rejoin.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    rejoin.add_argument("--name", help="of the system, else as in the submission")
    rejoin.set_defaults(run=_rejoin)

    score = commands.add_parser("score", help="score predictions against gold targets")
    score.add_argument("predictions", type=Path, metavar="PREDICTIONS", help="a zip or a folder of predictions")
    score.add_argument("--gold", type=Path, required=True, metavar="DIR", help="a data folder with targets")
    score.add_argument("settings", nargs="*", metavar="key=value", help="suite=NAME, tasks=[ID,…]")
    score.set_defaults(run=_score)

    report = commands.add_parser("report", help="compare everything that has been run: a page, Markdown, LaTeX, CSV")
    report.add_argument("runs_dir", type=Path, nargs="?", default=Path("runs"), metavar="RUNS_DIR", help="else runs")
    report.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="else report")
    report.set_defaults(run=_report)


def _add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, or auto: a GPU if there is one")


def _baseline(arguments: argparse.Namespace) -> None:
    _run(_job(arguments.settings), arguments.command)


def _job(settings: Sequence[str]) -> "Job":
    from mtl.jobs.job import load_job, parse_settings

    return load_job(parse_settings(settings))


def _run(job: "Job", command: str) -> None:
    """Run one job. Print its settings first, and its table, its duration and the table's path at the end."""
    from mtl.methods import METHODS

    start = time.monotonic()
    config, folder = job.config, job.folder
    print(
        f"suite {job.suite.name} ({job.data_dir}) · {METHODS[config.method].title(config)}"
        f" · seeds {' '.join(map(str, config.seeds))} · results in {folder.path}",
        flush=True,
    )
    from mtl.jobs.baseline import run_baseline
    from mtl.progress import format_duration

    run_baseline(job, command)
    print(folder.table.read_text(encoding="utf-8"))
    print(f"suite {job.suite.name}: {format_duration(time.monotonic() - start)}; {folder.table}")


def _sweep(arguments: argparse.Namespace) -> None:
    from mtl.jobs.job import parse_settings
    from mtl.jobs.sweep import load_sweep, run_sweep

    sweep = load_sweep(arguments.file, parse_settings(arguments.settings), arguments.only)
    finished = sum(run.finished for run in sweep.runs)
    print(f"{sweep.title}: {len(sweep.runs)} runs, {finished} of them finished", flush=True)
    run_sweep(sweep, partial(_run, command=arguments.command))
    from mtl.report.report import write_report

    print(write_report(sweep.runs_dir, arguments.out, arguments.command))


def _data(arguments: argparse.Namespace) -> None:
    from mtl.data.fetch import fetch_suite

    job = _job([f"suite={arguments.suite}", *arguments.settings])
    fetch_suite(job.suite, job.tasks, job.data_dir)


def _audit(arguments: argparse.Namespace) -> int:
    from mtl.audit.audit import audit

    job = _job(arguments.settings)
    if arguments.out is not None and arguments.sheet is None:
        raise InputError(f"--out {arguments.out}: is for --sheet TASK only")
    if arguments.sheet is not None:
        return _draft_sheet(job, arguments.sheet, arguments.out)
    if arguments.check_sheet is not None:
        return _check_sheet(job, arguments.check_sheet)
    done = audit(job)
    print(done.report)
    return 1 if arguments.strict and done.findings else 0


def _draft_sheet(job: "Job", task: str, out: Path | None) -> int:
    from mtl.audit.sheets.draft import draft_sheet
    from mtl.files import write_text

    sheet = draft_sheet(job, task)
    if out is None:
        sys.stdout.write(sheet)
    else:
        write_text(out, sheet)
    return 0


def _check_sheet(job: "Job", path: Path) -> int:
    from mtl.audit.sheets.check import check_sheet

    findings = check_sheet(job, path)
    for finding in findings or [f"{path}: nothing found"]:
        print(finding)
    return 1 if findings else 0


def _init_suite(arguments: argparse.Namespace) -> None:
    from mtl.init_suite.init_suite import init_suite

    print(init_suite(arguments.data_dir, arguments.language, arguments.name, arguments.out).summary)


def _train_embeddings(arguments: argparse.Namespace) -> None:
    from mtl.jobs.embeddings import TrainingText, train_embeddings
    from mtl.jobs.job import parse_settings

    given = parse_settings(arguments.settings)
    texts = given.pop("texts", None)
    text = TrainingText(
        [str(file) for file in texts] if isinstance(texts, list) else _string(texts),
        _string(given.pop("language", None)),
        _string(given.pop("suite", None)),
        _string(given.pop("data_dir", None)),
        given.pop("suite_held_out", None),
    )
    out, accelerator = _string(given.pop("out", None)), str(given.pop("accelerator", "auto"))
    print(train_embeddings(arguments.embeddings, text, given, out, accelerator))


def _fetch_embeddings(arguments: argparse.Namespace) -> None:
    from mtl.config.settings import check_known
    from mtl.jobs.embeddings import fetch_embeddings
    from mtl.jobs.job import parse_settings

    given = parse_settings(arguments.settings)
    check_known(given, {"recipe", "embeddings_dir"})
    print(fetch_embeddings(arguments.embeddings, **{key: str(value) for key, value in given.items()}))


def _string(value: object) -> str | None:
    """The value of a setting as a string: `parse_settings` reads a file name such as 2024 as a number."""
    return None if value is None else str(value)


def _predict(arguments: argparse.Namespace) -> None:
    from mtl.runs.predictor import Predictor

    predictor = Predictor.load(arguments.run_dir, arguments.seed, arguments.task, arguments.device)
    predictor.predict_file(arguments.task, arguments.file, arguments.out)


def _encode(arguments: argparse.Namespace) -> None:
    from mtl.encoders import open_encoder
    from mtl.encoders.files import check_vectors_file, encode_file
    from mtl.jobs.job import parse_settings

    settings = parse_settings(arguments.settings)
    options = {"seed": arguments.seed, "device": arguments.device}
    settings |= {key: value for key, value in options.items() if value is not None}
    check_vectors_file(arguments.out)
    encode_file(open_encoder(arguments.encoder, settings), arguments.file, arguments.out)


def _export(arguments: argparse.Namespace) -> None:
    from mtl.export.export import export_run
    from mtl.jobs.job import parse_settings

    settings = parse_settings(arguments.settings)
    export_run(arguments.run_dir, arguments.out, arguments.format, settings, arguments.command)
    print(arguments.out)


def _mteb(arguments: argparse.Namespace) -> None:
    from mtl.device import device_of
    from mtl.encoders import encoder_kind
    from mtl.evaluators.mteb.library import check_installed
    from mtl.evaluators.mteb.run import run_mteb
    from mtl.jobs.job import parse_settings
    from mtl.jobs.provenance import machine, versions

    check_installed()  # before minutes of loading
    given, name = parse_settings(arguments.settings), arguments.encoder
    kind = encoder_kind(name)
    about = {"versions": versions(), "machine": machine(device_of(str(given.get("device", "cpu")), "device"))}
    folder = run_mteb(partial(kind.open, name), kind.choices, given, {"command": arguments.command, **about})
    print(folder.table.read_text(encoding="utf-8"))
    print(folder.table)


def _check_submission(arguments: argparse.Namespace) -> None:
    from mtl.runs.formats import FORMATS

    job = _job(arguments.settings)
    _log_suite(job, arguments.settings)
    if job.config.data_dir is not None and not job.data_dir.is_dir():
        raise InputError(f"data_dir={job.data_dir}: no such folder")
    checked = FORMATS[job.suite.submission.format].check(arguments.submission, job.suite, job.data_dir)
    problems = checked.problems
    for line in problems or checked.remarks:
        print(line)
    if problems:
        raise InputError(
            f"{arguments.submission}: the leaderboard of suite {job.suite.name} would refuse it"
            f" ({len(problems)} problem{'s' if len(problems) > 1 else ''})"
        )
    if checked.remarks:
        print(f"{arguments.submission}: valid for the rows in {job.data_dir}, which are not the official ones")
    else:
        print(f"{arguments.submission}: the leaderboard of suite {job.suite.name} can take it")


def _rejoin(arguments: argparse.Namespace) -> None:
    from mtl.runs.formats.rejoin import rejoin

    job = _job(arguments.settings)
    _log_suite(job, arguments.settings)
    done = rejoin(arguments.submission, job.suite, job.tasks, job.data_dir, arguments.out, arguments.name)
    for line in done.problems or done.remarks:
        print(line)
    if done.problems:
        raise InputError(
            f"{arguments.submission}: its predictions cannot be put to the rows of {job.data_dir}"
            "; nothing is written; tasks=[…] names the tasks to put together"
        )
    print(arguments.out)


def _log_suite(job: "Job", settings: Sequence[str]) -> None:
    """Log which suite was chosen, and the reason if the command line did not name it."""
    named = any(setting.startswith("suite=") and setting != "suite=auto" for setting in settings)
    there = "is" if job.suite.name == "klej" else "is not"
    why = "" if named else f" (KLEJ's data {there} there; name another suite with suite=)"
    logging.getLogger("mtl").info("suite %s%s", job.suite.name, why)


def _score(arguments: argparse.Namespace) -> None:
    from mtl.config.files import find_suite
    from mtl.data.splits import choose_scored
    from mtl.runs.score import score_predictions
    from mtl.tasks.suite import load_suite

    job = _job(arguments.settings)
    _log_suite(job, arguments.settings)
    suite = choose_scored(load_suite(find_suite(job.config.suite)), arguments.gold)  # not by data_dir
    tasks = suite.choose(job.config.tasks)
    print(score_predictions(arguments.predictions, suite, tasks, arguments.gold, job.config.held_out))


def _report(arguments: argparse.Namespace) -> None:
    from mtl.report.report import write_report

    print(write_report(arguments.runs_dir, arguments.out, arguments.command))
