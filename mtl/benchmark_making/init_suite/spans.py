"""Marked spans of texts: lists of them with types, whose tokens get tags, and single ones in columns, as the two of a coreference."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

from mtl.benchmark_making.init_suite.tables import FileTable, count, quoted, quoted_names
from mtl.data.columns import LIST
from mtl.data.examples import counted_places
from mtl.data.marked import Span, below, tag, word_pattern
from mtl.tasks.task import BESIDE, COUNTED, SPAN_ENDS, span_ends

MOST_TYPES = 200
REPEATED = 3  # spans that each type has on average, at least
WHOLE = 0.9  # the least share of spans that begin and end with words


class SpanColumns(NamedTuple):
    """The columns of a text and its spans as `Reading.spans` names them, why they are taken, and the questions."""

    columns: str
    why: str
    questions: list[str]


class _Fit(NamedTuple):
    """How two numbers of each item fit as the ends of spans in a text.

    Args:
        whole: the share of spans that begin and end with words.
        single: the share of spans whose last word has one character: of these, nothing says whether the end is the last character or the one
            after it.
        words: the text of each span.
        inclusive: the same with one more character.
    """

    whole: float
    single: float
    words: list[str]
    inclusive: list[str]


def span_columns(table: FileTable) -> SpanColumns | None:
    """The columns of a text and of its spans; None if no list of the file holds spans with types, or more than one way to read them fits
    equally well."""
    found = [guess for name, rows in table.objects.items() if (guess := _guess(table, name, rows))]
    return found[0] if len(found) == 1 else None


def _guess(table: FileTable, name: str, rows: Sequence[Sequence[Any]]) -> SpanColumns | None:
    items = [item for row in rows for item in row]
    paths = list(dict.fromkeys(path for item in items for path in _paths(item)))
    values = {path: [below(item, path.split(".")) for item in items] for path in paths}
    numbers = [path for path in paths if all(value is None or type(value) is int for value in values[path])]
    texts = [path for path in paths if all(isinstance(value, str) and value.strip() for value in values[path])]
    fits = {
        (column.name, start, stop): fit
        for start, stop in permutations(numbers, 2)
        if None not in values[stop]
        for column in table.columns.values()
        if column.texts and (fit := _fit(column.texts, _ends(rows, start, stop))).whole >= WHOLE
    }
    said = {ends: [path for path in texts if values[path] == fit.words] for ends, fit in fits.items()}
    best = max(((bool(said[ends]), fit.whole) for ends, fit in fits.items()), default=None)
    chosen = [ends for ends, fit in fits.items() if (bool(said[ends]), fit.whole) == best]
    if len(chosen) != 1 or any(values[path] == fits[chosen[0]].inclusive for path in texts):
        return None
    ((column, start, stop),) = chosen
    counts = {path: Counter(values[path]) for path in texts if path not in said[chosen[0]]}
    types = [path for path, each in counts.items() if len(each) <= MOST_TYPES and REPEATED * len(each) <= len(items)]
    if not types:
        return None
    questions = []
    if fits[chosen[0]].single >= WHOLE and not said[chosen[0]]:
        ways = "the character after a span, as mtl reads it, or its last one? Then add 1 to them in the files"
        questions.append(f"reading: {quoted(stop)} of {quoted(name)}: {ways}")
    if absent := values[start].count(None):
        ways = "do these begin with the text, as where protobuf leaves out 0?"
        questions.append(f"reading: {count(absent, 'span')} of {quoted(name)} have no {quoted(start)}: {ways}")
    if types[1:]:
        may = f"{quoted_names(types)} of {quoted(name)} may be the types of spans"
        questions.append(f"reading: {may}; {types[0]} is taken")
    contents = zip(table.columns[column].texts, _ends(rows, start, stop), strict=True)
    tagged = [tag(content, [Span(*ends, "x") for ends in of_row]) for content, of_row in contents]
    if left_out := sum(each.left_out for each in tagged):
        faults = "share a word with a longer one, hold no word, or are not within the text, and would not count"
        questions.append(f"reading: {count(left_out, 'span')} of {quoted(name)} {faults}; is this meant?")
    cut = f"{sum(each.cut for each in tagged):,} of them begin or end within a word, and have the whole word"
    named = [f"{name}.{path}{LIST}" for path in (start, stop, types[0])]
    why = f"{count(len(items), 'span')} in {quoted(name)}; {cut}"
    return SpanColumns(BESIDE.join([column, *named]), why, questions)


def _ends(rows: Sequence[Sequence[Any]], start: str, stop: str) -> list[list[tuple[int, int]]]:
    """The two ends of each item of each row. An item without a start begins at 0."""
    first, last = start.split("."), stop.split(".")
    return [[(below(item, first) or 0, below(item, last)) for item in row] for row in rows]


def _paths(item: Any, prefix: str = "") -> Iterator[str]:
    """The nested keys, and places of lists, below which an item has a number or a text."""
    for key, value in item.items() if isinstance(item, dict) else enumerate(item):
        if isinstance(value, dict | list):
            yield from _paths(value, f"{prefix}{key}.")
        elif isinstance(value, int | str):
            yield f"{prefix}{key}"


def _fit(contents: Sequence[str], rows: Sequence[Sequence[tuple[int, int]]]) -> _Fit:
    """The fit of the spans with these ends in the texts of the same rows; of 0 if too many are not within their texts."""
    within = [_is_within(*pair, content) for content, ends in zip(contents, rows, strict=True) for pair in ends]
    if sum(within) < WHOLE * len(within) or not within:
        return _Fit(0.0, 0.0, [], [])
    whole = single = 0
    words, inclusive = list[str](), list[str]()
    for content, ends in zip(contents, rows, strict=True):
        places = [match.span() for match in word_pattern().finditer(content)] if ends else []
        inner = {place for first, end in places for place in range(first + 1, end)}
        last_of_single = {end for first, end in places if end - first == 1}
        for start, stop in ends:
            words.append(content[start:stop])
            inclusive.append(content[start : stop + 1])
            whole += _is_within(start, stop, content) and not {start, stop} & inner
            single += stop in last_of_single
    return _Fit(whole / len(words), single / len(words), words, inclusive)


def _is_within(start: int, stop: int, content: str) -> bool:
    return 0 <= start < stop <= len(content) and not content[start:stop].isspace()


def marked_spans(table: FileTable, texts: Sequence[str], tables: Sequence[FileTable]) -> dict[str, list[str]]:
    """By text column, the spans that its rows have, as a suite file names them. In each row of all files, the place must fit."""
    spans: dict[str, list[str]] = {}
    for name in table.columns:
        for span, word in _possible_spans(name, table):
            fitting = [text for text in texts if all(_marks(span, word, text, file) for file in tables)]
            if len(fitting) > 1:  # start1 marks words of sentence1
                fitting = [text for text in fitting if text[-1] == name[-1]]
            if len(fitting) == 1:
                spans.setdefault(fitting[0], []).append(span)
                break
    return spans


def _possible_spans(name: str, table: FileTable) -> Iterator[tuple[str, str | None]]:
    """The spans that may begin in a column, with the column of the words that are marked, if there is one: a.start and a.stop beside the
    words in text, start1 and end1, and span1_index beside the words in span1_text."""
    column = name.removesuffix(f".{SPAN_ENDS[0]}")
    if column != name:
        yield column, f"{column.rpartition('.')[0]}.text"
        return
    for end in ("end", "stop"):
        if (other := re.sub("start", end, name)) != name and other in table.columns:
            yield f"{name}{BESIDE}{other}", None
    words = re.sub("index", "text", name)
    if words != name and words in table.columns:
        for unit in ("characters", "words"):
            yield from ((f"{name}[{unit} from {base}]{BESIDE}{words}", words) for base in (0, 1))


def _marks(span: str, word: str | None, text: str, table: FileTable) -> bool:
    """Whether a span marks the words beside it, or without such words begins with a word, in each row of a file."""
    if not all(table.has(name) and not table.columns[name].lists for name in (*span_ends(span), word or text)):
        return False
    counted, (first, last) = COUNTED.search(span), (table.columns[name] for name in span_ends(span))
    if first.whole_numbers is None or (not counted and last.whole_numbers is None):
        return False
    words = table.columns[word or text].texts
    for content, start, stop, marked in zip(table.columns[text].texts, first.texts, last.texts, words, strict=True):
        if counted:  # the second column's words stand from the character, or word, of this number
            number, places = int(start) - int(counted[2]), counted_places(content, counted[1])
            fits = 0 <= number < len(places) and content.startswith(stop, places[number])
        elif word:
            fits = content[int(start) : int(stop)] == marked
        else:  # a word begins there
            begin, end = int(start), int(stop)
            begins = not content[max(begin - 1, 0) : begin].isalnum() and not content[begin : begin + 1].isspace()
            fits = 0 <= begin < end <= len(content) and begins
        if not fits:
            return False
    return True
