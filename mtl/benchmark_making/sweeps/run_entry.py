"""A run as a sweep file lists it: its settings, and the name that it and its folder get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mtl.base.errors import InputError
from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import INDIFFERENT, PAPER
from mtl.benchmark_making.sweeps.run_names import run_name
from mtl.data.splits import has_files
from mtl.jobs.job import Job, load_job, load_run

# Keys that determine the name of the folder of a run without other settings.
BASE_KEYS = ("suite", "data_dir", "method", "embeddings", "variant", "architecture", "preset")
# Keys that are not part of a run's name. The path of vectors or of a transformer is part of it, because runs may differ in it.
UNNAMED = {*BASE_KEYS, *INDIFFERENT} - {"embeddings.path", "transformer.path"}
LONGEST_NAME = 200  # bytes; file systems take 255
EACH = "each"  # the value of tasks: in a sweep file that makes a run for each task


@dataclass(frozen=True)
class RunEntry:
    """A run of a sweep file, or with `tasks: each` a run for each task."""

    label: str | None  # its name, if the file gives one
    naming: Sequence[str]  # the keys that its name is made from otherwise: those that the file sets for this run alone
    settings: Mapping[str, Any]  # by dotted keys

    def run(self, within: str) -> Job:
        """The run, in a folder `within` that of the suite. Raises InputError for settings that no run or no sweep has."""
        if "run_dir" in self.settings:
            raise InputError("each run has its own folder, named after the run; set runs_dir=", key="run_dir")

        def with_name(job: Job) -> Job:
            """The job with its name, and with the folder of this name."""
            name = self.label or self._name(job)
            if len(name.encode()) > LONGEST_NAME:
                raise InputError("its settings are too long for a folder's name; list it under runs: with a name")
            folder = job.folder.path.parent / within / name
            return replace(job, config=replace(job.config, run_dir=str(folder)), name=name)

        run = load_run(self.settings, with_name)
        if not is_idle(run):
            _ = run.run_tasks  # raises InputError for tasks that the method does not answer
        return run

    def runs_by_task(self, within: str) -> list[Job]:
        """A run for each trained task and those that its head answers; one run if the method has no task."""
        settings = {key: value for key, value in self.settings.items() if (key, value) != ("tasks", EACH)}
        run_on_all = replace(self, settings=settings).run(within)
        if is_idle(run_on_all):
            return [run_on_all]
        answered: dict[str, list[str]] = {task.id: [] for task in run_on_all.run_tasks if task.answered_by is None}
        for task in run_on_all.run_tasks:
            answered[task.answered_by or task.id].append(task.id)
        naming = [*(key for key in self.naming if key != "tasks"), "tasks"]
        labels = {id: None if self.label is None else f"{self.label}-{id}" for id in answered}
        entries = [RunEntry(labels[id], naming, {**settings, "tasks": tasks}) for id, tasks in answered.items()]
        return [entry.run(within) for entry in entries]

    def _name(self, job: Job) -> str:
        """The name of a run without a label: the method's folder, and those of its own settings that change it. No other run matters."""
        preset = {} if job.config.preset == PAPER else {"preset": job.config.preset}  # the machine may have chosen it
        base_settings = {key: self.settings[key] for key in BASE_KEYS if key in self.settings}
        base, flat = flatten_config(load_job({**preset, **base_settings}).config), flatten_config(job.config)
        changed = [key for key in self.naming if key not in UNNAMED and flat[key] != base.get(key)]
        return run_name(job.folder.path.name, {key: flat[key] for key in changed})


def is_idle(job: Job) -> bool:
    """Whether the method has no task: it answers none of the chosen ones, or only tasks that the data lacks (`allow_missing`)."""
    answered = [task for task in job.tasks if task.id not in job.unanswered]
    if job.suite.allow_missing and any(has_files(task, job.data_dir) for task in job.suite.tasks.values()):
        answered = [task for task in answered if has_files(task, job.data_dir)]
    return not answered
