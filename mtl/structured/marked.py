"""Texts with marked spans, given by their characters, as tokens with tags: `[[0, 6, "CITY"]]` of "Warsaw sleeps" as B-CITY and O. A token is a run of
letters and digits, a letter of a script without spaces between words, or any other sign. A span that begins or ends within a token has the whole
token. A span does not count if it is empty, is not within the text, holds no token, or shares one with a longer span or with an equally long one
before it. The log says once for each file how many spans of either kind there are."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import category

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.data.columns import LIST, TAGS, TOKENS, items_of, nested_value, text, value_of
from mtl.data.forms import NumberedRows
from mtl.tasks.task import BESIDE

OUTSIDE = "O"
# Scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, Kana, Han. Each of their letters is a word.
UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"

Span = tuple[int, int, str]  # its first character, the one after its last, and its type


@cache
def word_pattern() -> re.Pattern[str]:
    """A pattern of words, with the marks of their letters (in many scripts, a vowel sign is a mark), and of single other signs."""
    marks = "".join(re.escape(chr(code)) for code in range(0x10000) if category(chr(code)).startswith("M"))
    return re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)(?:(?![{UNSPACED}])[\w{marks}])*|[^\w\s]")


def word_bounds(content: str) -> list[tuple[int, int]]:
    """Where each token of a text begins and ends, in characters, half-open."""
    return [match.span() for match in word_pattern().finditer(content)]


def tokens_with_tags(content: str, spans: Sequence[Span]) -> tuple[list[str], list[str], int, int]:
    """The tokens and tags of a text with marked spans; how many spans begin or end within a token; how many do not count."""
    bounds = word_bounds(content)
    tags = [OUTSIDE] * len(bounds)
    cut = left_out = 0
    longest_first = sorted(dict.fromkeys(spans), key=lambda span: span[1] - span[0], reverse=True)
    for start, stop, span_type in longest_first:
        touched = [number for number, (first, end) in enumerate(bounds) if first < stop and start < end]
        is_taken = any(tags[number] != OUTSIDE for number in touched)
        if is_taken or not touched or not 0 <= start < stop <= len(content):
            left_out += 1
            continue
        first_token, last_token = touched[0], touched[-1]
        if bounds[first_token][0] < start or stop < bounds[last_token][1]:
            cut += 1
        name = re.sub(r"\s+", "_", span_type.strip())
        tags[first_token : last_token + 1] = [f"B-{name}", *[f"I-{name}"] * (last_token - first_token)]
    return [content[first:end] for first, end in bounds], tags, cut, left_out


def with_tags(path: Path, rows: NumberedRows, columns: str) -> NumberedRows:
    """The rows with two further columns, of tokens and of tags. `columns` are those of the text and of the spans, as in `Reading.spans`.
    Raises InputError, which names the line, for a row without the text, and for spans without two integers and a type; and if no span counts."""
    text_column, *span_columns = columns.split(BESIDE)
    span_count = cut = left_out = 0
    for line, row in rows:
        try:
            spans = _spans(row, span_columns)
            tokens, tags, cut_here, left_out_here = tokens_with_tags(text(value_of(row, text_column)), spans)
        except ValueError as error:
            raise InputError(f"reading.spans: {error}", path=path, line=line) from None
        span_count += len(set(spans))
        cut += cut_here
        left_out += left_out_here
        yield line, {**row, TOKENS: tokens, TAGS: tags}
    if span_count and span_count == left_out:
        problem = f"reading.spans: none of {span_count} spans is within its text and has a word"
        remedy = "name its first character, from 0, and the one after its last, in this order"
        raise InputError(f"{problem}; {remedy}", path=path)
    if cut or left_out:
        _warn_once(path, cut, left_out)


@cache
def _warn_once(path: Path, cut: int, left_out: int) -> None:
    message = "%s: marked spans that begin or end within a word, and have the whole word: %s; that do not count: %s"
    logger.warning(message, path, cut, left_out)


def _spans(row: dict[str, Any], columns: Sequence[str]) -> list[Span]:
    """The spans of a row; none without the list, or with null. The columns are paths into the list and its items, such as `spans.start[]`."""
    paths = [column.removesuffix(LIST).split(".") for column in columns]
    # The list is the first value on a path that is no object, or has not the next key. What is left of the paths leads into its items.
    marked, depth = row.get(paths[0][0]), 1
    while isinstance(marked, dict) and depth < len(paths[0]) and paths[0][depth] in marked:
        marked, depth = marked[paths[0][depth]], depth + 1
    spans = []
    for item in items_of(marked):
        start, stop, span_type = (nested_value(item, path[depth:]) for path in paths)
        if start is None:  # some programs leave out a zero
            start = 0
        if not (type(start) is int and type(stop) is int and isinstance(span_type, str) and span_type.strip()):
            raise ValueError(f"a span has two integers and a type, not {start!r}, {stop!r} and {span_type!r}")
        spans.append((start, stop, span_type))
    return spans
