"""Damaged files for tests: a valid one, changed at one place. Whoever reads them succeeds or raises InputError, and nothing else."""

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError

DEPTH = 100_000
VALUES = {
    **{"null": "null", "true": "true", "zero": "0", "negative": "-1", "fraction": "0.5", "large": str(10**18)},
    **{"huge": str(10**400), "infinite": "1e400", "NaN": "NaN", "text": '"x"', "empty text": '""', "number as text": '"5"'},
    **{"surrogate": '"\\ud800"', "control": '"\\u001b]0;x\\u0007\\n\\u0000"', "long": f'"{"a" * 100_000}"'},
    **{"outside": '"../../x"', "list": "[]", "texts": '["x"]', "nested list": "[[{}]]", "object": "{}"},
    **{"foreign object": '{"x": {"y": 1}}', "deep": "[" * DEPTH + "]" * DEPTH, "deep object": '{"a":' * DEPTH + "1" + "}" * DEPTH},
}  # fmt: skip
"""By name, the JSON texts that stand in place of a field's value."""

PLACE = "the mutated value stands here"
INSERTED = [b"\n", b"\t", b'"', b"{", b"\xff", b"\xef\xbb\xbf", b"\0", b"\x1b[2J"]


def mutated_json(content: Any, most: int = 500, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """The content as JSON, each time with one field changed: missing, under another name, or with one of `VALUES`.

    Args:
        content: what json.loads returns for the valid file. Of a list, the first and the last item are changed.
        most: the number of changes; of more, a sample.
        seed: of the sample.

    Yields:
        What was changed, as "key.key: change", and the file's bytes. YAML can be written the same way: JSON is YAML.
    """
    inside = (*VALUES, "missing", "renamed")
    changes = [(keys, change) for keys in _fields(content) for change in (inside if keys else VALUES)]
    for keys, change in random.Random(seed).sample(changes, min(most, len(changes))):
        yield f"{'.'.join(map(str, keys))}: {change}", _changed(content, keys, change).encode()


def _fields(value: Any, *outer: str | int) -> Iterator[tuple[str | int, ...]]:
    """The keys of every value in a content, from the outermost."""
    yield outer
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(value, dict) or key in (0, len(value) - 1):
            yield from _fields(item, *outer, key)


def _changed(content: Any, keys: tuple[str | int, ...], change: str) -> str:
    if not keys:
        return VALUES[change]
    content = deepcopy(content)
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    if change == "missing":
        del inner[keys[-1]]
    elif change == "renamed":
        value = inner.pop(keys[-1])
        inner.append([value]) if isinstance(inner, list) else inner.update({"\ud800": value})
    else:
        inner[keys[-1]] = PLACE
    return json.dumps(content).replace(json.dumps(PLACE), VALUES.get(change, ""))


def mutated_bytes(content: bytes, most: int = 200, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """The bytes of a file, each time with one byte or stretch changed at a random place.

    Yields:
        What was changed, as "change at offset", and the file's bytes.
    """
    draw = random.Random(seed)
    for _ in range(most):
        place, length = draw.randrange(len(content) + 1), draw.choice([1, 1, 2, 16, 300])
        before, here, after = content[:place], content[place : place + length], content[place + length :]
        changes = {
            "cut off": before,
            "left out": before + after,
            "doubled": before + here + here + after,
            "zeros": before + bytes(len(here)) + after,
            "drawn": before + draw.randbytes(len(here)) + after,
            "flipped": before + bytes(byte ^ 1 << draw.randrange(8) for byte in here) + after,
            "inserted": before + draw.choice(INSERTED) + here + after,
        }
        change = draw.choice(list(changes))
        yield f"{change} at {place}", changes[change]


def damaged(file: Path, most: int) -> Iterator[str]:
    """Damages a file again and again, and restores it at the end. Yields what was changed, with the file's name."""
    content = file.read_bytes()
    changes = mutated_json(json.loads(content), most) if file.suffix == ".json" else mutated_bytes(content, most)
    try:
        for what, changed in changes:
            file.write_bytes(changed)
            yield f"{file.name}: {what}"
    finally:
        file.write_bytes(content)


def message_of(action: Callable[[], object], what: str) -> str | None:
    """The message of the InputError that an action raises, None if it succeeds. what: was damaged how, for the test's own message.

    Raises AssertionError for any other exception, and for a message of several lines, except for those of a value that it quotes: the
    command line escapes them.
    """
    try:
        action()
    except InputError as error:
        assert "\n" not in str(error).replace(json.loads(VALUES["control"]), ""), f"{what}: several lines: {error}"
        return str(error)
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    return None
