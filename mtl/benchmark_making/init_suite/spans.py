"""Marked spans of texts: lists of them with types, whose tokens get tags, and single ones in columns, as the two of a coreference."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from mtl.base.wings import MarkedSpans, wings
from mtl.benchmark_making.init_suite.names import Guess
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable
from mtl.benchmark_making.init_suite.wording import count, quoted
from mtl.data.columns import LIST, below
from mtl.data.examples import counted_places
from mtl.tasks.task import BESIDE, COUNTED, SPAN_ENDS, span_ends

MOST_TYPES = 200
REPEATED = 3  # spans that each type has on average, at least
INCLUSIVE = "may be the last character of each span, and mtl reads the one after it: then add 1 to them in the files"
COMMON = 0.1  # the least share of spans that have a key, or else it is no key of all: objects may have names as keys
WHOLE = 0.9  # the least share of spans that stand in their text, and do not begin or end with spaces
# The words in the names of keys of first characters and of ends; of lists the places.
STARTS, STOPS = {"start", "begin", "from", "0"}, {"end", "stop", "to", "1"}


def guess_spans(guess: Guess, table: FileTable) -> str | None:
    """The columns of a text and of its spans as `Reading.spans` names them, with a question in the guess; None unless one list of the file has
    keys of first characters, ends and types that fit one column of texts, and without the wing that reads them."""
    marked = next((wing.marked for wing in wings() if wing.marked), None)
    ways = [way for name in table.objects if marked and (way := _as_spans(marked, table, name))]
    if len(ways) != 1:
        return None
    columns, question = ways[0]
    guess.questions.append(f"reading.spans: {question}")
    return columns


def _as_spans(marked: MarkedSpans, table: FileTable, name: str) -> tuple[str, str] | None:
    """The columns that read the items of a list as spans, and the question whether they are read so; None if no way, or more than one, fits."""
    rows = table.objects[name]
    items = [item for row in rows for item in row]
    times = Counter(path for item in items for path in _paths(item))
    paths = [path for path, number in times.items() if number >= COMMON * len(items)]
    values = {path: [below(item, path.split(".")) for item in items] for path in paths}
    numbers = [path for path in paths if all(value is None or type(value) is int for value in values[path])]
    texts = [path for path in paths if all(isinstance(value, str) and value.strip() for value in values[path])]
    ends = [[path for path in numbers if named & {*FileColumn(path, []).words}] for named in (STARTS, STOPS)]
    if not all(ends):
        return None
    start, stop = (min(named, key=len) for named in ends)  # start, not token_start
    each = zip(values[start], values[stop], strict=True)
    spans = [[(first or 0, end or 0) for first, end in islice(each, len(row))] for row in rows]
    words = {
        column.name: [text[slice(*pair)] for text, ends in zip(column.texts, spans, strict=True) for pair in ends]
        for column in table.columns.values()
        if column.texts
    }
    fits = {
        text: said for text, said in words.items() if sum(w != "" and w == w.strip() for w in said) >= WHOLE * len(said)
    }
    sizes = {path: len(set(values[path])) for path in texts if values[path] not in fits.values()}
    types = [path for path, size in sizes.items() if size <= MOST_TYPES and REPEATED * size <= len(items)]
    if len(fits) != 1 or not types:
        return None
    (text,) = fits
    pairs = zip(table.columns[text].texts, spans, strict=True)
    tagged = [marked.tag(content, [(*pair, "x") for pair in ends]) for content, ends in pairs]
    where = f"{quoted(name)} holds {count(len(items), 'span')} of {quoted(text)}, each with its first character in {quoted(start)}"
    absent = f" (0 where it is missing, as in {values[start].count(None):,})" if None in values[start] else ""
    kinds = " or ".join(map(quoted, types))
    of_ends = f"{absent}, the character after its last one in {quoted(stop)}, and its type in {kinds}: is this so?"
    faults = "share a word with a longer one, hold no word, or are not within the text, and do not count"
    cut = f"{sum(each.cut for each in tagged):,} begin or end within a word, as where ends are last characters, and get the whole word"
    figures = f"{sum(each.left_out for each in tagged):,} {faults}; {cut}"
    return BESIDE.join(
        [text, *(f"{name}.{path}{LIST}" for path in (start, stop, types[0]))]
    ), f"{where}{of_ends} {figures}"


def _paths(item: Any, prefix: str = "") -> Iterator[str]:
    """The nested keys, and places of lists, below which an item has a number or a text."""
    for key, value in item.items() if isinstance(item, dict) else enumerate(item):
        if isinstance(value, dict | list):
            yield from _paths(value, f"{prefix}{key}.")
        elif isinstance(value, int | str):
            yield f"{prefix}{key}"


def marked_spans(
    table: FileTable, texts: Sequence[str], tables: Sequence[FileTable], last: int = 0
) -> dict[str, list[str]]:
    """By text column, the spans that its rows have, as a suite file names them. In each row of all files, the place must fit, if `last` is added
    to where spans end."""
    spans: dict[str, list[str]] = {}
    for name in table.columns:
        for span, word in _possible_spans(name, table):
            fitting = [text for text in texts if all(_marks(span, word, text, file, last) for file in tables)]
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


def _marks(span: str, word: str | None, text: str, table: FileTable, more: int) -> bool:
    """Whether a span, with so many more characters, marks the words beside it in each row of a file; or without such words begins with a word,
    and in most rows does not end within one."""
    if not all(table.has(name) and not table.columns[name].lists for name in (*span_ends(span), word or text)):
        return False
    counted, (first, last) = COUNTED.search(span), (table.columns[name] for name in span_ends(span))
    if first.whole_numbers is None or (not counted and last.whole_numbers is None):
        return False
    rows = list(zip(table.columns[text].texts, map(int, first.texts), last.texts, strict=True))
    if counted:  # the words stand in the text from its character, or word, of this number
        unit, base = counted[1], int(counted[2])
        places = [(content, counted_places(content, unit), place - base, words) for content, place, words in rows]
        return all(0 <= n < len(at) and content.startswith(words, at[n]) for content, at, n, words in places)
    marked = [(content, start, int(stop) + more) for content, start, stop in rows]
    if word:
        said = table.columns[word].texts
        return all(content[start:stop] == words for (content, start, stop), words in zip(marked, said, strict=True))
    if not all(0 <= start < stop <= len(content) for content, start, stop in marked):
        return False
    begins = all(re.compile(r"(?<![^\W_])\S").match(content, start) for content, start, _ in marked)
    cut = sum(content[stop - 1].isalnum() and content[stop : stop + 1].isalnum() for content, _, stop in marked)
    return begins and 2 * cut < len(marked)
