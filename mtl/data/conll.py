"""Files of annotated tokens in the form of CoNLL: a token and its labels on each line, and an empty line after each sentence.

- Cells are set apart by tabs if those of the first token are, else by any number of spaces. All tokens have the same number of cells.
- Comments stand before a sentence: `# key = value`, `# newpar`, in lines with tabs "## " and a text, and every other line after "#" that has another
  number of cells than a token. `# newdoc id = a` begins a document. A line of the token -DOCSTART- begins one, too.
- Where first cells count the tokens of a sentence, as in CoNLL-U, lines for several tokens (`3-4 zum _`) and for none (`4.1 _ _`) are left out."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from mtl.base.errors import InputError

CONLL_U = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
EMPTY = re.compile(r"[ \t\r\n\xa0\ufeff\u200b]*")  # a line of nothing that is seen
DOCUMENT_TOKEN = "-DOCSTART-"
DOCUMENT_COMMENT = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(?P<id>.*))?")
TEXT_COMMENT = re.compile(r"# *text *=\s*(.*)")
# Comments even if they have as many cells as a token: of CoNLL-U, and of KLUE, as in "## klue-1", a tab and the text.
KEY_COMMENT = re.compile(r"# *([\w.:]+ *=|new(doc|par)\b)")
KLUE_COMMENT = re.compile(r"## [^\t]*\S.*\t")
UNCOUNTED = re.compile(r"(\d{1,18})([-.])\d{1,18}")  # the number of a word for several tokens, or of an empty node


@dataclass
class Sentence:
    """The tokens of a sentence."""

    document: str = ""  # the id or the number of its document; empty: none has begun
    text: str = ""  # as the comment before it says; empty: none says it
    line: int = 0  # that of its first row, even if this is no token; 0: there is none
    rows: list[list[str]] = field(default_factory=list)  # the cells of each token


def conll_columns(width: int, header: Sequence[str] | None) -> Sequence[str]:
    """The names of the columns of a file with so many cells on a line: those of the header, else of CoNLL-U, else column_1, column_2 and so on."""
    return header or (CONLL_U if width == len(CONLL_U) else [f"column_{number}" for number in range(1, width + 1)])


def sentences(path: Path, lines: Iterable[str], width: int | None) -> Iterator[Sentence]:
    """The sentences of a file with these lines, which have no line ends. Without a `width`, all lines have as many cells as the first token.
    Raises InputError, which names the file and the line, for a line with another number of cells, and for a file without tokens."""
    remaining = iter(lines)
    first_lines = _lines_to_first_token(path, remaining)
    separator = "\t" if "\t" in first_lines[-1] else " "
    expected = "header: names" if width else "the first token has"
    width = width or len(_cells(first_lines[-1], separator))
    sentence = Sentence()
    documents = 0  # that have begun
    for number, line in enumerate(chain(first_lines, remaining, [""]), start=1):  # an empty line ends the last sentence
        cells = _cells(line, separator, width)
        line_type = _line_type(line, cells, width, is_within_sentence=bool(sentence.rows))
        if line_type != "token" and sentence.rows:
            yield replace(sentence, rows=_tokens(_without_source(sentence.rows)))
            sentence = Sentence(sentence.document)
        if line_type == "token":
            if len(cells) < width or any(cells[width:]):
                rule = "write a token on each line, and an empty line between sentences"
                raise InputError(f"{len(cells)} cells where {expected} {width}; {rule}", path=path, line=number)
            sentence.line = sentence.line or number
            sentence.rows.append(cells[:width])
        elif line_type == "document":
            documents += 1
            comment = DOCUMENT_COMMENT.fullmatch(line.strip())
            sentence.document = (comment and comment["id"]) or str(documents)
        elif line_type == "comment":
            text = TEXT_COMMENT.match(line)
            sentence.text = sentence.text if text is None else text[1].strip()


def _lines_to_first_token(path: Path, lines: Iterator[str]) -> list[str]:
    """These lines up to the first token, which is the last of them. Raises InputError if there is none."""
    first_lines = []
    for line in lines:
        first_lines.append(line)
        if not EMPTY.fullmatch(line) and not line.startswith(("#", DOCUMENT_TOKEN)):
            return first_lines
    raise InputError("no tokens", path=path)


def _cells(line: str, separator: str, width: int | None = None) -> list[str]:
    """The cells of a line. Any number of spaces may stand between two of them. `width` is the number of cells of a token; None: not known yet."""
    cells = line.split(separator) if separator == "\t" else [cell for cell in line.split(separator) if cell]
    # A token of white space, as some tokenizers make it, leaves its cell empty: the line begins with a space and lacks a cell.
    if width is not None and line.startswith(" ") and len(cells) == width - 1:
        return ["", *cells]
    return cells


def _line_type(line: str, cells: Sequence[str], width: int, is_within_sentence: bool) -> str:
    """What a line is: a "token", a "comment", "empty", or a "document", which begins there. A token has `width` cells; a sentence has no comment."""
    if cells and cells[0] == DOCUMENT_TOKEN:
        return "document"
    if EMPTY.fullmatch(line):
        return "empty"
    if is_within_sentence or not line.startswith("#"):
        return "token"
    if len(cells) == width and not KEY_COMMENT.match(line) and not KLUE_COMMENT.match(line):
        return "token"
    return "document" if DOCUMENT_COMMENT.fullmatch(line.strip()) else "comment"


def _without_source(rows: list[list[str]]) -> list[list[str]]:
    """The rows of a sentence without a comment that has as many cells as a token, as the source of a sentence in GermEval: "#" before the token 1."""
    is_source = [row[0] for row in rows[:2]] == ["#", "1"] and len(rows[0]) > 2  # two cells may be words with tags
    return rows[1:] if is_source else rows


def _tokens(rows: list[list[str]]) -> list[list[str]]:
    """The rows of a sentence that are tokens. Where their first cells count them, rows for several tokens, or for none, may stand between them."""
    numbers = [row[0] for row in rows if not UNCOUNTED.fullmatch(row[0])]
    if not numbers or numbers != [str(number) for number in range(1, len(numbers) + 1)]:
        return rows
    tokens: list[list[str]] = []
    for row in rows:
        uncounted = UNCOUNTED.fullmatch(row[0])
        # The word 3-4 stands after 2 tokens, and the node 3.1 after 3; elsewhere, such a text is a token.
        tokens_before = None if uncounted is None else int(uncounted[1]) - (1 if uncounted[2] == "-" else 0)
        if tokens_before != len(tokens):
            tokens.append(row)
    return tokens
