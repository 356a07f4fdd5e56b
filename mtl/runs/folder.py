"""A run's folder and those of its seeds: their files, the records in them, the run's configuration, and locks that let only one process write."""

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from errno import EMFILE
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
from msgspec import Meta

from mtl.base.errors import BusyError, InputError
from mtl.base.files import without_empty_folders, write_json
from mtl.base.locks import Busy, lock, named_lock
from mtl.base.settings.layers import differences, save_config
from mtl.base.settings.schema import Config
from mtl.base.untrusted import AGAIN, Amount, Count, Seed, check_plain_folder, read_bytes, read_json
from mtl.base.untrusted_yaml import YAML_LIMIT
from mtl.data.dataset import row_sizes
from mtl.data.examples import Example, read_targets
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

LOCK = ".lock"  # in the folder, held while a process works in it
# A named lock: the system's locks do not hold on all file systems between machines, and this one tells which process trains the seed.
TRAINING = ".training.json"
REMEDY = "set run_dir= or another runs_dir=, or remove the folder"
IMPORT_REMEDY = "import under another name, or remove the folder"
FILE = "{split}_pred_{task}.tsv"  # of predictions
# Increase it when the same configuration and inputs give other results, or when the layout of a seed's folder changes, so that
# no version of the code continues a run that an incompatible version started, or takes a stage 1 from it.
FORMAT = "3"


def pretrain_folder(seed_folder: Path) -> Path:
    """The folder of stage 1."""
    return seed_folder / "pretrain"


def finetune_folder(seed_folder: Path, task: str) -> Path:
    """The folder of one task's stage 2."""
    return seed_folder / "finetune" / task


def chosen_file(seed_folder: Path, task: str) -> Path:
    """The file with what a floor has chosen for a task, in the form of `Chosen`."""
    return seed_folder / "chosen" / f"{task}.json"


class MethodFacts(TypedDict):
    """What summary.json says of the method of a run. The first four are settings; None if the method does not have the setting."""

    embeddings: str | None
    variant: str | None
    architecture: str | None
    preset: str | None
    family: str  # the group of its row in tables
    title: str  # the title of its row
    folder: str  # the default name of its folder, in the folder of the suite
    chosen_on_dev: str  # the name in tables for what was chosen on dev; empty if nothing was
    is_constant: bool  # whether the method is the best constant answer, with which tables compare other methods
    is_one_system: bool  # whether a seed is a system whose significance tests need no further seeds
    reads: list[
        str
    ]  # the configuration keys that the method reads; a name that ends in a dot means all keys that begin with it
    unanswered: list[str]  # ids of the suite's tasks that it cannot answer


class StageRecord(TypedDict):
    """The content of a finished stage's done.json."""

    seconds: Amount  # how long the stage took
    peak_memory: Count  # in bytes
    # The learning curve, a row for each validation, with scores × 100 by `dev/TASK`.
    curve: Annotated[list[dict[str, Annotated[float, Meta(ge=-1e300, le=1e300)]]], Meta(min_length=1)]
    key: NotRequired[str]  # of a stage 1 (`mtl.methods.lstm.shared_stage1`)
    trained_in: NotRequired[str]  # the folder of the stage 1 that this one is a copy of


class Chosen(TypedDict):
    """What a floor has chosen for a task."""

    settings: dict[str, Any]  # the settings with the best score on dev
    seconds: Amount  # how long the choice took
    peak_memory: NotRequired[Count]  # in bytes


def read_stage(path: Path) -> StageRecord:
    """The record of a finished stage. Raises InputError if it is missing or of another form."""
    record = read_json(path, StageRecord)
    if not all({"step", "dev/average"} <= set(row) for row in record["curve"]):
        raise InputError(f"a row has no step or no dev/average; {AGAIN}", path=path, key="curve")
    return record


class RecordedRows(TypedDict):
    """The rows that a task is scored on."""

    texts: str  # a hash of their texts
    # The groups of rows that belong together, numbers; None: each row is apart.
    groups: list[Annotated[int, Meta(ge=0, lt=2**31)]] | None
    # The number of candidates of each row of a choice, or of units.
    candidates: NotRequired[list[Annotated[int, Meta(ge=1, lt=2**31)]]]
    columns: NotRequired[dict[str, list[str]]]  # the values that metrics and breakdowns read
    lines: NotRequired[list[Count]]  # their lines in the data file, where they are a sample of its rows


class Finished(TypedDict):
    """What the content of summary.json says of seeds; `mtl.runs.summary.Summary` is all of it."""

    seeds: Annotated[list[Seed], Meta(min_length=1)]


class RunFolder:
    """The paths in a run's folder, and the check that the folder belongs to one configuration and its data."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"
        self.suite = path / "suite.yaml"
        self.inputs = path / "inputs.json"
        self.sources = path / "sources.json"
        self.answers = path / "answers.json"
        self.held_out = path / "held_out.json"
        self.scored_rows = path / "scored_rows.json"
        self.summary = path / "summary.json"
        self.table = path / "table.md"

    def seed(self, seed: int) -> Path:
        return self.path / f"seed-{seed}"

    def scores(self, seed: int) -> Path:
        """The seed's scores; the file exists when the seed is done."""
        return self.seed(seed) / "scores.json"

    def stages(self, seed: int) -> list[Path]:
        """The records of the seed's finished stages, with their learning curves: stage 1, then stage 2 of each task."""
        folder = self.seed(seed)
        files = [pretrain_folder(folder) / "done.json", *sorted(folder.glob("finetune/*/done.json"))]
        return [file for file in files if file.exists()]

    def predictions(self, seed: int, split: str, task: str) -> Path:
        return self.seed(seed) / "predictions" / FILE.format(split=split, task=task)

    def gold(self, split: str, task: str) -> Path:
        """The targets of the rows that the task is scored on, in the order of the predictions."""
        return self.path / "gold" / f"{split}_{task}.tsv"

    def submission(self, seed: int) -> Path:
        """The zip for the leaderboard, of suites whose submissions have the format `zip`."""
        return self.seed(seed) / "submission.zip"

    def submission_folder(self, seed: int) -> Path:
        """The files for the leaderboard, of suites whose submissions have another format."""
        return self.seed(seed) / "submission"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder's lock (`mtl.base.locks.lock`) within the block; first remove files that a killed process did not complete. A new folder
        in which the block writes nothing is removed. Raises BusyError if another process holds the lock, and InputError if the folder cannot be
        written to, and if it holds links, through which files elsewhere would be changed."""
        with without_empty_folders(self.path), ExitStack() as held:
            try:
                if self.path.is_dir():
                    check_plain_folder(self.path)
                held.enter_context(lock(self.path / LOCK))
                for partial in list(self.path.rglob(".*.partial")):
                    if partial.is_dir():
                        shutil.rmtree(partial)
                    else:
                        partial.unlink(missing_ok=True)  # its folder may have been such a file
            except Busy as error:
                problem = f"another process is running in this folder; wait until it has ended{error}"
                raise BusyError(problem, path=self.path) from None
            except OSError as error:
                if error.errno == EMFILE:  # many runs at once
                    raise
                raise InputError(f"cannot be written ({error.strerror}); set run_dir=", path=self.path) from None
            try:
                yield
            finally:
                if all(path.name.startswith(LOCK) for path in self.path.iterdir()):  # nothing was begun
                    (self.path / LOCK).unlink(missing_ok=True)

    def read_inputs(self) -> dict[str, str]:
        """The fingerprints of the run's inputs, by name, with the keys `format` and `precision`. Raises InputError if there are none, or if
        another version of mtl made the folder."""
        inputs = read_json(self.inputs, dict[str, str])
        if (version := inputs.get("format")) != FORMAT:
            problem = f"has format {version}, that of another version of mtl; this version reads format {FORMAT}"
            raise InputError(f"{problem}; {REMEDY}", path=self.path)
        return inputs

    def read_table(self) -> str:
        """The table of a finished run. What is not UTF-8 in the table of a stranger's run is shown as a replacement character."""
        return read_bytes(self.table, YAML_LIMIT).decode("utf-8", errors="replace")

    def read_scored_rows(self) -> dict[str, RecordedRows]:
        """What the run has recorded of the rows that its tasks are scored on, by task id; empty if it has recorded nothing."""
        return read_json(self.scored_rows, dict[str, RecordedRows]) if self.scored_rows.exists() else {}

    def finished_seeds(self) -> set[int]:
        """The seeds that the summary is of; none if the run is not finished. Raises InputError for a damaged summary."""
        return set(read_json(self.summary, Finished)["seeds"]) if self.summary.exists() else set()

    def check(self, config: Config, takes_seeds: bool = False) -> None:
        """Raise InputError, which names the keys, if the folder belongs to another configuration or to another version of mtl. If it `takes_seeds`,
        the configuration may have seeds besides those of the finished run, or only some of these."""
        if self.config.exists():
            self.read_inputs()
            keys, done, asked = differences(self.config, config), self.finished_seeds(), set(config.seeds)
            if takes_seeds and (done <= asked or asked <= done):
                keys = [key for key in keys if not key.startswith("seeds:")]
            if keys:
                remedy = IMPORT_REMEDY if any(key.startswith("imported.") for key in keys) else REMEDY
                raise InputError(f"was made with another configuration ({'; '.join(keys)}); {remedy}", path=self.path)

    def check_precision(self, precision: str) -> None:
        """Raise InputError if the run was begun in another precision: `trainer.precision` may mean another one on another machine."""
        if self.config.exists() and (begun := self.read_inputs().get("precision")) != precision:
            force = ", set trainer.force_precision=true" if begun == "bf16-mixed" else ""
            raise InputError(
                f"{self.path}: was begun in precision {begun}, and this machine would continue in {precision}; continue on"
                f" a machine like the first{force}, {REMEDY}"
            )

    def claim(self, config: Config, inputs: dict[str, str], precision: str) -> None:
        """Make a new folder belong to this configuration, these inputs (fingerprints by name) and this precision; of an older folder, check the
        inputs, as `check_inputs` does. The files of a finished run stay until further seeds are done."""
        if self.config.exists():
            self.check_inputs(inputs)
        else:
            write_json(self.inputs, {"format": FORMAT, "precision": precision, **inputs})
        if not self.summary.exists():
            self.save(config)

    def save(self, config: Config) -> None:
        """Write the configuration, unless the one in the folder makes the same results."""
        if not self.config.exists() or differences(self.config, config):
            save_config(config, self.config)

    def changed_inputs(self, inputs: dict[str, str]) -> list[str]:
        """The names of those of these inputs that are not what they were when the run was started."""
        before = self.read_inputs()
        names = {*inputs, *(name for name in before if name.startswith("tasks."))}
        return sorted(name for name in names if before.get(name) != inputs.get(name))

    def check_inputs(self, inputs: dict[str, str]) -> None:
        """Raise InputError, which names the inputs, if any of these inputs have changed since the run was started."""
        if changed := ", ".join(self.changed_inputs(inputs)):
            remedy = IMPORT_REMEDY if "predictions of seed" in changed else REMEDY
            raise InputError(f"its inputs have changed since it was begun ({changed}); {remedy}", path=self.path)


def seed_lock(folder: Path) -> AbstractContextManager[None]:
    """Hold the lock of a seed's folder within the block. If another process trains the seed, wait until it has ended or is lost."""
    return named_lock(folder / TRAINING, f"{folder}: another process trains this seed")


def recorded_rows(task: Task, gold: Path, folder: RunFolder) -> ScoredRows:
    """The rows that a run's task is scored on: the targets in this file, with the candidates and columns that the run recorded. Raises InputError
    if the file or the record is damaged."""
    recorded: Mapping[str, Any] = folder.read_scored_rows().get(task.id, {})
    columns = recorded.get("columns", {})
    candidates = None if "candidates" not in recorded else np.array(recorded["candidates"], dtype=np.int64)
    targets = read_targets(task, gold, candidates)
    counts = {len(values) for values in (targets if candidates is None else candidates, *columns.values())}
    if counts != {len(targets)} or not set(task.columns or ()) <= set(columns):
        raise InputError(f"{task.id}: not rows as mtl baseline records them", path=folder.scored_rows)
    return ScoredRows(targets, candidates, columns)


def recorded_groups(texts: str, groups: Sequence[int] | None, rows: int) -> tuple[str, np.ndarray]:
    """A key that is equal for the same rows in the same groups, and the group of each of so many rows, numbers from 0, int64 (rows,); from what
    `describe_rows` says of them."""
    # With only one group, groups cannot be resampled, so each row counts as a group.
    names = np.arange(rows) if groups is None or len(set(groups)) == 1 else np.array(groups)
    key = hashlib.sha256(repr((texts, groups)).encode()).hexdigest()
    return key, np.unique(names, return_inverse=True)[1]


def scored_rows(task: Task, examples: Sequence[Example]) -> ScoredRows:
    """These rows, which all have targets, as metrics read them."""
    targets = np.array([example.target for example in examples], dtype=target_kind(task).dtype)
    columns = {name: [row.columns[number] for row in examples] for number, name in enumerate(task.further_columns)}
    return ScoredRows(targets, row_sizes(task, examples), columns)
