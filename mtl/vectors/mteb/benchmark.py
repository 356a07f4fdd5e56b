"""A benchmark of mteb's tasks (types, metrics, published rows), read from one YAML file, and the settings of `mtl mteb`."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.names import advice, is_file_name
from mtl.base.settings.layers import find_yaml, shipped
from mtl.base.typed import AT_LEAST_ONE, typed
from mtl.base.untrusted_yaml import read_yaml


@dataclass
class MtebSettings:
    """The keys of `mtl mteb` itself."""

    benchmark: str = "pl-mteb"  # a name in configs/mteb, or a path
    tasks: Annotated[list[str] | None, Meta(examples=["[PpcPC,SICK-R-PL]"])] = None  # some of the benchmark's tasks
    data_dir: str | None = None  # the folder with a folder for each task; None: data/{benchmark}, if it is there
    runs_dir: str = "runs"  # the folder of all runs
    # processes of a Ray cluster that encode the passages of retrieval tasks; None: this process does
    workers: Annotated[int, AT_LEAST_ONE] | None = None

    def choose_data(self, benchmark: "Benchmark") -> tuple[Path | None, list[str]]:
        """The folder of local rows, None without one, and the tasks to evaluate. Raises InputError for an unknown task and a missing folder."""
        if self.data_dir is None:
            default = Path("data") / benchmark.name
            return (default if default.is_dir() else None), benchmark.choose(self.tasks)
        data_dir = Path(self.data_dir)
        if not data_dir.is_dir():
            raise InputError("no such folder", key="data_dir", value=data_dir)
        if self.tasks is not None:
            return data_dir, benchmark.choose(self.tasks)
        present = [name for name in benchmark.tasks if (data_dir / name).is_dir()]
        if not present:
            message = f"has no folder of a task of {benchmark.name}, such as {data_dir / next(iter(benchmark.tasks))}"
            raise InputError(message, key="data_dir", value=data_dir)
        if left_out := benchmark.missing(present):
            logger.info("left out, without a folder in %s: %s", data_dir, ", ".join(left_out))
        return data_dir, present


COMMAND_KEYS = {key.name for key in fields(MtebSettings)}


def read_settings(values: Mapping[str, Any]) -> tuple[MtebSettings, dict[str, Any]]:
    """The settings of the command, and the others, which are the encoder's. Raises InputError for a bad value."""
    command = {key: value for key, value in values.items() if key in COMMAND_KEYS}
    encoder = {key: value for key, value in values.items() if key not in COMMAND_KEYS}
    return typed(MtebSettings, command), encoder


@dataclass
class BenchmarkTask:
    split: str = "test"  # the one that is scored
    seen_in: list[str] = field(default_factory=list)  # the tasks of suites, as "klej/cbd", whose training rows it has
    not_comparable: str | None = None  # why scores by today's mteb do not belong beside published ones; None: they do


@dataclass
class TaskType:
    """Tasks that are scored alike. The metric is the name of the score in mteb's result files that the benchmark reports."""

    title: str
    metric: str
    metric_title: str
    tasks: dict[str, BenchmarkTask]


@dataclass
class PublishedRow:
    """Published scores × 100 by task, the averages as printed, and where they were published."""

    model: str
    family: str
    source: str
    average: float | None = None
    average_by_type: float | None = None
    scores: dict[str, float] = field(default_factory=dict)


@dataclass
class Benchmark:
    name: str
    title: str
    languages: list[str]  # mteb's codes; of a task in several languages only these parts are evaluated
    model_languages: dict[str, str] = field(default_factory=dict)  # mteb's codes for models, by those of encoders
    types: dict[str, TaskType] = field(kw_only=True)  # in the order of the table
    published: list[PublishedRow] = field(default_factory=list)

    def check(self) -> None:
        """Raise InputError for a name that is no file's, a task in two types, a published score of an unknown task, or no task or language."""
        names = [name for type_ in self.types.values() for name in type_.tasks]
        if wrong := [name for name in (self.name, *names) if not is_file_name(name)]:
            key = "name" if wrong[0] == self.name else "types"
            raise InputError(f"{wrong[0]!r} names a folder; use letters, digits, '.', '_' and '-'", key=key)
        if not names or not self.languages:
            raise InputError("types, languages: must name at least one task and one language")
        if repeated := [name for name, count in Counter(names).items() if count > 1]:
            raise InputError(f"task {repeated[0]} is in two types", key="types")
        for row in self.published:
            if unknown := sorted(set(row.scores) - set(names)):
                raise InputError(f"{row.model}: unknown task {unknown[0]}", key="published")

    @property
    def tasks(self) -> dict[str, BenchmarkTask]:
        return {name: task for type_ in self.types.values() for name, task in type_.tasks.items()}

    def type_of(self, task: str) -> str:
        return next(name for name, type_ in self.types.items() if task in type_.tasks)

    def metric(self, task: str) -> str:
        """The name of the score in mteb's result files that the benchmark reports for a task."""
        return self.types[self.type_of(task)].metric

    def choose(self, names: Iterable[str] | None) -> list[str]:
        """The tasks with these names, in the benchmark's order; None: all. Raises InputError for an unknown name."""
        if names is None:
            return list(self.tasks)
        wanted = set(names)
        if unknown := sorted(wanted - set(self.tasks)):
            known = advice(unknown[0], self.tasks, "tasks")
            raise InputError(f"benchmark {self.name} has no task {unknown[0]}; {known}", key="tasks")
        if not wanted:
            raise InputError("names no task", key="tasks")
        return [name for name in self.tasks if name in wanted]

    def missing(self, present: Container[str]) -> list[str]:
        """The tasks that are not among these: without them, the averages are partial."""
        return [name for name in self.tasks if name not in present]

    def seen_by(self, trained_on: Container[str]) -> dict[str, list[str]]:
        """The tasks whose training rows an encoder has seen: by name, the tasks of suites that have these rows."""
        seen = {name: [id for id in task.seen_in if id in trained_on] for name, task in self.tasks.items()}
        return {name: ids for name, ids in seen.items() if ids}

    def not_comparable_notes(self, names: Iterable[str]) -> list[str]:
        """A note for each of these tasks whose scores do not belong beside published ones on any data."""
        reasons = {name: self.tasks[name].not_comparable for name in names}
        return [f"{name}: not comparable with published scores: {why}." for name, why in reasons.items() if why]

    def type_means(self, scores: Mapping[str, float]) -> dict[str, float]:
        """By type, the mean of these scores by task. A type without any of them is left out."""
        by_type = {name: [scores[task] for task in type_.tasks if task in scores] for name, type_ in self.types.items()}
        return {name: fmean(values) for name, values in by_type.items() if values}


def find_benchmark(name: str) -> Path:
    """The benchmark's file: a name in configs/mteb, or a path. Raises InputError."""
    return find_yaml("benchmark", name, shipped("configs") / "mteb")


def load_benchmark(path: Path) -> Benchmark:
    """Read and check a benchmark file, which is not trusted. Raises InputError that names the file and the key that is wrong."""
    return typed(Benchmark, read_yaml(path), path=path)
