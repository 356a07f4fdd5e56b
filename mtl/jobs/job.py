"""A run that is to be made: its configuration, suite, tasks and folders, from the settings and the files that they name."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from mtl.base.display import show
from mtl.base.errors import InputError
from mtl.base.events import Remark
from mtl.base.memory import check_fits
from mtl.base.settings.layers import differences, flatten, flatten_config, matches
from mtl.base.settings.schema import CHOICES, INDIFFERENT, PAPER, Config
from mtl.base.typed import declared_keys
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.present_files import choose_scored, present_splits
from mtl.jobs.configuration import merged_config
from mtl.jobs.machine import device_of
from mtl.jobs.predicted_files import PredictedValues
from mtl.jobs.setting_files import COMMAND_LINE, DEFAULTS, read_layers
from mtl.methods import METHODS
from mtl.runs.folder import RunFolder
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

CHOSEN = "chosen by mtl"  # where a value comes from that `load_run` sets
WITHOUT_GPU = "strong"  # the preset of a run on a CPU whose settings name no size
SECTIONS = {key.partition(".")[0] for key, _ in declared_keys(Config) if "." in key}
SIZES = ("preset", "architecture", "encoder.hidden_size")
# Settings beside INDIFFERENT that make no other model: what is run, on which data, on which machine, and what is written of it.
NO_MODEL = ("embeddings.name", "tasks", "seeds", "held_out", "choosing_share", "trainer.", "submission.")


@dataclass(frozen=True)
class Job:
    """One run: its configuration and its suite."""

    config: Config
    suite: Suite
    predictions: Sequence[PredictedValues] = ()  # imported from Python, for each seed; empty: there are none, or files
    name: str = ""  # that of a run among several, as those of a sweep
    # By key, the name of the layer that its value comes from, and the value that it has without the settings of the command line.
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    file_settings: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def data_dir(self) -> Path:
        """Where the suite's data is."""
        return Path(self.config.data_dir or self.suite.data_dir)

    @property
    def folder(self) -> RunFolder:
        """The folder of the results: `run_dir`, or else {runs_dir}/{suite}/{the method's folder name}."""
        name = METHODS[self.config.method].folder(self.config)
        return RunFolder(Path(self.config.run_dir or f"{self.config.runs_dir}/{self.suite.name}/{name}"))

    @property
    def is_finished(self) -> bool:
        """Whether all seeds of the run are finished. Raises InputError for a damaged summary."""
        return set(self.config.seeds) <= self.folder.finished_seeds()

    @cached_property
    def tasks(self) -> list[Task]:
        """The chosen tasks, in the suite's order. Raises InputError for an unknown id."""
        return self.suite.choose(self.config.tasks)

    @cached_property
    def unanswered(self) -> list[str]:
        """The ids of the chosen tasks that the method does not answer."""
        unanswered = METHODS[self.config.method].unanswered(self.suite)
        return [task.id for task in self.tasks if task.id in unanswered]

    @cached_property
    def absent(self) -> list[str]:
        """The ids of the tasks that a run leaves out because none of their files is there, or because another such task answers them. Only a suite
        that says so (`allow_missing`) has such tasks, if `tasks` does not name them. If all tasks are absent, none is left out."""
        if not self.suite.allow_missing or self.config.tasks is not None:
            return []
        answered = [task for task in self.tasks if task.id not in self.unanswered]
        present = {task.id for task in answered if present_splits(task, self.data_dir)}
        absent = [task.id for task in answered if not present.issuperset({task.id, task.answered_by or task.id})]
        return absent if len(absent) < len(answered) else []

    @cached_property
    def run_tasks(self) -> list[Task]:
        """The tasks of a run: the chosen ones without those that are left out (`unanswered`, `absent`). Raises InputError as `check_tasks`."""
        self.check_tasks()
        return [task for task in self.tasks if task.id not in {*self.unanswered, *self.absent}]

    def check_tasks(self) -> None:
        """Raise InputError if the method answers no task, or not one that `tasks` names, or if `tasks` lacks one whose head answers another."""
        ids = {task.id for task in self.tasks}
        for task in self.tasks:
            if task.answered_by is not None and task.answered_by not in ids:
                message = f"task {task.id} is answered by {task.answered_by}'s head; name that task too"
                raise InputError(message, key="tasks")
        method, unanswered = self.config.method, self.unanswered
        if unanswered and self.config.tasks is not None:
            message = f"method {method} does not support {', '.join(unanswered)}; do not name such tasks"
            raise InputError(message, key="tasks")
        if len(unanswered) == len(self.tasks):
            message = f"supports no task of suite {self.suite.name}; set another method="
            raise InputError(message, key="method", value=method)

    @property
    def title(self) -> str:
        """The title of the run's rows; it says so where settings differ from those of the preset."""
        return METHODS[self.config.method].title(self.config) + (", changed" if self.changed else "")

    @property
    def changed(self) -> dict[str, Any]:
        """The settings of the command line that make another model than the preset's, by key, but for those that the method's title names."""
        method = METHODS[self.config.method]
        if not method.reads_key("preset"):
            return {}
        changed = {}
        for key, value in flatten_config(self.config).items():
            is_set = self.origins.get(key) == COMMAND_LINE and value != self.file_settings.get(key)
            is_named = (key, value) in method.named_values.items()
            if is_set and not is_named and not matches(key, (*CHOICES, *INDIFFERENT, *NO_MODEL)):
                changed[key] = value
        return changed

    def check_folder(self) -> None:
        """Raise InputError, which names the keys, if the folder has another configuration. Methods that train take other numbers of seeds."""
        self.folder.check(self.config, takes_seeds=METHODS[self.config.method].builds is not None)

    def check_memory(self) -> None:
        """Raise InputError if an unfinished run's seeds need more memory than this machine has. Engines check it again, after slow imports."""
        config, needed = self.config, self.config.resources.memory_bytes
        if needed and config.engine == "processes" and config.runs_apart and not self.is_finished:
            check_fits(needed, "a seed", "set a smaller one", key="resources.memory")


def parse_settings(words: Sequence[str]) -> dict[str, Any]:
    """Settings from words `key=value`; values are read as YAML, a section as a mapping. Raises InputError for a word of another form."""
    settings: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not (key := key.strip()):
            raise InputError(f"{word!r} is not key=value, as in encoder.hidden_size=64")
        try:
            parsed = yaml.safe_load(value)
            settings |= flatten({key: parsed}) if key in SECTIONS and isinstance(parsed, dict) else {key: parsed}
        except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):  # PyYAML raises all of these
            raise InputError(f"{word!r}: the value is not YAML") from None
    return settings


def load_job(settings: Mapping[str, Any]) -> Job:
    """The run that settings (by dotted keys) and files (`read_layers`) describe. Raises InputError for a bad key or value, or a missing file."""
    layers = read_layers(settings)
    config, origins, file_settings = merged_config(layers, settings)
    job = Job(config, layers.suite, origins=origins, file_settings=file_settings)
    return replace(job, suite=choose_scored(job.suite, job.data_dir))


def load_run(settings: Mapping[str, Any], in_its_folder: Callable[[Job], Job] = lambda job: job) -> Job:
    """The run that `mtl baseline` makes with these settings (by dotted keys): that of `load_job`, with defaults for this machine and method. A run
    that has begun continues as it began. `in_its_folder` gives a sweep's job the folder named after its settings. Raises InputError as `load_job`."""
    job = load_job(settings)
    saved_config = in_its_folder(job).folder.config
    begun = read_yaml(saved_config) if saved_config.exists() else {}
    chosen = _chosen_preset(job, saved_config, begun) | _chosen_seeds(job, begun)
    if job.suite.generated and job.origins["suite"] == DEFAULTS and not begun:
        show(Remark(f"no suite= is set: this is {job.suite.name}, the embedded sample of KLEJ", logging.WARNING))
    if chosen:
        job = load_job({**settings, **chosen})
        job = replace(job, origins={**job.origins, **dict.fromkeys(chosen, CHOSEN)})
    return in_its_folder(job)


def _chosen_preset(job: Job, saved_config: Path, begun: Mapping[str, Any]) -> dict[str, Any]:
    """The setting `preset` of a run for which no size is set (SIZES): as it has begun, or else on a CPU WITHOUT_GPU. Empty: the default."""
    config = job.config
    if not METHODS[config.method].reads_key("preset") or any(job.origins[key] != DEFAULTS for key in SIZES):
        return {}
    if begun.get("preset") == WITHOUT_GPU:
        return {"preset": WITHOUT_GPU}
    with_its_seeds = replace(config, seeds=begun.get("seeds", config.seeds))
    if begun and not differences(saved_config, with_its_seeds):  # begun with the default
        return {"preset": PAPER}
    if config.engine != "processes" or device_of(config.trainer.accelerator).type != "cpu":
        return {}
    paper = f"preset={PAPER} is the paper's model, with {config.encoder.hidden_size:,} units"
    show(Remark(f"preset={WITHOUT_GPU}, since there is no GPU; {paper}", logging.WARNING))
    return {"preset": WITHOUT_GPU}


def _chosen_seeds(job: Job, begun: Mapping[str, Any]) -> dict[str, Any]:
    """The setting `seeds` of a run that sets none, of a method whose result is the same with all: as begun, or else one. Empty: the default."""
    if not METHODS[job.config.method].is_deterministic or job.origins["seeds"] != DEFAULTS:
        return {}
    if not begun:
        show(Remark(f"one seed, since method {job.config.method} gives the same result with every seed"))
    return {"seeds": begun.get("seeds", job.config.seeds[:1])}
