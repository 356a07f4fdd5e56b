"""Commands about predictions and scores."""

import argparse
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mtl.base.errors import InputError
from mtl.base.files import counted
from mtl.commands.job_settings import Commands, add_runs_dir, job_of

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

    board = commands.add_parser(
        "leaderboard", help="check submissions, score them on hidden labels, and write the site of a leaderboard"
    )
    board.add_argument("suite", metavar="SUITE", help="a suite's name or file")
    board.add_argument("submissions", type=Path, metavar="SUBMISSIONS", help="a folder with a folder for each")
    board.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="gold=FOLDER with labels and out=FOLDER of the site, or data_dir=FOLDER to check without labels; split=, limit=, cache=, url=",
    )
    board.set_defaults(run=_leaderboard)

    power = commands.add_parser(
        "power", help="the smallest differences that tests show, and the rows and seeds they need"
    )
    power.add_argument(
        "settings",
        nargs="*",
        metavar="RUNS_DIR | key=value",
        help="a folder of runs, else runs; suite=NAME, difference=POINTS (else 2), seeds=N; without runs: rows=N,"
        " accuracy=PER_CENT or [A,B], agreement=PER_CENT, difference=, seeds= with seed_deviation=POINTS",
    )
    power.add_argument("--cache", type=Path, default=CACHE, metavar="DIR", help="as for mtl report; default: cache")
    power.set_defaults(run=_power)

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


def _leaderboard(arguments: argparse.Namespace) -> None:
    from mtl.base.untrusted import is_web_address
    from mtl.jobs.job import load_job, parse_settings
    from mtl.leaderboard.leaderboard import Rules, check_submissions, make_leaderboard
    from mtl.settings.layers import find_suite
    from mtl.tasks.suite import load_suite

    given = parse_settings(arguments.settings)
    own = {key: given.pop(key) for key in ("gold", "out", "split", "limit", "cache", "url") if key in given}
    split, limit, url = own.get("split", "test"), own.get("limit"), own.get("url")
    if split not in ("dev", "test"):
        raise InputError(f"{split!r} must be dev or test", key="split")
    if limit is not None and (type(limit) is not int or limit < 1):
        raise InputError(f"{limit!r} must be a number of submissions, 1 or more", key="limit")
    if url is not None and not is_web_address(str(url)):
        raise InputError(f"{url!r} must begin with https:// or http://", key="url")
    rules, suite = Rules(split, limit), load_suite(find_suite(arguments.suite))
    if "gold" in own:
        if "out" not in own:
            raise InputError("name the folder of the site", key="out")
        if given:
            raise InputError("is not used with gold=", key=next(iter(given)))
        places = Path(str(own["gold"])), Path(str(own["out"]))
        cache = Path(str(own.get("cache", CACHE / "leaderboard")))
        refused = make_leaderboard(suite, arguments.submissions, *places, rules, cache, url and str(url))
    else:
        job = load_job({**given, "suite": arguments.suite})
        refused = check_submissions(suite, arguments.submissions, job.data_dir, rules)
    reasons = [f"{name}: refused: {reason}" if reason else f"{name}: valid" for name, reason in refused.items()]
    for line in reasons:
        print(line)
    if "gold" in own:
        print(Path(str(own["out"])) / "index.html")
    elif count := sum(map(bool, refused.values())):
        raise InputError(
            f"{count} of {counted(len(refused), 'submission')} would be refused", path=arguments.submissions
        )


def _power(arguments: argparse.Namespace) -> None:
    from mtl.jobs.job import parse_settings
    from mtl.reports.power import expectation_text, read_settings
    from mtl.reports.report import power_report
    from mtl.settings.layers import find_suite
    from mtl.tasks.suite import load_suite

    words = arguments.settings
    folders = [word for word in words if "=" not in word or Path(word).exists()]
    settings, expectation = read_settings(parse_settings([word for word in words if word not in folders]))
    if len(folders) > (expectation is None):
        problem = (
            "a benchmark that does not exist yet has no runs; drop the folder" if expectation else "name one folder"
        )
        raise InputError(problem, path=folders[-1])
    if settings.suite is not None and settings.suite.endswith((".yaml", ".yml")):
        settings = replace(settings, suite=load_suite(find_suite(settings.suite)).name)
    if expectation:
        print(expectation_text(expectation, settings.difference))
    else:
        print(power_report(Path(folders[0] if folders else "runs"), settings, arguments.cache))


def _report(arguments: argparse.Namespace) -> None:
    from mtl.reports.report import write_report

    settings = (arguments.runs_dir, arguments.out, arguments.command, arguments.cache, arguments.reference)
    print(write_report(*settings))
