"""Marked spans of texts: lists of them with types, whose tokens get tags, and single ones in columns, as the two of a coreference."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any, NamedTuple

from mtl.base.wings import MarkedSpans, wings
from mtl.benchmark_making.init_suite.tables import FileTable
from mtl.benchmark_making.init_suite.wording import count, quoted, quoted_names
from mtl.data.columns import LIST, below
from mtl.data.examples import counted_places
from mtl.tasks.task import BESIDE, COUNTED, SPAN_ENDS, span_ends

MOST_TYPES = 200
REPEATED = 3  # spans that each type has on average, at least
INCLUSIVE = "is the last character of each span, and mtl reads the one after it: add 1 to them in the files"
COMMON = 0.1  # the least share of spans that have a key, or else it is no key of all: objects may have names as keys
WHOLE = 0.9  # the least share of spans that begin and end with words
Ends = list[list[tuple[int, int]]]  # of the spans of each row


class SpanColumns(NamedTuple):
    """The columns of a text and its spans as `Reading.spans` names them, why they are taken, and the questions."""

    columns: str
    why: str
    questions: list[str]


def span_columns(table: FileTable) -> SpanColumns | None:
    """The columns of a text and of its spans; None if no list of the file holds spans with types, or more than one way to read them fits
    equally well, and without the wing that reads them."""
    marked = next((wing.marked for wing in wings() if wing.marked), None)
    guesses = [_guess(marked, table, name, rows) for name, rows in table.objects.items()] if marked else []
    found = [guess for guess in guesses if guess]
    return found[0] if len(found) == 1 else None


def _guess(marked: MarkedSpans, table: FileTable, name: str, rows: Sequence[Sequence[Any]]) -> SpanColumns | None:
    items = [item for row in rows for item in row]
    found = Counter(path for item in items for path in _paths(item))
    paths = [path for path, times in found.items() if times >= COMMON * len(items)]
    values = {path: [below(item, path.split(".")) for item in items] for path in paths}
    numbers = [path for path in paths if all(value is None or type(value) is int for value in values[path])]
    texts = {path: cells for path, cells in values.items() if all(isinstance(c, str) and c.strip() for c in cells)}
    fits: list[tuple[Any, ...]] = []
    contents = [column for column in table.columns.values() if column.texts]
    pairs = [pair for pair in permutations(numbers, 2) if None not in values[pair[1]]]
    for column, (start, stop), last in product(contents, pairs, (0, 1)):  # characters from the end to the one after
        each = iter((begin or 0, end + last) for begin, end in zip(values[start], values[stop], strict=True))
        ends = [[next(each) for _ in row] for row in rows]
        if fit := _fit(marked, column.texts, ends):
            said = [path for path, cells in texts.items() if cells == fit[2]]
            fits.append(((bool(said), not last, fit[0]), fit[1], column, start, stop, last, ends, said))
    best = [fit for fit in fits if fit[0] == max(other[0] for other in fits)]
    if len(best) != 1:
        return None
    _, single, column, start, stop, last, ends, said = best[0]
    sizes = {path: len(set(cells)) for path, cells in texts.items() if path not in said}
    types = [path for path, size in sizes.items() if size <= MOST_TYPES and REPEATED * size <= len(items)]
    if not types:
        return None
    questions = []
    if last:
        questions.append(f"reading: {quoted(stop)} of {quoted(name)} {INCLUSIVE}")
    elif single >= WHOLE and not said:
        ways = "the character after a span, as mtl reads it, or its last one? Then add 1 to them in the files"
        questions.append(f"reading: {quoted(stop)} of {quoted(name)}: {ways}")
    if absent := values[start].count(None):
        ways = "do these begin with the text, as where protobuf leaves out 0?"
        questions.append(f"reading: {count(absent, 'span')} of {quoted(name)} have no {quoted(start)}: {ways}")
    if types[1:]:
        may = f"{quoted_names(types)} of {quoted(name)} may be the types of spans"
        questions.append(f"reading: {may}; {types[0]} is taken")
    spans = zip(column.texts, ends, strict=True)
    tagged = [marked.tag(content, [(*pair, "x") for pair in of_row]) for content, of_row in spans]
    if left_out := sum(each.left_out for each in tagged):
        faults = "share a word with a longer one, hold no word, or are not within the text, and would not count"
        questions.append(f"reading: {count(left_out, 'span')} of {quoted(name)} {faults}; is this meant?")
    cut = f"{sum(each.cut for each in tagged):,} of them begin or end within a word, and have the whole word"
    named = [f"{name}.{path}{LIST}" for path in (start, stop, types[0])]
    why = f"{count(len(items), 'span')} in {quoted(name)}; {cut}"
    return SpanColumns(BESIDE.join([column.name, *named]), why, questions)


def _paths(item: Any, prefix: str = "") -> Iterator[str]:
    """The nested keys, and places of lists, below which an item has a number or a text."""
    for key, value in item.items() if isinstance(item, dict) else enumerate(item):
        if isinstance(value, dict | list):
            yield from _paths(value, f"{prefix}{key}.")
        elif isinstance(value, int | str):
            yield f"{prefix}{key}"


def _fit(marked: MarkedSpans, contents: Sequence[str], rows: Ends) -> tuple[float, float, list[str]] | None:
    """How spans with these ends fit in the texts of the same rows: the share that begins and ends with words, the share whose last word has one
    character (of these, nothing says whether the end is the last character or the one after it), and the words of each; None if they do not."""
    within = [_is_within(*pair, content) for content, ends in zip(contents, rows, strict=True) for pair in ends]
    if sum(within) < WHOLE * len(within) or not within:
        return None
    whole = single = 0
    words = list[str]()
    for content, ends in zip(contents, rows, strict=True):
        places = marked.words(content) if ends else []
        inner = {place for first, end in places for place in range(first + 1, end)}
        last_of_single = {end for first, end in places if end - first == 1}
        for start, stop in ends:
            words.append(content[start:stop])
            whole += _is_within(start, stop, content) and not {start, stop} & inner
            single += stop in last_of_single
    return (whole / len(words), single / len(words), words) if whole / len(words) >= WHOLE else None


def _is_within(start: int, stop: int, content: str) -> bool:
    return 0 <= start < stop <= len(content) and not content[start:stop].isspace()


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
    around = [content[stop - 1 : stop + 1] for content, _, stop in marked if stop > 0]
    begins = (
        0 <= start < stop <= len(content)
        and not content[max(start - 1, 0) : start].isalnum()
        and not content[start : start + 1].isspace()
        for content, start, stop in marked
    )
    return 2 * sum(len(signs) > 1 and signs.isalnum() for signs in around) < len(marked) and all(begins)
