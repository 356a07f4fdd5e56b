"""The choice among the runs of a sweep that a paper makes: dev chooses a setting for each task, perhaps by successive halving.

The median over seeds chooses: all seeds of the result have one setting, as a paper reports it, and are the seeds of one run. With halving by k,
all settings train the first seed; for each task, the best 1/k (rounded up) of those that trained a seed train the next one, so that most settings
cost one seed (Jamieson and Talwalkar 2016, with seeds as the budget). A run with many tasks goes on if it is among the best for any of them."""

import math
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal

from msgspec import Meta

from mtl.base.errors import DivergedError, InputError
from mtl.base.log import logger
from mtl.base.settings.layers import differences, flatten_config
from mtl.base.typed import typed
from mtl.base.untrusted import read_json
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.sweeps.selected import SETTINGS
from mtl.jobs.job import Job, load_job
from mtl.runs.folder import LOCK
from mtl.runs.records import SeedScores, dev_score

METHOD = "selected"
# What the runs to choose from must have in common: the rows that train, choose and score, and the seeds.
ALIKE = ("suite", "data_dir", "held_out", "choose_on_repeats", "choosing_share", "seeds")
# Settings of the result, which it takes from the first of them.
COPIED = (*ALIKE, "runs_dir", "cache_dir", "statistic", "submission.header", "submission.name")


@dataclass(frozen=True)
class Select:
    """The section `select` of a sweep file."""

    on: Literal["dev"] = "dev"  # the rows that choose
    each: Literal["task"] = "task"  # what has a setting of its own
    halving: Annotated[int, Meta(ge=2)] | None = None  # k; None: every setting trains every seed


def read_select(content: dict[Any, Any], path: Path) -> Select | None:
    """The section of a sweep file with this content, if it has one. Raises InputError, which names the key."""
    if "select" not in content:
        return None
    section = content["select"]
    if isinstance(section, dict):  # YAML reads the word on as a truth value
        section = {"on" if key is True else key: value for key, value in section.items()}
    return typed(Select, section, "select.", path)


@dataclass
class Search:
    """A choice among runs."""

    path: Path  # the sweep file
    select: Select
    runs: list[Job]  # with all of their seeds
    folder: Path  # of the result
    candidates: dict[str, list[Job]] = field(init=False)  # by task, the runs left; when all `rungs` are made, the best
    settings: int = field(init=False)  # the most runs that a task has to choose from at first

    def __post_init__(self) -> None:
        """Raises InputError for runs that cannot be compared."""
        for key in ALIKE:
            if any(getattr(run.config, key) != getattr(self.runs[0].config, key) for run in self.runs):
                raise InputError(f"{key} must be the same for all runs", path=self.path, key="select")
        self.candidates = defaultdict(list)
        for run in self.runs:
            for task in run.run_tasks:
                if task.answered_by is None:
                    self.candidates[task.id].append(run)
        self.settings = max(map(len, self.candidates.values()))
        config = self.folder / "config.yaml"
        if config.exists() and read_yaml(config).get("method") != METHOD:
            raise InputError("is the folder of another run; rename the sweep file, or set runs_dir=", path=self.folder)

    def rungs(self) -> Iterator[list[Job]]:
        """The runs to make one rung after another, with the seeds that they have at its end; a run that has begun more of them continues with
        these. Ask for the next rung when the runs of the last are made: they decide which runs it has. A run without all of its seeds has diverged,
        and is not chosen. Raises DivergedError if a task has no other run."""
        seeds, halving = self.runs[0].config.seeds, self.select.halving
        for count in range(1, len(seeds) + 1) if halving else [len(seeds)]:
            names = {run.name for runs in self.candidates.values() for run in runs}
            yield [_with_seeds(run, count) for run in self.runs if run.name in names]
            for task, runs in self.candidates.items():
                ranked = self._ranked(task, runs, seeds[:count])
                most = math.ceil(len(ranked) / halving) if halving and count < len(seeds) else 1
                self.candidates[task] = ranked[:most]

    def job(self) -> Job:
        """The run of what is chosen; an earlier choice in its folder, which other runs have changed, is removed."""
        config, suite = self.runs[0].config, self.runs[0].suite
        heads = {task.id: task.answered_by or task.id for run in self.runs for task in run.run_tasks}
        flat, tasks = flatten_config(config), [id for id in suite.tasks if id in heads]
        copied = {key: flat[key] for key in COPIED if flat[key] is not None}
        chosen = {id: self.candidates[heads[id]][0].name for id in tasks}
        selected = {"selected.search": self._description() if self.settings > 1 else None, "selected.runs": chosen}
        job = load_job({**copied, "method": METHOD, "tasks": tasks, "run_dir": str(self.folder), **selected})
        if job.folder.config.exists() and differences(job.folder.config, job.config):
            logger.info("%s: made again, since another choice was made there", job.folder.path)
            with job.folder.locked():
                for entry in list(job.folder.path.iterdir()):
                    if entry.is_dir() and entry.name != SETTINGS:
                        shutil.rmtree(entry)
                    elif entry.is_file() and entry.name != LOCK:
                        entry.unlink()
        return job

    def _description(self) -> str:
        """How the settings were chosen, and how many seeds were trained for it, as reports say it."""
        seeds = self.runs[0].config.seeds
        trained = sum(run.folder.scores(seed).exists() for run in self.runs for seed in seeds)
        halving = f", with halving by {self.select.halving}" if self.select.halving else ""
        median_over = f"by the median over seeds {', '.join(map(str, seeds))}"
        return f"one of {self.settings} for each task, {median_over}; {trained} seeds trained{halving}"

    def _ranked(self, task: str, runs: Sequence[Job], seeds: Sequence[int]) -> list[Job]:
        """Those of the runs that have finished these seeds, the best on dev first; of equal ones, the first of the file."""
        scores = dict[str, float]()
        for run in runs:
            files = [run.folder.scores(seed) for seed in seeds]
            if all(file.exists() for file in files):
                by_seed = [dev_score(file, read_json(file, SeedScores), run.suite, task) for file in files]
                scores[run.name] = median(by_seed)
        if not scores:
            raise DivergedError(f"{self.path}: {task}: no setting is left to choose, since all diverged")
        return sorted((run for run in runs if run.name in scores), key=lambda run: -scores[run.name])


def _with_seeds(run: Job, count: int) -> Job:
    """The run with the first seeds alone, or with those that its folder has begun, if these are more."""
    seeds, path = run.config.seeds, run.folder.config
    begun = read_yaml(path).get("seeds") if path.exists() else None
    if isinstance(begun, list) and begun == seeds[: len(begun)]:
        count = max(count, len(begun))
    return replace(run, config=replace(run.config, seeds=seeds[:count]))
