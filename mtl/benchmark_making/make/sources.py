"""The sources of a recipe: data files, and files of annotated tokens in the form of CoNLL."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mtl.base.errors import InputError
from mtl.base.typed import AT_LEAST_ONE
from mtl.base.untrusted import inside, is_inside
from mtl.benchmark_making.make.table import Origin, SourceRow, Table, Values
from mtl.data.columns import LIST
from mtl.data.files import read_lines
from mtl.data.records import column_names, read_records
from mtl.tasks.task import PART, Layout, Reading

TOKENS, TAGS = f"tokens{LIST}", f"tags{LIST}"
DOCUMENT = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(?P<id>.*))?")
COMMENT = re.compile(r"# *([\w.:]+ *=|new(doc|par)\b)")
RANGE = re.compile(
    r"\d+[-.]\d+"
)  # in CoNLL-U, the number of a word that stands for the next two, or of one that was left out


@dataclass
class TokenColumns:
    """Where the cells of a token file are: columns by number, from 1.

    Args:
        form: the column of the tokens.
        tag: the column of the tags.
    """

    form: Annotated[int, AT_LEAST_ONE]
    tag: Annotated[int, AT_LEAST_ONE]


@dataclass
class RecipeSource:
    """One source of a recipe.

    Args:
        file: its path below the data folder.
        header: the columns of a tsv or csv file without a header line.
        reading: how the file is read, where its name does not say so, as in a suite file.
        tokens: for a token file. Any other file's suffix says its format.
    """

    file: str
    header: list[str] | None = None
    reading: Reading | None = None
    tokens: TokenColumns | None = None

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
        if not rows:
            raise InputError("no sentences", path=path)
        return Table(name, ["text", TOKENS, TAGS, "document"], rows)
    layout = Layout(source.header, source.reading or Reading(), source.file.partition(PART)[2] or None)
    columns = column_names(path, layout)
    records = read_records(path, [], columns, layout)
    rows = [
        SourceRow(dict(zip(columns, each.values, strict=True)), (Origin(source.file, each.line),)) for each in records
    ]
    return Table(name, columns, rows)


def _sentences(path: Path, tokens: TokenColumns) -> Iterator[tuple[int, Values]]:
    """The sentences of a token file, each with the line of its first token. An empty line ends a sentence.

    Comments stand before a sentence. A "#" may begin a token, too, so a comment is `# key = value`, or a line without tabs in a file with tabs.

    The sentence's text stands in a line `# text = …`; without it, the text is the tokens with spaces between them, but for those
    after a token with SpaceAfter=No. A new document begins with `# newdoc id = …` or with the token -DOCSTART-.
    """
    first = 0
    forms: list[str] = []
    tags: list[str] = []
    text = ""
    document = ""
    documents = 0
    glue = ""
    lines = read_lines(path)
    has_tabs = any("\t" in line for line in lines)
    for number, line in enumerate([*lines, ""], start=1):
        if not line.strip():
            if forms:
                values: Values = {"text": text or glue.rstrip(), TOKENS: forms, TAGS: tags, "document": document}
                yield first, values
            forms, tags, text, glue = [], [], "", ""
        elif line.startswith("#") and not forms and (COMMENT.match(line) or (has_tabs and "\t" not in line)):
            if match := DOCUMENT.fullmatch(line.strip()):
                documents += 1
                document = match["id"] or str(documents)
            elif line.replace(" ", "").startswith("#text="):
                text = line.partition("=")[2].strip()
        else:
            cells = line.split("\t") if "\t" in line else line.split()
            if cells[0] == "-DOCSTART-":
                documents += 1
                document = str(documents)
                continue
            if tokens.form > 1 and RANGE.fullmatch(cells[0]):
                continue
            if len(cells) < max(tokens.form, tokens.tag):
                raise InputError(
                    f"{len(cells)} cells, but tokens: names column {max(tokens.form, tokens.tag)}; an empty line stands"
                    " between sentences",
                    path=path,
                    line=number,
                )
            first = first if forms else number
            forms.append(cells[tokens.form - 1])
            tags.append(cells[tokens.tag - 1])
            glue += forms[-1] + ("" if "SpaceAfter=No" in cells[-1] else " ")
