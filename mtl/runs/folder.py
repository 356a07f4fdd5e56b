"""A run's folder: its files, the configuration that it belongs to, and a lock that lets only one process write to it."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mtl.config.files import differences, flatten, save_config
from mtl.config.schema import Config
from mtl.errors import InputError
from mtl.files import read_json, write_json
from mtl.locks import Busy, lock
from mtl.methods import FORMER_NAMES
from mtl.methods.folders import FORMAT, seed_folder
from mtl.untrusted import read_yaml

SAME_RESULTS = ("2",)  # older formats whose finished runs have the same results as runs of this version


class RunFolder:
    """The paths in a run's folder, and the check that the folder belongs to one configuration and its data."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"
        self.suite = path / "suite.yaml"
        self.inputs = path / "inputs.json"
        self.answers = path / "answers.json"
        self.held_out = path / "held_out.json"
        older = path / "dev_rows.json"  # the file's name in runs of format 2
        self.scored_rows = older if older.exists() else path / "scored_rows.json"
        self.summary = path / "summary.json"
        self.table = path / "table.md"

    def seed(self, seed: int) -> Path:
        return seed_folder(self.path, seed)

    def scores(self, seed: int) -> Path:
        """The seed's scores; the file exists when the seed is done."""
        return self.seed(seed) / "scores.json"

    def stages(self, seed: int) -> list[Path]:
        """The records of the seed's finished stages, with their learning curves: stage 1, then stage 2 of each task."""
        files = [self.seed(seed) / "pretrain" / "done.json", *sorted(self.seed(seed).glob("finetune/*/done.json"))]
        return [file for file in files if file.exists()]

    def predictions(self, seed: int, split: str, task: str) -> Path:
        return self.seed(seed) / "predictions" / f"{split}_pred_{task}.tsv"

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
        """Hold the folder's lock (`mtl.files.lock`) within the block; first remove files that a killed process did not complete.

        Raises InputError if another process holds the lock, or if the folder cannot be written to.
        """
        with ExitStack() as held:
            try:
                held.enter_context(lock(self.path / ".lock"))
                for partial in list(self.path.rglob(".*.partial")):
                    if partial.is_dir():
                        shutil.rmtree(partial)
                    else:
                        partial.unlink(missing_ok=True)  # its folder may have been such a file
            except Busy as error:
                raise InputError(
                    f"{self.path}: another process is running in this folder; wait until it has ended{error}"
                ) from None
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written ({error.strerror}); set run_dir=") from None
            yield

    def check(self, config: Config) -> None:
        """Raise InputError if the folder belongs to a version of mtl with other results, or to another configuration. The error
        names the keys that differ."""
        if not self.config.exists():
            return
        written = read_json(self.inputs).get("format")
        same = self.summary.exists() and written in SAME_RESULTS and config.method not in FORMER_NAMES
        if written != FORMAT and not same:
            raise InputError(
                f"{self.path}: was begun by another version of mtl, which this one cannot continue; "
                "set run_dir= or remove the folder"
            )
        if keys := differences(self.config, config):
            raise InputError(
                f"{self.path}: was made with another configuration ({'; '.join(keys)}); set run_dir= or remove the folder"
            )

    def check_precision(self, precision: str) -> None:
        """Raise InputError if the run was begun in another precision (`mtl.training.precision.used_precision`) than this one.

        `trainer.precision` may mean another precision on another machine. A run of an older version has no record of it; only in
        float32 are its results those of this version.
        """
        if not self.config.exists():
            return
        begun = read_json(self.inputs).get("precision")
        if begun is None:
            begun = str(flatten(read_yaml(self.config)).get("trainer.precision", "32-true"))
            if begun != "32-true":
                raise InputError(
                    f"{self.path}: was begun in {begun} by another version of mtl, which this one cannot continue; "
                    "set run_dir= or remove the folder"
                )
        if begun != precision:
            raise InputError(
                f"{self.path}: was begun in precision {begun}, and this machine would continue in {precision}; continue on"
                " a machine like the first"
                + (", set trainer.force_precision=true" if begun == "bf16-mixed" else "")
                + ", set run_dir= or remove the folder"
            )

    def claim(self, config: Config, inputs: dict[str, str], precision: str) -> None:
        """Make a new folder belong to this configuration, these inputs and this precision; of an older folder, check the inputs.

        inputs: fingerprints by name. Raises InputError that names the inputs that have changed.
        """
        if self.config.exists():
            self.check_inputs(inputs)
        else:
            write_json(self.inputs, {"format": FORMAT, "precision": precision, **inputs})
            save_config(config, self.config)

    def changed_inputs(self, inputs: dict[str, str]) -> list[str]:
        """The names of those of these inputs that are not what they were when the run was started."""
        before = read_json(self.inputs)
        names = {*inputs, *(name for name in before if name.startswith("tasks."))}
        return sorted(name for name in names if before.get(name) != inputs.get(name))

    def check_inputs(self, inputs: dict[str, str]) -> None:
        """Raise InputError, which names the inputs, if any of these inputs have changed since the run was started."""
        if changed := self.changed_inputs(inputs):
            raise InputError(
                f"{self.path}: its inputs have changed since it was begun ({', '.join(changed)}); "
                "set run_dir= or remove the folder"
            )
