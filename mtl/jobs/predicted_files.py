"""The predictions that another system has made, of one seed: in files, a zip or a folder, or as values that Python code has given."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.submissions.data_rows import Rows
from mtl.submissions.files import JSON_LINES, is_entry, predicted_splits, prediction_names, read_files
from mtl.submissions.lines import ID
from mtl.submissions.row_files import PREDICTION
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


@dataclass(frozen=True)
class PredictedValues:
    """The predictions of one seed, as values, each task's and split's as the lines of a file (`mtl.jobs.values`)."""

    name: str  # what notes call them
    lines: Sources

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the predictions: that of a folder with these lines as files."""
        hashes = {}
        for (id, split), lines in self.lines.items():
            ids = {} if lines.marks.ids is None else {ID: lines.marks.ids}
            columns = {PREDICTION: lines.values, **ids, **lines.marks.columns}
            rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
            content = "".join(json.dumps(row, default=str) + "\n" for row in rows)
            hashes[JSON_LINES.format(split=split, task=id)] = hashlib.sha256(content.encode()).hexdigest()
        return hashlib.sha256("".join(f"{hashes[file]}  {file}\n" for file in sorted(hashes)).encode()).hexdigest()

    def splits(self, suite: Suite) -> set[tuple[str, str]]:
        """The tasks and splits that there are predictions for."""
        return set(self.lines)

    def sources(self, suite: Suite, rows: Rows) -> Sources:
        return self.lines

    def error(self, problem: str) -> InputError:
        return InputError(problem, key="predictions")


SeedPredictions = PredictedFiles | PredictedValues
