"""A run's folder: what is in it, whose it is, and that one process at a time writes to it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtl.config.load import Config, differences, read_config, save_config
from mtl.errors import InputError
from mtl.files import Busy, lock, write_text

# Of a run's results: raised when the same configuration and inputs come to give other ones, so that no run is begun
# by one version of the code and continued by another.
FORMAT = "2"


class RunFolder:
    """Paths in a run's folder, and the claim that a configuration and its data have on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"
        self.suite = path / "suite.yaml"
        self.inputs = path / "inputs.json"
        self.vocabulary = path / "vocabulary.txt"
        self.held_out = path / "held_out.json"
        self.dev_rows = path / "dev_rows.json"
        self.summary = path / "summary.json"
        self.table = path / "table.md"

    def seed(self, seed: int) -> Path:
        return self.path / f"seed-{seed}"

    def scores(self, seed: int) -> Path:
        """There when the seed is done."""
        return self.seed(seed) / "scores.json"

    def pretrained(self, seed: int) -> Path:
        return self.seed(seed) / "pretrain"

    def finetuned(self, seed: int, task: str) -> Path:
        return self.seed(seed) / "finetune" / task

    def chosen(self, seed: int, task: str) -> Path:
        """The settings of a floor that were best on dev."""
        return self.seed(seed) / "chosen" / f"{task}.json"

    def stages(self, seed: int) -> list[Path]:
        """What each training that has ended left of its learning curve: stage 1's first, then stage 2's by task."""
        files = [self.pretrained(seed) / "done.json", *sorted(self.seed(seed).glob("finetune/*/done.json"))]
        return [file for file in files if file.exists()]

    def predictions(self, seed: int, split: str, task: str) -> Path:
        return self.seed(seed) / "predictions" / f"{split}_pred_{task}.tsv"

    def gold(self, task: str) -> Path:
        """The targets of the task's dev rows, in the order of the predictions."""
        return self.path / "gold" / f"dev_{task}.tsv"

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
        """Raise InputError that names the differing keys if the folder is another configuration's."""
        if self.config.exists() and (keys := differences(read_config(self.config), config)):
            raise InputError(
                f"{self.path}: was made with another configuration ({'; '.join(keys)}); set run_dir= or remove the folder"
            )

    def claim(self, config: Config, inputs: dict[str, str]) -> None:
        """Make the folder this configuration's and these inputs', by their fingerprints, or check that it is.

        Raises InputError that names the inputs that have changed.
        """
        if self.config.exists():
            self.check_inputs(inputs)
        else:
            write_json(self.inputs, {"format": FORMAT, **inputs})
            save_config(config, self.config)

    def check_inputs(self, inputs: dict[str, str]) -> None:
        """Raise InputError that names those of these inputs that are not as they were when the run was begun."""
        before = read_json(self.inputs)
        if before.get("format") != FORMAT:
            raise InputError(
                f"{self.path}: was made by a version of mtl that splits or trains in another way; "
                "set run_dir= or remove the folder"
            )
        if changed := sorted(name for name in inputs if before.get(name) != inputs[name]):
            raise InputError(
                f"{self.path}: its inputs have changed since it was begun ({', '.join(changed)}); "
                "set run_dir= or remove the folder"
            )


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises InputError if it is not one."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; is {path.parent} a run folder?") from None
    except ValueError as error:
        raise InputError(
            f"{path}: not JSON: {error}; restore it, or remove the run's folder and run it again"
        ) from None
