"""Marked spans of texts: lists of them with types, whose tokens get tags, and single ones in columns, as the two of a coreference."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mtl.base.wings import MarkedSpans, wings
from mtl.benchmark_making.init_suite.names import Guess
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable
from mtl.benchmark_making.init_suite.wording import count, quoted
from mtl.data.columns import LIST, below
from mtl.data.examples import counted_places
from mtl.tasks.task import BESIDE, COUNTED, SPAN_ENDS, span_ends

MOST_TYPES = 200
SPANS_PER_TYPE = 3  # on average, at least
INCLUSIVE = "may be the last character of each span, and mtl reads the one after it: then add 1 to them in the files"
COMMON = 0.1  # the least share of spans that have a key, or else it is no key of all: objects may have names as keys
WHOLE = 0.9  # the least share of spans that stand in their text, and do not begin or end with spaces
# The words in the names of keys of first characters and of ends; of lists the places.
STARTS, STOPS = {"start", "begin", "from", "0"}, {"end", "stop", "to", "1"}


class SpanList(NamedTuple):
    """A list in each row that holds spans of the row's text. Keys may be nested, with dots between them."""

    name: str
    text: str  # the column of texts
    start: str  # the key of first characters
    stop: str  # the key of ends
    types: Sequence[str]  # the keys that may hold types; the first one is taken

    @property
    def columns(self) -> str:
        """The columns of the text and of its spans as `Reading.spans` names them."""
        return BESIDE.join([self.text, *(f"{self.name}.{key}{LIST}" for key in (self.start, self.stop, self.types[0]))])


class PossibleSpan(NamedTuple):
    """A span as a suite file names it, and the column of the words that it marks, if there is one."""

    name: str
    words: str | None = None


def guess_spans(guess: Guess, table: FileTable) -> str | None:
    """The columns of a text and of its spans as `Reading.spans` names them, with a question in the guess; None unless one list of the file has
    keys of first characters, ends and types that fit one column of texts, and without the wing that reads them."""
    marked = next((wing.marked for wing in wings() if wing.marked), None)
    lists = [spans for name in table.objects if (spans := _span_list(table, name))]
    if marked is None or len(lists) != 1:
        return None
    guess.questions.append(_question(lists[0], table, marked))
    return lists[0].columns


def _span_list(table: FileTable, name: str) -> SpanList | None:
    """How the items of a list are read as spans; None if no way, or more than one, fits."""
    rows = table.objects[name]
    values = _values_by_key(rows)
    integers = [key for key, cells in values.items() if all(cell is None or type(cell) is int for cell in cells)]
    starts, stops = ([key for key in integers if words & {*FileColumn(key, []).words}] for words in (STARTS, STOPS))
    if not starts or not stops:
        return None
    start, stop = min(starts, key=len), min(stops, key=len)  # start, not token_start
    words_by_text = {}
    for column in (column for column in table.columns.values() if column.texts):
        pairs = zip(column.texts, _ends(rows, start, stop), strict=True)
        words = [text[first:end] for text, ends in pairs for first, end in ends]
        if sum(word != "" and word == word.strip() for word in words) >= WHOLE * len(words):
            words_by_text[column.name] = words
    types = [key for key, cells in values.items() if _are_types(cells) and cells not in words_by_text.values()]
    if len(words_by_text) != 1 or not types:
        return None
    (text,) = words_by_text
    return SpanList(name, text, start, stop, types)


def _values_by_key(rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """For each key that many items of lists have, its values in all items; None: an item lacks it."""
    items = [item for row in rows for item in row]
    frequencies = Counter(key for item in items for key in _nested_keys(item))
    keys = [key for key, frequency in frequencies.items() if frequency >= COMMON * len(items)]
    return {key: [below(item, key.split(".")) for item in items] for key in keys}


def _nested_keys(item: Any, prefix: str = "") -> Iterator[str]:
    """The nested keys, and places of lists, below which an item has a number or a text."""
    for key, value in item.items() if isinstance(item, dict) else enumerate(item):
        if isinstance(value, dict | list):
            yield from _nested_keys(value, f"{prefix}{key}.")
        elif isinstance(value, int | str):
            yield f"{prefix}{key}"


def _ends(rows: Sequence[Sequence[Any]], start: str, stop: str) -> list[list[tuple[int, int]]]:
    """The first character and the end of each span of each row; 0 where one is missing."""
    keys = start.split("."), stop.split(".")
    return [[(below(item, keys[0]) or 0, below(item, keys[1]) or 0) for item in row] for row in rows]


def _are_types(values: Sequence[Any]) -> bool:
    """Whether all values are texts, few of them, each of several spans."""
    if not all(isinstance(value, str) and value.strip() for value in values):
        return False
    distinct = len(set(values))
    return distinct <= MOST_TYPES and SPANS_PER_TYPE * distinct <= len(values)


def _question(spans: SpanList, table: FileTable, marked: MarkedSpans) -> str:
    """Whether a list is to be read as spans, and what happens to those that do not fit the words of their texts."""
    rows, texts = table.objects[spans.name], table.columns[spans.text].texts
    pairs = zip(texts, _ends(rows, spans.start, spans.stop), strict=True)
    tagged = [marked.tag(text, [(first, end, "x") for first, end in ends]) for text, ends in pairs]
    missing = sum(below(item, spans.start.split(".")) is None for row in rows for item in row)
    start = f"{quoted(spans.start)}{f' (0 where it is missing, as in {missing:,})' if missing else ''}"
    return (
        f"reading.spans: {quoted(spans.name)} holds {count(sum(map(len, rows)), 'span')} of {quoted(spans.text)}, "
        f"each with its first character in {start}, the character after its last one in {quoted(spans.stop)}, "
        f"and its type in {' or '.join(map(quoted, spans.types))}: is this so? {sum(row.left_out for row in tagged):,} "
        "share a word with a longer one, hold no word, or are not within the text, and do not count; "
        f"{sum(row.cut for row in tagged):,} begin or end within a word, as where ends are last characters, and get the whole word"
    )


def marked_spans(
    table: FileTable, texts: Sequence[str], tables: Sequence[FileTable], stop_offset: int = 0
) -> dict[str, list[str]]:
    """By text column, the spans that its rows have, as a suite file names them. In each row of all files, the place must fit, if `stop_offset`
    is added to where spans end."""
    spans: dict[str, list[str]] = {}
    for name in table.columns:
        for span in _possible_spans(name, table):
            fitting = [text for text in texts if all(_fits(span, text, file, stop_offset) for file in tables)]
            if len(fitting) > 1:  # start1 marks words of sentence1
                fitting = [text for text in fitting if text[-1] == name[-1]]
            if len(fitting) == 1:
                spans.setdefault(fitting[0], []).append(span.name)
                break
    return spans


def _possible_spans(name: str, table: FileTable) -> Iterator[PossibleSpan]:
    """The spans that may begin in a column: a.start and a.stop beside the words in text, start1 and end1, and span1_index beside the words in
    span1_text."""
    span = name.removesuffix(f".{SPAN_ENDS[0]}")
    if span != name:
        yield PossibleSpan(span, f"{span.rpartition('.')[0]}.text")
        return
    for end in ("end", "stop"):
        if (stop := re.sub("start", end, name)) != name and stop in table.columns:
            yield PossibleSpan(f"{name}{BESIDE}{stop}")
    words = re.sub("index", "text", name)
    if words != name and words in table.columns:
        for unit in ("characters", "words"):
            yield from (PossibleSpan(f"{name}[{unit} from {base}]{BESIDE}{words}", words) for base in (0, 1))


def _fits(span: PossibleSpan, column: str, table: FileTable, stop_offset: int) -> bool:
    """Whether a span, with its end moved by so many characters, marks the words beside it in each row of a file; or without such words begins
    with a word, and in most rows does not end within one."""
    names = [*span_ends(span.name), column, span.words or column]
    if not all(table.has(name) and not table.columns[name].lists for name in names):
        return False
    first, last, texts, words = (table.columns[name] for name in names)
    if first.whole_numbers is None:
        return False
    starts = list(map(int, first.texts))
    if counted := COUNTED.search(span.name):
        unit, base = counted[1], int(counted[2])
        rows = zip(texts.texts, words.texts, starts, strict=True)
        return all(_stand_at(text, marked, start - base, unit) for text, marked, start in rows)
    if last.whole_numbers is None:
        return False
    stops = [int(stop) + stop_offset for stop in last.texts]
    if span.words:
        cells = zip(texts.texts, starts, stops, words.texts, strict=True)
        return all(text[start:stop] == marked for text, start, stop, marked in cells)
    spans = list(zip(texts.texts, starts, stops, strict=True))
    if not all(0 <= start < stop <= len(text) for text, start, stop in spans):
        return False
    begins = all(re.compile(r"(?<![^\W_])\S").match(text, start) for text, start, _ in spans)
    cut = sum(text[stop - 1].isalnum() and text[stop : stop + 1].isalnum() for text, _, stop in spans)
    return begins and 2 * cut < len(spans)


def _stand_at(text: str, words: str, place: int, unit: str) -> bool:
    """Whether words stand in a text from its character, or word, of this number, from 0."""
    starts = counted_places(text, unit)
    return 0 <= place < len(starts) and text.startswith(words, starts[place])
