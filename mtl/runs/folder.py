"""A run's folder: what is in it, which configuration it belongs to, and that one process at a time writes to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mtl.config.files import differences, save_config
from mtl.config.schema import Config
from mtl.errors import InputError
from mtl.files import Busy, lock, read_json, write_json

# Raised when the same configuration and inputs come to give other results, or a seed's folder another layout, so that no run is
# begun by one version of the code and continued by another.
FORMAT = "3"
SAME_RESULTS = ("2",)  # formats whose finished runs have the results that this version would have


class RunFolder:
    """Paths in a run's folder, and the claim that a configuration and its data have on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"
        self.suite = path / "suite.yaml"
        self.inputs = path / "inputs.json"
        self.answers = path / "answers.json"
        self.held_out = path / "held_out.json"
        older = path / "dev_rows.json"  # its name in runs of format 2
        self.scored_rows = older if older.exists() else path / "scored_rows.json"
        self.summary = path / "summary.json"
        self.table = path / "table.md"

    def seed(self, seed: int) -> Path:
        return self.path / f"seed-{seed}"

    def scores(self, seed: int) -> Path:
        """There when the seed is done."""
        return self.seed(seed) / "scores.json"

    def stages(self, seed: int) -> list[Path]:
        """The records of the seed's trainings that have ended, with their learning curves: stage 1's, then stage 2's by task."""
        files = [self.seed(seed) / "pretrain" / "done.json", *sorted(self.seed(seed).glob("finetune/*/done.json"))]
        return [file for file in files if file.exists()]

    def predictions(self, seed: int, split: str, task: str) -> Path:
        return self.seed(seed) / "predictions" / f"{split}_pred_{task}.tsv"

    def gold(self, split: str, task: str) -> Path:
        """The targets of the rows that the task is scored on, in the order of the predictions."""
        return self.path / "gold" / f"{split}_{task}.tsv"

    def submission(self, seed: int) -> Path:
        return self.seed(seed) / "submission.zip"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder's lock (`mtl.files.lock`) and remove what a killed process left half written.

        Raises InputError when another process holds it, or when it cannot be written.
        """
        try:
            with lock(self.path / ".lock"):
                for partial in self.path.rglob(".*.partial"):  # left by a process that was killed
                    partial.unlink()
                yield
        except Busy as error:
            raise InputError(
                f"{self.path}: another process is running in this folder; wait for it, or set run_dir={error}"
            ) from None
        except (PermissionError, FileExistsError, NotADirectoryError) as error:
            raise InputError(f"{error.filename}: cannot be written ({error.strerror}); set run_dir=") from None

    def check(self, config: Config) -> None:
        """Raise InputError if the folder belongs to a version of mtl with other results, or to another configuration, with the
        differing keys."""
        if not self.config.exists():
            return
        written = read_json(self.inputs).get("format")
        if written != FORMAT and not (self.summary.exists() and written in SAME_RESULTS):
            raise InputError(
                f"{self.path}: was begun by another version of mtl, which this one cannot continue; "
                "set run_dir= or remove the folder"
            )
        if keys := differences(self.config, config):
            raise InputError(
                f"{self.path}: was made with another configuration ({'; '.join(keys)}); set run_dir= or remove the folder"
            )

    def claim(self, config: Config, inputs: dict[str, str]) -> None:
        """Make the folder belong to this configuration and these inputs, by their fingerprints, or check the inputs.

        Raises InputError that names the inputs that have changed.
        """
        if self.config.exists():
            self.check_inputs(inputs)
        else:
            write_json(self.inputs, {"format": FORMAT, **inputs})
            save_config(config, self.config)

    def check_inputs(self, inputs: dict[str, str]) -> None:
        """Raise InputError that names those of these inputs that have changed since the run was begun."""
        before = read_json(self.inputs)
        if changed := sorted(name for name in inputs if before.get(name) != inputs[name]):
            raise InputError(
                f"{self.path}: its inputs have changed since it was begun ({', '.join(changed)}); "
                "set run_dir= or remove the folder"
            )
