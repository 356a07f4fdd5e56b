"""A run's folder and those of its seeds: their files, the configuration and inputs that they belong to, and locks that let only one process write."""

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from errno import EMFILE
from pathlib import Path

from mtl.base.errors import BusyError, InputError
from mtl.base.files import without_empty_folders, write_json
from mtl.base.locks import LockHeld, lock, named_lock
from mtl.base.settings.layers import differences, save_config
from mtl.base.settings.schema import Config
from mtl.base.untrusted import check_plain_folder, read_bytes, read_json
from mtl.base.untrusted_yaml import YAML_LIMIT
from mtl.runs.records import FinishedSeeds

LOCK = ".lock"  # in the folder, held while a process works in it
# A named lock: the system's locks do not hold on all file systems between machines, and this one tells which process trains the seed.
TRAINING = ".training.json"
REMEDY = "set run_dir= or another runs_dir=, or remove the folder"
IMPORT_REMEDY = "import under another name, or remove the folder"
PREDICTIONS = "predictions of seed"  # with a seed, the name of an input of an imported run
FILE = "{split}_pred_{task}.tsv"  # of predictions
# Increase it when the same configuration and inputs give other results, or a seed's folder has another layout: no run of another format is read.
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
        """Hold the folder's lock within the block; first remove files that a killed process did not complete. A new folder in which the block writes
        nothing is removed. Raises BusyError if another process holds the lock, and InputError if the folder holds links or cannot be written to."""
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
            except LockHeld as error:
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
        """The fingerprints of the run's inputs, by name, with `format` and `precision`. Raises InputError for none, or another version of mtl."""
        inputs = read_json(self.inputs, dict[str, str])
        if (version := inputs.get("format")) != FORMAT:
            problem = f"has format {version}, that of another version of mtl; this version reads format {FORMAT}"
            raise InputError(f"{problem}; {REMEDY}", path=self.path)
        return inputs

    def read_table(self) -> str:
        """The table of a finished run. What is not UTF-8 in the table of a stranger's run is shown as a replacement character."""
        return read_bytes(self.table, YAML_LIMIT).decode("utf-8", errors="replace")

    def finished_seeds(self) -> set[int]:
        """The seeds that the summary is of; none if the run is not finished. Raises InputError for a damaged summary."""
        return set(read_json(self.summary, FinishedSeeds)["seeds"]) if self.summary.exists() else set()

    def check(self, config: Config, takes_seeds: bool = False) -> None:
        """Raise InputError, which names the keys, if the folder belongs to another configuration or to another version of mtl. If it `takes_seeds`,
        the configuration may have seeds besides those of the finished run, or only some of these."""
        if not self.config.exists():
            return
        self.read_inputs()  # raises for another version
        differing = differences(self.config, config)
        finished, asked = self.finished_seeds(), set(config.seeds)
        if takes_seeds and (finished <= asked or asked <= finished):
            differing = [line for line in differing if not line.startswith("seeds:")]
        if differing:
            remedy = IMPORT_REMEDY if any(line.startswith("imported.") for line in differing) else REMEDY
            raise InputError(f"was made with another configuration ({'; '.join(differing)}); {remedy}", path=self.path)

    def check_same_precision(self, precision: str) -> None:
        """Raise InputError if the run was begun in another precision: `trainer.precision` may mean another one on another machine."""
        begun = self.read_inputs().get("precision") if self.config.exists() else precision
        if begun != precision:
            force = ", set trainer.force_precision=true" if begun == "bf16-mixed" else ""
            problem = f"was begun in precision {begun}, and this machine would continue in {precision}"
            raise InputError(f"{problem}; continue on a machine like the first{force}, {REMEDY}", path=self.path)

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
            remedy = IMPORT_REMEDY if PREDICTIONS in changed else REMEDY
            raise InputError(f"its inputs have changed since it was begun ({changed}); {remedy}", path=self.path)


def seed_lock(folder: Path) -> AbstractContextManager[None]:
    """Hold the lock of a seed's folder within the block. If another process trains the seed, wait until it has ended or is lost."""
    return named_lock(folder / TRAINING, f"{folder}: another process trains this seed")
