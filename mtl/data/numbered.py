"""Files that are numbered parts of one: train-00000-of-00003.parquet, part-0.jsonl, in the order of their numbers."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.untrusted import inside

HASH = "-[0-9a-f]{16}"
NUMBERED_NAME = re.compile(
    rf"(?P<number>\d+)(?P<total>-of-(?P<count>\d+))?(?P<hash>{HASH})?(?P<suffix>(\.[A-Za-z]+)?(\.(gz|bz2|xz|zst))?)$"
)


def numbered_files(path: Path) -> list[Path]:
    """The files that differ from this one in their number alone, in the order of their numbers. Raises InputError if one is missing."""
    try:
        names = numbered_names(path.name, [file.name for file in path.parent.iterdir()])
        return [inside(path.parent, name) for name in names]
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read in parts: {error}", path=path) from None


def numbered_names(name: str, names: Iterable[str]) -> list[str]:
    """Those names that differ from this one in the number before the suffix alone, in the order of their numbers; they may also differ in a hash of
    16 digits after it. Raises ValueError if a number is missing, or stands twice."""
    parsed = NUMBERED_NAME.search(name)
    if parsed is None:
        raise ValueError("its name has no number")
    before, total, suffix = name[: parsed.start()], parsed["total"] or "", parsed["suffix"]
    pattern = rf"{re.escape(before)}(\d+){total}{HASH if parsed['hash'] else ''}{re.escape(suffix)}"
    parts = sorted((int(match[1]), part) for part in names if (match := re.fullmatch(pattern, part)))
    _check_numbers([number for number, _ in parts], parsed["count"])
    return [part for _, part in parts]


def _check_numbers(numbers: Sequence[int], count: str | None) -> None:
    """Raise ValueError unless these ascending numbers of parts begin with 0 or 1, without gaps. `count`: how many the names promise, if they do."""
    if not numbers:
        raise ValueError("there is no such file")
    for expected, number in enumerate(numbers, start=min(numbers[0], 1)):
        if number > expected:
            raise ValueError(f"part {expected} is missing")
        if number < expected:
            raise ValueError(f"there are several files of part {number}")
    if count is not None and len(numbers) != int(count):
        raise ValueError(f"the number of parts is {len(numbers):,}, and {int(count):,} by their names")
