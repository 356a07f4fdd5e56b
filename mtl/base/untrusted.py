"""Checks for files that other people wrote: suite files, recipes, configurations, run folders.
Every reader here has the same promise: a file that is not what it should be raises InputError with one line that names the file and the
key, whatever is in it. Nothing in a file is executed, and its size bounds the memory and the time that reading it takes."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Annotated, Any, TypeVar, cast

import msgspec

from mtl.base.errors import InputError

Content = TypeVar("Content")

JSON_LIMIT = 2**28  # bytes of a JSON file
JSON_DEPTH = 100  # levels; what is read can also be copied and written without reaching Python's limit
# Types of the values in JSON files, for forms. A score may be far below 0, but no metric leaves these bounds.
Score = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]  # × 100
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e18)]  # seconds, bytes, rates
Count = Annotated[int, msgspec.Meta(ge=0, le=10**15)]
Seed = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]

TYPES = {  # of JSON's values, by what msgspec calls them
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "object": "keys and values",
    "array": "a list",
}
AGAIN = "restore it, or remove the run's folder and run it again"


def check_plain_folder(folder: Path) -> None:
    """Raise InputError if anything in the folder, at any depth, is a link, a pipe or a device: a link could disclose files of this machine."""
    for path, folders, files in os.walk(folder):
        for entry in (Path(path, name) for name in (*folders, *files)):
            if entry.is_symlink():
                problem = "is a link; a run's, a submission's or a model's folder holds only files and folders"
                raise InputError(f"{problem}: put the file itself there, or remove the link", path=entry)
            if not entry.is_file() and not entry.is_dir():
                raise InputError("is neither a file nor a folder; remove it", path=entry)


@contextmanager
def read_errors(path: Path, hint: str = "") -> Iterator[None]:
    """For a block that reads a file: an error of the system becomes an InputError with this path; the hint is for a file that does not exist."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"no such file{hint}", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None


def open_regular(path: Path) -> IO[bytes]:
    """Open a file to read its bytes. Raises InputError for a folder, a pipe (without waiting for a writer) or a device; OSError as `open`."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise InputError("is not a file; put a file there, or remove it", path=path)
    return os.fdopen(file, "rb")


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a file of at most `limit` bytes. Raises InputError for a larger one and as `open_regular` does, and OSError."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > limit else file.read()
    if max(size, len(content)) > limit:
        raise InputError(f"has more than {limit // 2**20} MiB, which no such file has", path=path)
    return content


def read_json(path: Path, form: type[Content], remedy: str = AGAIN) -> Content:
    """The content of a JSON file of this form, such as a TypedDict or `dict[str, float]`, in which numbers are finite and fit a float; it may have
    other keys, too. Raises InputError if the file is missing, not JSON, or of another form; the message names the key and the `remedy`."""
    with read_errors(path, f"; is {path.parent} a run folder?"):
        content = read_bytes(path, JSON_LIMIT)
    return parse_json(content, path, form, remedy)


def parse_json(content: bytes, name: Path | str, form: type[Content], remedy: str = AGAIN) -> Content:
    """The value of the content of the JSON file with this name, as `read_json` returns it. Raises InputError as `read_json`."""
    try:
        value = msgspec.json.decode(content)
        problem = "it is nested too deeply" if is_deep(value) else None
    except (ValueError, RecursionError) as error:
        problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    if problem is not None:
        raise InputError(f"not JSON: {problem}; {remedy}", path=name)
    check_form(name, value, form, f"; {remedy}")
    return cast(Content, value)


def is_deep(value: object, levels: int = JSON_DEPTH) -> bool:
    """Whether a JSON value is nested deeper than this."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_deep(item, levels - 1) for item in inner if isinstance(item, dict | list))


def check_form(path: Path | str, content: Any, form: type, remedy: str) -> None:
    """Raise InputError, which names the key and the remedy, if the content of a file is not of this form; it may lose keys then."""
    try:
        msgspec.convert(content, form)
    except msgspec.ValidationError as error:
        raise InputError(f"{_form_problem(content, form, str(error))}{remedy}", path=path) from None
    except RecursionError:
        raise InputError(f"it is nested too deeply{remedy}", path=path) from None


def _form_problem(content: Any, form: type, reason: str) -> str:
    """What msgspec says of content of another form, as "key: problem". It writes "Expected `int`, got `str` - at `$.tasks[...].rows`"."""
    problem, _, location = reason.partition(" - at ")
    problem = problem.replace("Object missing required field", "has no").replace("Expected", "must be")
    kinds = re.compile("`([a-z |]+)`")
    problem = kinds.sub(lambda match: " or ".join(TYPES.get(name, name) for name in match[1].split(" | ")), problem)
    keys: list[str] = []
    node = content
    for key in re.findall(r"\.([^.\[\]]+)|\[([0-9]+|\.\.\.)\]", location.strip("`").removeprefix("$")):
        name: Any = key[0] or (int(key[1]) if key[1].isdigit() else _wrong_key(content, node, form))
        keys.append(str(name))
        node = node[name]
    return f"{'.'.join(keys)}: {problem}" if keys else f"it {problem}"


def _wrong_key(content: Any, node: dict[Any, Any], form: type) -> Any:
    """The key of `node`, a dictionary within `content`, whose value is not of the form: msgspec does not name it. Removes the other
    keys from `node`, so that a search in its value meets no other fault."""
    for key, value in list(node.items()):
        node.clear()
        node[key] = value
        try:
            msgspec.convert(content, form)
        except msgspec.ValidationError:
            break
    return key


def is_inside(name: str) -> bool:
    """Whether a relative path stays inside its folder, both as a POSIX and as a Windows path."""
    kinds = (PurePosixPath(name), PureWindowsPath(name))
    return "\0" not in name and not any(path.anchor or ".." in path.parts for path in kinds)


def inside(folder: Path, name: str) -> Path:
    """The path of a file or folder, whose name `is_inside`, below a folder of files from others. Raises InputError if a link leads out of the
    folder: it would show or change files of this machine. The folder itself may be reached through a link: the user has named it."""
    path = folder / name
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        problem = f"a link leads out of {folder}, and no data from others may do that"
        raise InputError(f"{problem}; put the file itself there, or remove the link", path=path)
    return path


def is_web_address(url: str) -> bool:
    """Whether an address starts with https:// or http://, so that a download may use it."""
    return url.startswith(("https://", "http://"))
