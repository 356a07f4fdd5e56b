"""Spans that the columns of a row mark in its texts: read from cells, checked, and their texts."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mtl.data.records import Value, column_names
from mtl.tasks.layout import Layout
from mtl.tasks.task import COUNTED, Task

INTEGER = re.compile(r"[0-9]{1,18}")
Span = tuple[int, int]  # the characters of a text (code points) from the first number to before the second


def words_columns(task: Task, path: Path, layout: Layout) -> dict[str, str]:
    """The columns of the file that hold the words that spans mark, each with its span's column."""
    possible = {f"{column.rpartition('.')[0]}.text": column for _, column in task.marked if "." in column}
    names = set(column_names(path, layout)) if possible else set()
    return {words: column for words, column in possible.items() if words in names and words not in task.text_columns}


def parse_span(column: str, text: str, cells: Sequence[Value], typed: bool) -> tuple[Value, Value]:
    """Start and stop of a span: what its columns hold, or what their words and place mean. Raises ValueError if the words do not stand there."""
    if not typed:
        cells = [int(cell) if isinstance(cell, str) and INTEGER.fullmatch(cell) else cell for cell in cells]
    first, second = cells
    match = COUNTED.search(column)
    if match is None:
        return first, second
    # Words are counted with white space between them, or characters.
    starts = [word.start() for word in re.finditer(r"\S+", text)] if match[1] == "words" else range(len(text))
    words = str(second)
    number = first - int(match[2]) if isinstance(first, int) else -1
    if not 0 <= number < len(starts) or not text.startswith(words, starts[number]):
        raise ValueError(f"span {column!r}: {words!r} does not stand at {first} of its text")
    return starts[number], starts[number] + len(words)


def make_spans(task: Task, texts: Sequence[str], ends: Sequence[object]) -> tuple[Span, ...]:
    """The spans of a row with these texts, from their ends, in the order of `Task.marked`. Raises ValueError for one that is not within its text."""
    spans = []
    for (side, column), span in zip(task.marked, ends, strict=True):
        if not isinstance(span, list | tuple) or len(span) != 2 or not all(type(end) is int for end in span):
            raise ValueError(f"span {column!r}: two integers are expected, start and stop, not {span!r}")
        start, stop = span
        size = len(texts[side])
        if not 0 <= start < stop <= size:
            raise ValueError(f"span {column!r}: {start} to {stop} is not within its text, which has {size} characters")
        spans.append((start, stop))
    return tuple(spans)


def span_texts(task: Task, texts: Sequence[str], spans: Sequence[Span]) -> tuple[str, ...]:
    """The text of each span (`Example.spans`) in the texts of an input."""
    return tuple(texts[side][start:stop] for (side, _), (start, stop) in zip(task.marked, spans, strict=True))


def check_words(task: Task, texts: Sequence[str], spans: Sequence[Span], words: Mapping[str, Value | None]) -> None:
    """Raise ValueError for a span that marks other words in the texts of an input than those of its column."""
    for (_, column), marked in zip(task.marked, span_texts(task, texts, spans), strict=True):
        value = words.get(column)
        if isinstance(value, str) and value != marked:
            raise ValueError(f"span {column!r} marks {marked!r}, but the text beside it is {value!r}")
