"""The choice among the runs of a sweep that a paper makes: dev chooses a setting for each task.
The median over seeds chooses: all seeds of the result have one setting, as a paper reports it, and are the seeds of one run."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

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


def has_choice(content: dict[Any, Any], path: Path) -> bool:
    """Whether a sweep file with this content has the section. Raises InputError, which names the key, for a bad one."""
    if "select" not in content:
        return False
    section = content["select"]
    if isinstance(section, dict):  # YAML reads the word on as a truth value
        section = {"on" if key is True else key: value for key, value in section.items()}
    typed(Select, section, "select.", path)
    return True


@dataclass
class Search:
    """A choice among runs. A run without all of its seeds has diverged, and is not chosen."""

    path: Path  # the sweep file
    runs: list[Job]
    folder: Path  # of the result
    candidates: dict[str, list[Job]] = field(default_factory=dict, init=False)  # by task

    def __post_init__(self) -> None:
        """Raises InputError for runs that cannot be compared."""
        for key in ALIKE:
            if any(getattr(run.config, key) != getattr(self.runs[0].config, key) for run in self.runs):
                raise InputError(f"{key} must be the same for all runs", path=self.path, key="select")
        for run in self.runs:
            for task in run.run_tasks:
                if task.answered_by is None:
                    self.candidates.setdefault(task.id, []).append(run)
        config = self.folder / "config.yaml"
        if config.exists() and read_yaml(config).get("method") != METHOD:
            raise InputError("is the folder of another run; rename the sweep file, or set runs_dir=", path=self.folder)

    def job(self) -> Job:
        """The run of what is chosen; an earlier choice in its folder is removed. Raises DivergedError if all runs of a task have diverged."""
        first = self.runs[0]
        heads = {task.id: task.answered_by or task.id for run in self.runs for task in run.run_tasks}
        tasks = [id for id in first.suite.tasks if id in heads]
        flat = flatten_config(first.config)
        copied = {key: flat[key] for key in COPIED if flat[key] is not None}
        chosen = {id: self._best(heads[id]).name for id in tasks}
        most = max(map(len, self.candidates.values()))
        choice = {"selected.search": self._description(most) if most > 1 else None, "selected.runs": chosen}
        job = load_job({**copied, "method": METHOD, "tasks": tasks, "run_dir": str(self.folder), **choice})
        if job.folder.config.exists() and differences(job.folder.config, job.config):
            logger.info("%s: made again, since another choice was made there", job.folder.path)
            with job.folder.locked():
                for entry in list(job.folder.path.iterdir()):
                    if entry.is_dir() and entry.name != SETTINGS:
                        shutil.rmtree(entry)
                    elif entry.is_file() and entry.name != LOCK:
                        entry.unlink()
        return job

    def _description(self, most_candidates: int) -> str:
        """How the settings were chosen, of at most so many for a task, and how many seeds were trained for it, as reports say it."""
        seeds = self.runs[0].config.seeds
        trained = sum(run.folder.scores(seed).exists() for run in self.runs for seed in seeds)
        median_over = f"by the median over seeds {', '.join(map(str, seeds))}"
        return f"one of {most_candidates} for each task, {median_over}; {trained} seeds trained"

    def _best(self, task: str) -> Job:
        """The run that is best on dev, of those that have finished all seeds; of equal ones, the first of the file."""
        scores = list[tuple[float, Job]]()
        for run in self.candidates.get(task, []):
            files = [run.folder.scores(seed) for seed in run.config.seeds]
            if all(file.exists() for file in files):
                by_seed = [dev_score(file, read_json(file, SeedScores), run.suite, task) for file in files]
                scores.append((median(by_seed), run))
        if not scores:
            raise DivergedError(f"{task}: no setting is left to choose, since all diverged")
        return max(scores, key=lambda scored: scored[0])[1]
