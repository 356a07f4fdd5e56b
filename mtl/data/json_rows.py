"""The rows of JSON files, each with its line: JSON Lines, a list, an object of splits, records by id, or SQuAD's articles."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from mtl.base.errors import InputError
from mtl.base.untrusted import JSON_DEPTH, is_deep

Row = dict[str, Any]
ID = "id"  # the column of the keys of records by id
ARTICLES, PARAGRAPHS, QUESTIONS = "data", "paragraphs", "qas"  # keys of a file in SQuAD's form
SPACE = re.compile(r"[ \t\r\n]*")


def _unique_keys(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise ValueError(f"key {next(key for key in counts if counts[key] > 1)!r} stands twice")
    return row


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


def parse_row(path: Path | str, number: int, line: str) -> Row:
    """The object on one line of a jsonl file. Raises InputError, which names the file and the line, if it is none."""
    if not line.strip():
        raise InputError("not a row: the line is empty; one JSON object a line", path=path, line=number)
    value, end = JsonText(path, line, number).value(0)
    if line[end:].strip():
        problem = f"Extra data at character {end + 1}"
    elif isinstance(value, dict):
        return value
    else:
        problem = "a JSON value that is no object"
    raise InputError(f"not a row: {problem}; one JSON object a line", path=path, line=number)


def json_rows(path: Path, text: str, part: str | None) -> Iterator[tuple[int, Row]]:
    """The rows of a .json file, each with the line that it begins on. In SQuAD's form, it is the number of the question, from 1. Raises InputError
    for what is not JSON, a part that is not there, and a value that holds no rows.

    Args:
        text: the whole file: rows of a list can only be told apart in it.
        part: the key whose value holds the rows, with dots between nested keys; None: the whole value does.
    """
    document = JsonText(path, text)
    start = document.start(0)
    if part is None and text[start : start + 1] == "{":
        _, end = document.value(start)
        if document.start(end) < len(text):  # another value follows: JSON Lines in a file of this name
            yield from ((number, parse_row(path, number, line)) for number, line in _filled(text))
            return
    first, _, rest = text.partition("\n")
    if part is None and rest.strip() and _is_list(first):  # a list of cells on each line
        yield from ((number, _row(JsonText(path, line, number), 0)) for number, line in _filled(text))
        return
    if part is not None:
        start = document.member(start, part)
    if part is None and (articles := _articles(document, start)) is not None:
        yield from enumerate(_questions(document, articles), start=1)
        return
    if text[start : start + 1] == "[":
        for position in document.items(start, is_last=part is None):
            yield document.line(position), _row(document, position)
        return
    if text[start : start + 1] != "{":
        raise document.error("the value holds no rows; a list of objects does", start)
    records = list(document.members(start))
    if not all(text[position : position + 1] == "{" for _, position in records):
        names = ", ".join(key for key, _ in records[:8])
        remedy = f"name the one that holds the rows: {path.name}#KEY"
        raise document.error(f"is one object with the keys {names}; {remedy}", start)
    for key, position in records:
        yield document.line(position), {ID: key, **_row(document, position)}


def _filled(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def _is_list(line: str) -> bool:
    """Whether a line is a whole JSON list."""
    try:
        return isinstance(json.loads(line), list)
    except (ValueError, RecursionError):
        return False


def _articles(document: "JsonText", start: int) -> int | None:
    """Where the articles of a file in SQuAD's form stand: the list `data` of its object; None for another form."""
    position = dict(document.members(start)).get(ARTICLES) if document.begins(start, "{") else None
    if position is None or not document.begins(position, "["):
        return None
    first = next(document.items(position, is_last=False), None)
    value = None if first is None else document.value(first)[0]
    return position if isinstance(value, dict) and PARAGRAPHS in value else None


def _questions(document: "JsonText", start: int) -> Iterator[Row]:
    """The questions of the articles that stand here, each a row with what its passage and its article have beside."""
    for position in document.items(start, is_last=False):
        outer = [_row(document, position)]
        for key in (PARAGRAPHS, QUESTIONS):
            inner = [({name: value for name, value in row.items() if name != key}, row.get(key)) for row in outer]
            if not all(isinstance(items, list) and all(isinstance(item, dict) for item in items) for _, items in inner):
                problem = f"an article of SQuAD has lists of objects, {PARAGRAPHS!r} and in them {QUESTIONS!r}"
                raise document.error(problem, position)
            outer = [{**row, **item} for row, items in inner for item in items or ()]
        yield from outer


def _row(document: "JsonText", position: int) -> Row:
    value, _ = document.value(position)
    if isinstance(value, dict):
        return value
    if isinstance(value, list):  # cells without names
        return {f"column_{number}": cell for number, cell in enumerate(value, start=1)}
    if isinstance(value, str):
        return {"text": value}
    raise document.error("a row is an object, a list of cells or a text", position)


class JsonText:
    """The text of a JSON file, in which values are found by their positions, in characters.

    Args:
        first: the line that the text begins on.
    """

    def __init__(self, path: Path | str, text: str, first: int = 1) -> None:
        self._path, self._text = path, text
        self._known = 0, first  # a position and its line

    def line(self, position: int) -> int:
        before, line = self._known if position >= self._known[0] else (0, 1)
        self._known = position, line + self._text.count("\n", before, position)
        return self._known[1]

    def error(self, problem: str, position: int) -> InputError:
        return InputError(problem, path=self._path, line=self.line(min(position, len(self._text))))

    def start(self, position: int) -> int:
        """The position after white space."""
        match = SPACE.match(self._text, position)
        return match.end() if match else position

    def begins(self, position: int, sign: str) -> bool:
        return self._text[position : position + 1] == sign

    def value(self, position: int) -> tuple[Any, int]:
        """The value that begins here, and where it ends. Raises InputError."""
        try:
            value, end = DECODER.raw_decode(self._text, self.start(position))
            inner = self._text[position:end]
            if re.search(r"\\u[dD]", inner):
                json.dumps(value, ensure_ascii=False).encode()  # refuses half a surrogate pair, which no file can hold
            if inner.count("[") + inner.count("{") > JSON_DEPTH and is_deep(value):
                raise RecursionError
            return value, end
        except json.JSONDecodeError as error:
            position, problem = error.pos, f"{error.msg.removesuffix(' at')} at character {error.colno}"
        except RecursionError:
            problem = "too deeply nested"
        except UnicodeEncodeError:
            problem = "half of a surrogate pair (\\ud800 to \\udfff)"
        except ValueError as error:
            problem = str(error).split("; ")[0]
        raise self.error(f"not a row: {problem}; one JSON object a line", position)

    def items(self, position: int, is_last: bool) -> Iterator[int]:
        """The positions of the values of the list that begins here. Raises InputError if something follows it, and it is the last value."""
        position = self.start(position + 1)
        while self._text[position : position + 1] != "]":
            yield position
            position = self._after(position, "]")
        if is_last and self.start(position + 1) < len(self._text):
            raise self.error("not JSON: something follows the list", self.start(position + 1))

    def members(self, position: int) -> Iterator[tuple[str, int]]:
        """The keys of the object that begins here, each with the position of its value."""
        seen = set[str]()
        position = self.start(position + 1)
        while self._text[position : position + 1] != "}":
            key, end = self.value(position)
            colon = self.start(end)
            if not isinstance(key, str) or self._text[colon : colon + 1] != ":":
                raise self.error("not JSON: a key and a colon are expected", position)
            if key in seen:
                raise self.error(f"not JSON: key {key!r} stands twice", position)
            seen.add(key)
            position = self.start(colon + 1)
            yield key, position
            position = self._after(position, "}")

    def member(self, position: int, part: str) -> int:
        """The position of the value of a key, or of nested keys with dots between them. Raises InputError if there is none."""
        keys = dict(self.members(position)) if self._text[position : position + 1] == "{" else {}
        if part in keys:
            return keys[part]
        outer, dot, inner = part.partition(".")
        if dot and outer in keys:
            return self.member(keys[outer], inner)
        raise self.error(f"no key {part!r}; it has {', '.join(list(keys)[:8]) or 'no keys'}", position)

    def _after(self, position: int, closing: str) -> int:
        """Where the value after the one that begins here begins, or the closing bracket."""
        _, end = self.value(position)
        after = self.start(end)
        sign = self._text[after : after + 1]
        if sign == "," and self._text[(following := self.start(after + 1)) : following + 1] != closing:
            return following
        if sign == closing:
            return after
        raise self.error(f"not JSON: a comma or {closing} is expected", after)
