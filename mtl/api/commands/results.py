"""Commands about predictions and scores."""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mtl.api.commands.job_settings import Commands, add_runs_dir, job_of
from mtl.base.errors import InputError

if TYPE_CHECKING:
    from mtl.jobs.job import Job


CACHE = Path("cache")  # as cache_dir in configs/baseline.yaml


def add_results(commands: Commands) -> None:
    """Commands about predictions and scores."""
    check = commands.add_parser("check-submission", help="check whether the leaderboard can take a submission")
    check.add_argument("submission", type=Path, metavar="SUBMISSION", help="a zip or a folder")
    check.add_argument("settings", nargs="*", metavar="key=value", help="suite=NAME, data_dir=FOLDER")
    check.set_defaults(run=_check_submission)

    rejoin = commands.add_parser("rejoin", help="put a submission's predictions to the rows of the official files")
    rejoin.add_argument("submission", type=Path, metavar="SUBMISSION", help="a zip or a folder")
    rejoin.add_argument("settings", nargs="*", metavar="key=value", help="suite=NAME, data_dir=OFFICIAL, tasks=[ID,…]")
    rejoin.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    rejoin.add_argument("--name", help="name of the system; default: as in the submission")
    rejoin.set_defaults(run=_rejoin)

    score = commands.add_parser("score", help="score predictions against gold targets")
    score.add_argument("predictions", type=Path, metavar="PREDICTIONS", help="a zip or a folder of predictions")
    score.add_argument("--gold", type=Path, required=True, metavar="DIR", help="a data folder with targets")
    score.add_argument("settings", nargs="*", metavar="key=value", help="suite=NAME, tasks=[ID,…]")
    score.set_defaults(run=_score)

    report = commands.add_parser("report", help="compare everything that has been run: a page, Markdown, LaTeX, CSV")
    add_runs_dir(report)
    report.add_argument(
        "--out", type=Path, default=Path("report"), metavar="DIR", help="the folder to write; default: report"
    )
    report.add_argument(
        "--cache", type=Path, default=CACHE, metavar="DIR", help="keeps the resamples of known predictions; else cache"
    )
    report.add_argument(
        "--reference",
        action="append",
        default=[],
        metavar="NAME",
        help="a run to test every run against, may be given several times; else every pair of runs, or of many runs each against the best",
    )
    report.set_defaults(run=_report)


def _check_submission(arguments: argparse.Namespace) -> None:
    from mtl.submissions import SUBMISSION_FORMATS

    job = job_of(arguments.settings)
    _log_suite(job, arguments.settings)
    if job.config.data_dir is not None and not job.data_dir.is_dir():
        raise InputError("no such folder", key="data_dir", value=job.data_dir)
    checked = SUBMISSION_FORMATS[job.suite.submission.format].check(arguments.submission, job.suite, job.data_dir)
    problems = checked.problems
    for line in problems or [*checked.notes, *checked.remarks]:
        print(line)
    if problems:
        raise InputError(
            f"the leaderboard of suite {job.suite.name} would refuse it ({len(problems)} problem{('s' if len(problems) > 1 else '')})",
            path=arguments.submission,
        )
    if checked.remarks:
        print(f"{arguments.submission}: valid for the rows in {job.data_dir}, which are not the official ones")
    else:
        print(f"{arguments.submission}: the leaderboard of suite {job.suite.name} can take it")


def _rejoin(arguments: argparse.Namespace) -> None:
    from mtl.submissions.rejoin import rejoin

    job = job_of(arguments.settings)
    _log_suite(job, arguments.settings)
    done = rejoin(arguments.submission, job.suite, job.tasks, job.data_dir, arguments.out, arguments.name)
    for line in done.problems or done.remarks:
        print(line)
    if done.problems:
        raise InputError(
            f"its predictions cannot be put to the rows of {job.data_dir}; nothing is written; tasks=[…] names the tasks to put together",
            path=arguments.submission,
        )
    print(arguments.out)


def _log_suite(job: "Job", settings: Sequence[str]) -> None:
    """Log which suite was chosen, and the reason if the command line did not name it."""
    named = any(setting.startswith("suite=") and setting != "suite=auto" for setting in settings)
    verb = "is" if job.suite.name == "klej" else "is not"
    why = "" if named else f" (KLEJ's data {verb} there; name another suite with suite=)"
    logging.getLogger("mtl").info("suite %s%s", job.suite.name, why)


def _score(arguments: argparse.Namespace) -> None:
    from mtl.data.splits import choose_scored
    from mtl.settings.layers import find_suite
    from mtl.submissions.scores import score_predictions
    from mtl.tasks.suite import load_suite

    job = job_of(arguments.settings)
    _log_suite(job, arguments.settings)
    suite = choose_scored(load_suite(find_suite(job.config.suite)), arguments.gold)  # not by data_dir
    tasks = suite.choose(job.config.tasks)
    print(score_predictions(arguments.predictions, suite, tasks, arguments.gold, job.config.held_out))


def _report(arguments: argparse.Namespace) -> None:
    from mtl.reports.report import write_report

    settings = (arguments.runs_dir, arguments.out, arguments.command, arguments.cache, arguments.reference)
    print(write_report(*settings))
