"""Commands that use runs and predictions, or list them."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mtl.api.commands.job_settings import Commands, add_command, add_report_dir, add_runs_dir, job_of
from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.wording import counted

if TYPE_CHECKING:
    from mtl.jobs.job import Job

CACHE = Path("cache")  # as cache_dir in configs/baseline.yaml


def add_results(commands: Commands) -> None:
    """Add the commands of this file."""
    add = partial(add_command, commands)
    predict = add("predict", _predict, "predict a task's targets for new examples")
    predict.add_argument("run_dir", type=Path, metavar="RUN", help="the folder of a finished run")
    task = "the id of the task that the examples are of, of a run with several"
    predict.add_argument("only", nargs="?", metavar="TASK", help=task)
    rows = "a .tsv, .csv, .jsonl or .parquet file with the task's text columns, after TASK"
    predict.add_argument("file", type=Path, metavar="FILE", help=rows)
    predict.add_argument("--task", help="the same as TASK")
    seed = "a seed of the run; default: the one with the best score on the task's dev split"
    predict.add_argument("--seed", type=int, help=seed)
    predict.add_argument("--out", type=Path, help="a file to write to (.tsv, .txt or .csv), else standard output")
    predict.add_argument("--device", default="cpu", help="cpu (default), cuda, or auto: a GPU if there is one")

    check = add("check-submission", _check_submission, "check whether the leaderboard can take a submission")
    check.add_argument("submission", type=Path, metavar="SUBMISSION", help="a zip or a folder")
    check.add_argument("settings", nargs="*", metavar="key=value", help="suite=NAME, data_dir=FOLDER")

    rejoin = add("rejoin", _rejoin, "put a submission's predictions to the examples of the official files")
    rejoin.add_argument("submission", type=Path, metavar="SUBMISSION", help="a zip or a folder")
    rejoin.add_argument("settings", nargs="*", metavar="key=value", help="suite=NAME, data_dir=OFFICIAL, tasks=[ID,…]")
    rejoin.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    rejoin.add_argument("--name", help="name of the system; default: as in the submission")

    score = add("score", _score, "score predictions against gold targets")
    score.add_argument("predictions", type=Path, metavar="PREDICTIONS", help="a zip or a folder of predictions")
    score.add_argument("--gold", type=Path, required=True, metavar="DIR", help="a data folder with targets")
    score.add_argument("settings", nargs="*", metavar="key=value", help="suite=NAME, tasks=[ID,…]")

    report = add("report", _report, "compare everything that has been run: a page, Markdown, LaTeX, CSV")
    add_runs_dir(report)
    add_report_dir(report, "the folder to write")
    cache = "where the resamples of known predictions are kept; default: cache"
    report.add_argument("--cache", type=Path, default=CACHE, metavar="DIR", help=cache)
    reference = "a run to test every run against, may be given several times; else every pair of runs, or of many runs each against the best"
    report.add_argument("--reference", action="append", default=[], metavar="NAME", help=reference)

    add_runs_dir(add("runs", _runs, "list runs: suite, seeds that are done, average, age, size on disk"))


def _predict(arguments: argparse.Namespace) -> None:
    from mtl.methods.predictor import Predictor

    if arguments.only and arguments.task:
        raise InputError("the task is named twice", key="--task", value=arguments.task)
    task = arguments.only or arguments.task
    predictor = Predictor.load(arguments.run_dir, arguments.seed, task, arguments.device)
    if task is None and len(predictor.tasks) > 1:
        example = f"mtl predict RUN {' or '.join(predictor.tasks)} FILE"
        raise InputError(f"has several tasks; name one, as in {example}", path=arguments.run_dir)
    predictor.predict_file(task or predictor.tasks[0], arguments.file, arguments.out)


def _check_submission(arguments: argparse.Namespace) -> None:
    from mtl.submissions import SUBMISSION_FORMATS

    job = _job_with_logged_suite(arguments.settings)
    if job.config.data_dir is not None and not job.data_dir.is_dir():
        raise InputError("no such folder", key="data_dir", value=job.data_dir)
    checked = SUBMISSION_FORMATS[job.suite.submission.format].check(arguments.submission, job.suite, job.data_dir)
    for line in checked.problems or [*checked.notes, *checked.remarks]:
        print(line)
    if checked.problems:
        problems = counted(len(checked.problems), "problem")
        refusal = f"the leaderboard of suite {job.suite.name} would refuse it ({problems})"
        raise InputError(refusal, path=arguments.submission)
    if checked.remarks:
        print(f"{arguments.submission}: valid for the rows in {job.data_dir}, which are not the official ones")
    else:
        print(f"{arguments.submission}: the leaderboard of suite {job.suite.name} can take it")


def _rejoin(arguments: argparse.Namespace) -> None:
    from mtl.submissions.rows import rejoin

    job = _job_with_logged_suite(arguments.settings)
    checked = rejoin(arguments.submission, job.suite, job.tasks, job.data_dir, arguments.out, arguments.name)
    for line in checked.problems or checked.remarks:
        print(line)
    if checked.problems:
        problem = f"its predictions cannot be put to the rows of {job.data_dir}; nothing is written"
        raise InputError(f"{problem}; tasks=[…] names the tasks to put together", path=arguments.submission)
    print(arguments.out)


def _job_with_logged_suite(settings: Sequence[str]) -> "Job":
    """The job of the settings. Logs which suite was chosen, and the reason if the command line did not name it."""
    job = job_of(settings)
    named = any(setting.startswith("suite=") and setting != "suite=auto" for setting in settings)
    verb = "is" if job.suite.name == "klej" else "is not"
    why = "" if named else f" (KLEJ's data {verb} there; name another suite with suite=)"
    logger.info("suite %s%s", job.suite.name, why)
    return job


def _score(arguments: argparse.Namespace) -> None:
    from mtl.base.settings.layers import find_yaml
    from mtl.data.present_files import choose_scored
    from mtl.submissions.scores import score_predictions
    from mtl.tasks.suite import load_suite

    job = _job_with_logged_suite(arguments.settings)
    suite = choose_scored(load_suite(find_yaml("suite", job.config.suite)), arguments.gold)  # not by data_dir
    tasks = suite.choose(job.config.tasks)
    print(score_predictions(arguments.predictions, suite, tasks, arguments.gold, job.config.held_out))


def _report(arguments: argparse.Namespace) -> None:
    from mtl.reports.report import write_report

    print(write_report(arguments.runs_dir, arguments.out, arguments.command, arguments.cache, arguments.reference))


def _runs(arguments: argparse.Namespace) -> None:
    from mtl.runs.stored import runs_text, stored_runs

    print(runs_text(stored_runs(arguments.runs_dir)))
