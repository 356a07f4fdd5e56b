"""`mtl leaderboard`: checks the submissions in a folder, scores them on hidden labels, and writes a static site. Messages are about the submissions
alone, scores are rounded as the suite shows them, and nothing says which rows are right."""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from mtl.base.errors import InputError, shortened
from mtl.base.folders import check_writable, write_files
from mtl.base.log import logger
from mtl.base.progress import progress
from mtl.base.terminal import visible
from mtl.base.typed import AT_LEAST_ONE
from mtl.base.wording import counted
from mtl.benchmark_making.leaderboard import scoring, submission
from mtl.benchmark_making.leaderboard.scoring import ScoredSubmission
from mtl.benchmark_making.leaderboard.site import site_files
from mtl.benchmark_making.leaderboard.submission import Entrant
from mtl.tasks.suite import Suite

Verdicts = dict[str, str]  # by the name of a submission, why it is refused; an empty text if it is not


@dataclass(frozen=True)
class Rules:
    """What a leaderboard asks of submissions."""

    split: Literal["dev", "test"] = "test"  # that they predict
    limit: Annotated[int, AT_LEAST_ONE] | None = None  # of a team in a month; those that are refused do not count


def check_submissions(suite: Suite, folder: Path, data_dir: Path, rules: Rules) -> Verdicts:
    """Check the submissions in a folder without labels. Raises InputError if there is no submission, or no data to compare with."""
    tasks = scoring.read_public_rows(suite, data_dir, rules.split)

    def check(path: Path, entrant: Entrant) -> None:
        submission.read_predictions(path, suite, rules.split, tasks)

    return _judge(folder, data_dir, rules, check, "checking")


def make_leaderboard(suite: Suite, folder: Path, gold: Path, out: Path, rules: Rules) -> Verdicts:
    """Score the submissions in a folder and write the site of the leaderboard into `out`; pages of systems that are no longer there are removed.
    `gold` is a data folder whose files of the split have labels. A submission that is refused stops no other one; the same folders give the same
    bytes. Raises InputError for no submission or label, for labels in the folder of the site, and as `write_files` does for that folder."""
    if gold.resolve().is_relative_to(out.resolve()):
        problem = f"{gold} is in the folder of the site, {out}, which is published; name another one"
        raise InputError(problem, key="gold")
    check_writable(out)
    tasks = scoring.read_labelled_rows(suite, gold, rules.split)
    if without := [id for id in suite.tasks if id not in tasks]:
        logger.info("tasks without labels, not scored: %s", ", ".join(without))
    scored = list[ScoredSubmission]()

    def score(path: Path, entrant: Entrant) -> None:
        scored.append(scoring.score_submission(path, entrant, suite, rules.split, tasks))

    verdicts = _judge(folder, gold, rules, score, "scoring")
    refused = {name: reason for name, reason in verdicts.items() if reason}
    write_files(out, site_files(suite, tasks, scored, rules.split, refused))
    return verdicts


def _judge(folder: Path, data_dir: Path, rules: Rules, accept: Callable[[Path, Entrant], None], title: str) -> Verdicts:
    """The verdicts on the submissions in a folder. `accept` is called for one after another, the earliest first; an error that it raises refuses the
    submission. `data_dir` is the folder of the rows, whose path no reason says."""
    verdicts, hidden = Verdicts(), (folder, data_dir)
    entrants = list[tuple[Path, Entrant]]()
    for path in submission.find_submissions(folder):
        with _verdict_on(path, verdicts, hidden):
            entrants.append((path, submission.read_entrant(path)))
    entrants.sort(key=lambda entry: (entry[1].date or "", entry[0].name))
    accepted = Counter[tuple[str, str]]()  # submissions by team and month
    for path, entrant in progress(entrants, title, "submissions"):
        team = unicodedata.normalize("NFKC", entrant.team or "").strip().casefold()  # in one spelling
        team_month = team, (entrant.date or "")[:7]
        with _verdict_on(path, verdicts, hidden):
            if rules.limit is not None:
                _check_limit(path, entrant, rules.limit, accepted[team_month])
            accept(path, entrant)
            accepted[team_month] += 1
    return verdicts


@contextmanager
def _verdict_on(path: Path, verdicts: Verdicts, hidden: Sequence[Path]) -> Iterator[None]:
    """Enter the verdict on a submission: an error of the block, whichever it is, refuses it. Reasons do not say the paths of `hidden` folders."""
    name = visible(path.name)
    verdicts.setdefault(name, "")
    try:
        yield
    except Exception as error:
        verdicts[name] = _reason(error, hidden)


def _reason(error: Exception, hidden: Sequence[Path]) -> str:
    """Why a submission is refused, without the paths of `hidden` folders, and without the text of an unexpected error, which may show a label."""
    text = str(error)
    if not isinstance(error, InputError):
        logger.debug("a submission is refused", exc_info=error)
        text = f"cannot be read ({type(error).__name__})"
    paths = {f"{path}{os.sep}" for folder in hidden for path in (folder, folder.resolve()) if path != Path()}
    longest_first = "|".join(map(re.escape, sorted(paths, key=len, reverse=True)))
    text = re.sub(rf"(?<![\w./+-])({longest_first})", "", text)  # `gold/` is not removed from `marigold/`
    return shortened(text, submission.LONGEST)


def _check_limit(path: Path, entrant: Entrant, limit: int, accepted: int) -> None:
    """Raise InputError unless the team may make one more submission in the month, in which so many were accepted before."""
    if not (entrant.team and entrant.date):
        problem = "needs team and date, as this leaderboard limits a team's submissions"
        raise InputError(problem, path=path / submission.ABOUT)
    if accepted >= limit:
        allowed = f"team {entrant.team} may make {counted(limit, 'submission')} a month"
        raise InputError(f"{allowed}, and this is one more in {entrant.date[:7]}", path=path)
