"""Files of annotated tokens in the form of CoNLL: a token and its labels on each line, and an empty line after each sentence. The cells of a line are
set apart by tabs if the first token's are, else by spaces; all lines have as many. Comments stand before a sentence: `# key = value`, lines with tabs
whose first cell is "## " and a text, and other lines after "#" that have not so many cells. `# newdoc` and the token -DOCSTART- begin a document.
Where the first cells of a sentence count its tokens, as in CoNLL-U, lines for several tokens (3-4) and for empty nodes (3.1) are left out."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from mtl.base.errors import InputError

CONLL_U = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
INVISIBLE = " \t\r\n\ufeff\u200b"  # all that an empty line may hold
DOCUMENT_TOKEN = "-DOCSTART-"
DOCUMENT = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(?P<id>.*))?")
COMMENT = re.compile(r"# *([\w.:]+ *=|new(doc|par)\b)|## [^\t]*\S.*\t")
TEXT = re.compile(r"# *text *=\s*(.*)")
UNCOUNTED = re.compile(r"(\d{1,18})([-.])(\d{1,18})")  # the number of a word for several tokens, or of an empty node


@dataclass
class Sentence:
    """The tokens of a sentence."""

    document: str = ""  # the id or the number of its document; empty: none has begun
    text: str = ""  # as the comment before it says; empty: none says it
    line: int = 0  # the first one with a token; 0: there is none
    rows: list[list[str]] = field(default_factory=list)  # the cells of each token


def conll_columns(width: int, header: Sequence[str] | None) -> Sequence[str]:
    """The names of the columns of a file with so many cells on a line, if no header names them."""
    return header or (CONLL_U if width == len(CONLL_U) else [f"column_{number}" for number in range(1, width + 1)])


def sentences(path: Path, lines: Iterable[str], width: int | None) -> Iterator[Sentence]:
    """The sentences of a file with these lines, which have no line ends. Without a `width`, all lines have as many cells as the first token.
    Raises InputError, which names the file and the line, for a line with another number of cells, and for a file without tokens."""
    lines, first = _peeked(lines)
    if first is None:
        raise InputError("no tokens", path=path)
    separator = "\t" if "\t" in first else " "
    expected = "header: names" if width else "the first token has"
    width = width or len(_cells(first, separator))
    sentence, document_numbers = Sentence(), count(1)
    for number, line in enumerate(chain(lines, [""]), start=1):
        cells = _cells(line, separator)
        if line.startswith(" ") and len(cells) == width - 1:
            cells.insert(0, "")  # a token of invisible characters
        if not line.strip(INVISIBLE):
            if sentence.rows:
                yield _drop_uncounted(sentence)
                sentence = Sentence(sentence.document)
        elif line.startswith("#") and not sentence.rows and (COMMENT.match(line) or len(cells) != width):
            _read_comment(line, sentence, document_numbers)
        elif cells[0] == DOCUMENT_TOKEN:
            sentence.document = str(next(document_numbers))
        elif len(cells) < width or any(cells[width:]):
            rule = "write a token on each line, and an empty line between sentences"
            raise InputError(f"{len(cells)} cells where {expected} {width}; {rule}", path=path, line=number)
        else:
            sentence.line = sentence.line or number
            sentence.rows.append(cells[:width])


def _read_comment(line: str, sentence: Sentence, document_numbers: Iterator[int]) -> None:
    """Note the document or the text of the sentence, if the comment before it says one. A document without an id takes the next number."""
    if match := DOCUMENT.fullmatch(line.strip()):
        number = next(document_numbers)
        sentence.document = match["id"] or str(number)
    elif match := TEXT.match(line):
        sentence.text = match[1].strip()


def _cells(line: str, separator: str) -> list[str]:
    """The cells of a line; spaces may stand between them in any number."""
    cells = line.split(separator)
    return cells if separator == "\t" else list(filter(None, cells))


def _peeked(lines: Iterable[str]) -> tuple[Iterator[str], str | None]:
    """The lines, and the first of them that holds a token; None if none does."""
    lines, head = iter(lines), list[str]()
    for line in lines:
        head.append(line)
        if line.strip().strip(INVISIBLE) and not line.startswith(("#", DOCUMENT_TOKEN)):
            return chain(head, lines), line
    return iter(head), None


def _drop_uncounted(sentence: Sentence) -> Sentence:
    """The sentence without a comment of as many cells as a token, and without lines for several or no tokens, if the first cells count the tokens."""
    # In a file of two columns, the words "#" and "1" follow each other; a counter stands beside a word and its label.
    if [cells[0] for cells in sentence.rows[:2]] == ["#", "1"] and len(sentence.rows[0]) > 2:
        sentence.rows = sentence.rows[1:]
    numbers = [cells[0] for cells in sentence.rows if not UNCOUNTED.fullmatch(cells[0])]
    if numbers and numbers == [str(number) for number in range(1, len(numbers) + 1)]:
        counted: list[list[str]] = []
        for cells in sentence.rows:
            match = UNCOUNTED.fullmatch(cells[0])
            # The word 3-4 stands after 2 tokens, and the node 3.1 after 3; elsewhere, such a text is a token.
            if match is None or len(counted) != int(match[1]) - {"-": 1, ".": 0}[match[2]]:
                counted.append(cells)
        sentence.rows = counted
    return sentence
