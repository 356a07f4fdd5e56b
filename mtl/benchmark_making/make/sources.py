"""The sources of a recipe: data files, and files of annotated tokens in the form of CoNLL."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mtl.base.errors import InputError
from mtl.base.typed import AT_LEAST_ONE
from mtl.base.untrusted import inside, is_inside
from mtl.benchmark_making.make.table import Origin, SourceRow, Table, Values
from mtl.data.columns import LIST
from mtl.data.conll import sentences
from mtl.data.files import data_lines
from mtl.data.records import column_names, read_records
from mtl.tasks.task import PART, Layout, Reading

TOKENS, TAGS = f"tokens{LIST}", f"tags{LIST}"


@dataclass
class TokenColumns:
    """Where the cells of a token file are: columns by number, from 1."""

    form: Annotated[int, AT_LEAST_ONE]  # the column of the tokens
    tag: Annotated[int, AT_LEAST_ONE]  # the column of the tags


@dataclass
class RecipeSource:
    """One source of a recipe."""

    file: str  # its path below the data folder
    header: list[str] | None = None  # the columns of a tsv or csv file without a header line
    reading: Reading | None = None  # how the file is read, where its name does not say so, as in a suite file
    tokens: TokenColumns | None = None  # for a token file. Any other file's suffix says its format.

    def check(self) -> None:
        """Raise InputError for a path outside the data folder."""
        if not is_inside(self.file):
            raise InputError("must be a path below the data folder, without '..'", key="file", value=self.file)
        if self.reading is not None and (problem := self.reading.problem):
            raise InputError(problem, key="reading")


def read_source(name: str, source: RecipeSource, data_dir: Path) -> Table:
    """The rows of a source with all of its columns, those of lists included. A row may lack values.

    A token file has one row for each sentence, with the columns text, tokens[], tags[] and document.

    Raises:
        InputError: as `mtl.data.records.read_records` does, and for a link that leads out of the data folder.
    """
    path = inside(data_dir, source.file.partition(PART)[0])
    if source.tokens is not None:
        rows = [SourceRow(values, (Origin(source.file, line),)) for line, values in _sentences(path, source.tokens)]
        return Table(name, ["text", TOKENS, TAGS, "document"], rows)
    layout = Layout(source.header, source.reading or Reading(), source.file.partition(PART)[2] or None)
    columns = column_names(path, layout)
    records = read_records(path, [], columns, layout)
    rows = [
        SourceRow(dict(zip(columns, each.values, strict=True)), (Origin(source.file, each.line),)) for each in records
    ]
    return Table(name, columns, rows)


def _sentences(path: Path, tokens: TokenColumns) -> Iterator[tuple[int, Values]]:
    """The sentences of a token file (`mtl.data.conll`), each with the line of its first token.

    The sentence's text stands in a line `# text = …`; without it, the text is the tokens with spaces between them, but for those
    after a token with SpaceAfter=No.
    """
    lines = (line.rstrip("\r\n") for line in data_lines(path, None, None))
    for sentence in sentences(path, lines, None):
        if len(sentence.rows[0]) < max(tokens.form, tokens.tag):
            problem = f"{len(sentence.rows[0])} cells, but tokens: names column {max(tokens.form, tokens.tag)}"
            raise InputError(problem, path=path, line=sentence.line)
        forms, tags = ([cells[column - 1] for cells in sentence.rows] for column in (tokens.form, tokens.tag))
        glue = ("" if "SpaceAfter=No" in cells[-1] else " " for cells in sentence.rows)
        text = sentence.text or "".join(form + space for form, space in zip(forms, glue, strict=True)).rstrip()
        yield sentence.line, {"text": text, TOKENS: forms, TAGS: tags, "document": sentence.document}
