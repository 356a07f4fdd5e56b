"""Predictions that another system has written to files, one zip or folder for each seed."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.jobs.values import PredictedValues
from mtl.submissions.data_rows import Rows
from mtl.submissions.files import is_entry, predicted_splits, prediction_names, read_files
from mtl.submissions.row_predictions import Sources, read_sources
from mtl.tasks.suite import Suite


@dataclass(frozen=True)
class PredictedFiles:
    """The predictions of one seed, in a zip or a folder, in the forms that mtl writes. `PredictedValues` has the same methods."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file, or of the names and contents of the files in the folder."""
        if self.path.is_file():
            return sha256(self.path)
        files = sorted(file for file in self.path.rglob("*") if file.is_file())
        listed = "".join(f"{sha256(file)}  {file.relative_to(self.path).as_posix()}\n" for file in files)
        return hashlib.sha256(listed.encode()).hexdigest()

    def splits(self, suite: Suite) -> set[tuple[str, str]]:
        """The tasks and splits that there are predictions for. Raises InputError for files of others, and if there are none."""
        splits = predicted_splits(read_files(self.path, lambda name: False), suite, allowed=is_entry)  # reads none
        if not splits:
            raise self.error(f"has no predictions of suite {suite.name}")
        return splits

    def sources(self, suite: Suite, rows: Rows) -> Sources:
        """The predictions for these rows, by task id and split."""
        wanted = {name for name, (id, _) in prediction_names(suite).items() if id in rows}
        return read_sources(read_files(self.path, wanted.__contains__), suite, rows)

    def error(self, problem: str) -> InputError:
        return InputError(problem, path=self.path)


SeedPredictions = PredictedFiles | PredictedValues
