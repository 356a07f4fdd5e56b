"""The sources of a recipe: data files, which become tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.untrusted import inside, is_inside
from mtl.benchmark_making.make.table import TOKENS, Origin, SourceRow, Table, Values
from mtl.data.records import column_names, read_records
from mtl.tasks.task import PART, Layout, Reading

TEXT = "text"  # the column of a sentence's text, in a file of tokens


class SourceTable(NamedTuple):
    """A source that was read."""

    file: str  # as the recipe names it
    table: Table
    sha256: str  # of the file


Sources = Mapping[str, SourceTable]  # by table


@dataclass
class RecipeSource:
    """A data file that a recipe reads."""

    file: str  # its path below the data folder
    header: list[str] | None = None  # the columns of a file without a header line, or of a file of tokens
    reading: Reading | None = None  # how the file is read, where its name does not say so, as in a suite file

    def check(self) -> None:
        """Raise InputError for a path outside the data folder."""
        if not is_inside(self.file):
            raise InputError("must be a path below the data folder, without '..'", key="file", value=self.file)
        if self.reading is not None and (problem := self.reading.problem):
            raise InputError(problem, key="reading")

    def read(self, name: str, data_dir: Path) -> SourceTable:
        """The rows of the source with all of its columns, those of lists included, as a table with this name. A row may lack values; a sentence whose
        text no comment says has its tokens with spaces between them. Raises InputError as `read_records` does, and for a link out of the folder."""
        file, _, part = self.file.partition(PART)
        path, layout = inside(data_dir, file), Layout(self.header, self.reading or Reading(), part or None)
        columns = column_names(path, layout)
        rows = []
        for record in read_records(path, [], columns, layout):
            values: Values = dict(zip(columns, record.values, strict=True))
            if isinstance(tokens := values.get(TOKENS), list) and values.get(TEXT) is None:
                values = {**values, TEXT: " ".join(tokens)}
            rows.append(SourceRow(values, (Origin(self.file, record.line),)))
        table = Table(name, list(dict.fromkeys([*([TEXT] if TOKENS in columns else []), *columns])), rows)
        return SourceTable(self.file, table, sha256(path))
