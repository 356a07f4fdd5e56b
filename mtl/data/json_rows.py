"""The rows of JSON files: JSON Lines, a list, an object of splits, records by id, or SQuAD's articles. A row of JSON Lines or of a list comes with
the line that it begins on, every other row with its number, from 1, which errors (of articles, with the article's number) name as the line."""

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
SEPARATOR = re.compile(r"[ \t\r\n]*(?:,[ \t\r\n]*(?!\])|(?=\]))")  # a comma and another item of a list, or its end
MOST_KEYS = 8  # of an object, in a message
LINE_RULE = "; one JSON object a line"  # at the end of a message about JSON Lines


def _unique_keys(pairs: list[tuple[str, Any]]) -> Row:
    """The object of these keys and values. Raises ValueError for a key that stands twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise ValueError(f"key {next(key for key in counts if counts[key] > 1)!r} stands twice")
    return row


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


def parse_row(path: Path | str, line: int, content: str) -> Row:
    """The object on one line of a jsonl file. Raises InputError, which names the file and the line, if it is none."""
    if not content.strip():
        raise InputError(f"not a row: the line is empty{LINE_RULE}", path=path, line=line)
    value, end = _parse_value(path, content, 0, line, LINE_RULE)
    rest = content[end:].strip()
    if isinstance(value, dict) and not rest:
        return value
    problem = f"Extra data at character {end + 1}" if rest else "a JSON value that is no object"
    raise InputError(f"not a row: {problem}{LINE_RULE}", path=path, line=line)


def _parse_value(path: Path | str, text: str, position: int, line: int = 1, rule: str = "") -> tuple[Any, int]:
    """The JSON value at a position of a text, which begins on this line of its file, and its end. Raises InputError with the line and the `rule`."""
    fault = position  # where the line in the message is
    try:
        value, end = DECODER.raw_decode(text, _skip_space(text, position))
        source = text[position:end]
        if re.search(r"\\u[dD]", source):
            json.dumps(value, ensure_ascii=False).encode()  # refuses half a surrogate pair, which no file can hold
        if source.count("[") + source.count("{") > JSON_DEPTH and is_deep(value):
            raise RecursionError
        return value, end
    except json.JSONDecodeError as error:
        fault, problem = error.pos, f"{error.msg.removesuffix(' at')} at character {error.colno}"
    except RecursionError:
        problem = "too deeply nested"
    except UnicodeEncodeError:
        problem = "half of a surrogate pair (\\ud800 to \\udfff)"
    except ValueError as error:
        problem = str(error).split("; ")[0]  # without what Python says about longer numbers
    raise InputError(f"not a row: {problem}{rule}", path=path, line=line + text.count("\n", 0, fault))


def parse_object(path: Path, text: str) -> Row | None:
    """The object that a file with this text is; None for a list, JSON Lines or another value. Raises InputError for an object that is not JSON."""
    if not text.lstrip().startswith("{"):
        return None
    value, end = _parse_value(path, text, text.index("{"))
    return None if text[end:].strip() else value


def json_rows(path: Path, text: str, part: str | None) -> Iterator[tuple[int, Row]]:
    """The rows of a .json file with this text, each with its line or number. They are the value of the key `part`, where dots stand between nested
    keys, or without it the whole value. Raises InputError for what is not JSON, or holds no such part or no rows."""
    first = text.lstrip()[:1]
    value = parse_object(path, text)
    if part is not None:
        yield from _value_rows(path, _member(path, value, part))
    elif first == "[":
        yield from _list_rows(path, text)
    elif first == "{" and value is None:  # JSON Lines in a file of this name
        lines = enumerate(text.split("\n"), start=1)
        yield from ((line, parse_row(path, line, content)) for line, content in lines if content.strip())
    elif value is not None and _are_articles(value.get(ARTICLES)):
        yield from enumerate(_questions(path, value[ARTICLES]), start=1)
    else:
        yield from _value_rows(path, value)


def _value_rows(path: Path, value: Any) -> Iterator[tuple[int, Row]]:
    """The rows of a value, a list or an object of records by id, each with its number."""
    items = value
    if isinstance(value, dict):
        if not all(isinstance(record, dict) for record in value.values()):
            problem = f"is one object with the keys {', '.join([*value][:MOST_KEYS])}"
            raise InputError(f"{problem}; name the one that holds the rows: {path.name}#KEY", path=path, line=1)
        items = [{ID: key, **record} for key, record in value.items()]
    if not isinstance(items, list):
        raise InputError("the value holds no rows; a list of objects does", path=path, line=1)
    yield from ((number, _as_row(path, number, item)) for number, item in enumerate(items, start=1))


def _list_rows(path: Path, text: str) -> Iterator[tuple[int, Row]]:
    """The rows of a text that is a list, one decoded after the other, each with the line that it begins on."""
    start = _skip_space(text, text.index("[") + 1)
    line = 1 + text.count("\n", 0, start)  # of `start`, in every turn
    while text[start : start + 1] != "]":
        value, end = _parse_value(path, text, start)
        yield line, _as_row(path, line, value)
        if (separator := SEPARATOR.match(text, end)) is None:
            line += text.count("\n", start, _skip_space(text, end))
            raise InputError("not JSON: a comma or ] is expected", path=path, line=line)
        line += text.count("\n", start, separator.end())
        start = separator.end()
    if (after := _skip_space(text, start + 1)) < len(text):
        raise InputError("not JSON: something follows the list", path=path, line=text.count("\n", 0, after) + 1)


def _skip_space(text: str, position: int) -> int:
    """The position after white space."""
    match = SPACE.match(text, position)
    return match.end() if match else position


def _member(path: Path, value: Any, part: str) -> Any:
    """The value of a key, or of nested keys with dots between them. Raises InputError if there is none."""
    keys = value if isinstance(value, dict) else {}
    if part in keys:
        return keys[part]
    outer, dot, inner = part.partition(".")
    if dot and outer in keys:
        return _member(path, keys[outer], inner)
    raise InputError(f"no key {part!r}; it has {', '.join([*keys][:MOST_KEYS]) or 'no keys'}", path=path, line=1)


def _are_articles(value: Any) -> bool:
    """Whether a value is the list of articles of a file in SQuAD's form."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and PARAGRAPHS in value[0]


def _questions(path: Path, articles: list[Any]) -> Iterator[Row]:
    """The questions of articles, each a row with what its passage and its article have beside."""
    for number, article in enumerate(articles, start=1):
        for paragraph in _joined_items(path, number, _as_row(path, number, article), PARAGRAPHS):
            yield from _joined_items(path, number, paragraph, QUESTIONS)


def _joined_items(path: Path, number: int, row: Row, key: str) -> list[Row]:
    """The objects in the list below a key of a row, each with what the row has beside. `number` is that of the article."""
    items = row.get(key)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        problem = f"an article of SQuAD has lists of objects, {PARAGRAPHS!r} and in them {QUESTIONS!r}"
        raise InputError(problem, path=path, line=number)
    beside = {name: value for name, value in row.items() if name != key}
    return [{**beside, **item} for item in items]


def _as_row(path: Path, number: int, value: Any) -> Row:
    """The value as a row: an object as it is, cells with the names column_1, column_2, …, and a text as the column `text`."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {f"column_{column}": cell for column, cell in enumerate(value, start=1)}
    if isinstance(value, str):
        return {"text": value}
    raise InputError("a row is an object, a list of cells or a text", path=path, line=number)
