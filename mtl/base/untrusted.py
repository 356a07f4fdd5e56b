"""Checks for files that other people wrote: suite files, recipes, configurations, run folders.

Every reader here has the same promise: a file that is not what it should be raises InputError with one line that names the file and the
key, whatever is in it. Nothing in a file is executed, and its size bounds the memory and the time that reading it takes."""

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar, cast

import msgspec

from mtl.base.errors import InputError
from mtl.base.extras import check_installed

if TYPE_CHECKING:
    import torch

Content = TypeVar("Content")

JSON_LIMIT = 2**28  # bytes of a JSON file
JSON_DEPTH = 100  # levels; what is read can also be copied and written without reaching Python's limit
LINE_LIMIT = 2**24  # bytes of a line of text
UNPACKED_FREE = 2**26  # bytes that any gzip may unpack to
UNPACKED_RATIO = 100  # beyond, bytes for each packed one: text has 3 to 10
PACKINGS = {  # How packed text begins; an empty zip has its end alone.
    **{"gzip": (b"\x1f\x8b",), "zip": (b"PK\x03\x04", b"PK\x05\x06"), "bzip2": (b"BZh",)},
    **{"xz": (b"\xfd7zXZ\0",), "zstd": (b"\x28\xb5\x2f\xfd",)},
}
PLAIN_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # bzip2 and LZMA unpack all that they are given at once

# Types of the values in JSON files, for forms. A score may be far below 0, but no metric leaves these bounds.
Score = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]  # × 100
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e18)]  # seconds, bytes, rates
Count = Annotated[int, msgspec.Meta(ge=0, le=10**15)]
Seed = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]

TYPES = {  # What msgspec calls the types of JSON's values.
    **{"int": "a whole number", "float": "a number", "str": "a text", "bool": "true or false"},
    **{"object": "keys and values", "array": "a list"},
}
AGAIN = "restore it, or remove the run's folder and run it again"


def check_plain_folder(folder: Path) -> None:
    """Raise InputError if anything in the folder, at any depth, is a link, a pipe or a device: through links in a folder from someone else, files
    of this machine would be disclosed or changed. The folder itself may be reached through a link: the user has named it."""
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


class OpenLines:
    """The lines of an open file, plain, gzipped, or the only file in a zip, one by one. Memory holds one line, of at most `limit` bytes, and
    unpacking is bounded by the file's size. `packing` is a key of PACKINGS, or None for a plain file; `number` that of the last line that was read,
    from 1; `offset` where the next line begins, in bytes of the plain text."""

    def __init__(self, path: Path, file: io.BufferedReader, packing: str | None, limit: int) -> None:
        self._path, self._raw, self._lines, self.packing, self._limit = path, file, file, packing, limit
        if packing is not None:
            self._lines = io.BufferedReader(cast(io.RawIOBase, _unpacked(path, file, packing)), 2**20)
        self._checked = UNPACKED_FREE
        self.number = self.offset = 0

    @property
    def done(self) -> int:
        """How many bytes of the file are read."""
        return self._raw.tell()

    def readline(self) -> bytes:
        """The next line with its end; empty after the last one. Raises InputError for a line that is too long, and for a zip bomb."""
        return next(iter(self), b"")

    def __iter__(self) -> Iterator[bytes]:
        read, limit = self._lines.readline, self._limit
        while line := read(limit + 1):
            self.number += 1
            self.offset += len(line)
            if len(line) > limit:
                problem = f"a line of more than {limit // 2**20} MiB, which no such file has; split it into lines"
                raise InputError(problem, path=self._path, line=self.number)
            if self.packing and self.offset > self._checked:
                self._checked = self.offset + UNPACKED_FREE
                if self.offset > UNPACKED_RATIO * self.done:
                    problem = f"unpacks to more than {UNPACKED_RATIO} times its size, as no text does; if it is right, unpack it"
                    raise InputError(problem, path=self._path)
            yield line


@contextmanager
def open_lines(path: Path, limit: int = LINE_LIMIT) -> Iterator[OpenLines]:
    """The lines of a text file, plain or packed, as bytes, each of at most `limit` bytes. Of a zip they are those of its only file.
    zstd needs pyarrow. Raises InputError for what is no file, for a zip with several files, and, within the block, for a line that is too
    long, a damaged gzip or zip and one that unpacks to far more than texts do; OSError as `open` does."""
    with open_regular(path) as opened:
        file = io.BufferedReader(cast(io.BufferedReader, opened).raw, 2**20)
        packing = next((name for name, starts in PACKINGS.items() if file.peek(4).startswith(starts)), None)
        try:
            yield OpenLines(path, file, packing, limit)
        except (gzip.BadGzipFile, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError) as error:
            raise InputError(f"damaged {packing} ({error}); download or copy it again", path=path) from None


def _unpacked(path: Path, file: io.BufferedReader, packing: str) -> IO[bytes]:
    """The unpacked content of a file that is packed in this way."""
    if packing == "zip":
        return _member(path, file)
    if packing == "zstd":
        check_installed("parquet", path=path)
        import pyarrow

        return cast(IO[bytes], pyarrow.CompressedInputStream(pyarrow.PythonFile(file), "zstd"))
    openers: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    return cast(IO[bytes], openers[packing](file))


def _member(path: Path, file: IO[bytes]) -> IO[bytes]:
    """The unpacked content of the only file in a zip. Raises InputError for another number of files, an encrypted one, and a compression other than
    deflate, whose output no buffer bounds."""
    try:
        archive = zipfile.ZipFile(file)
        # macOS keeps a file's attributes in `__MACOSX/._NAME`.
        files = [member for member in archive.infolist() if not member.is_dir()]
        members = [member for member in files if not member.filename.startswith("__MACOSX/")]
        listed = ", ".join([member.filename for member in members[:4]] + ["…"] * (len(members) > 4))
        if len(members) == 1 and not members[0].flag_bits & 0x1 and members[0].compress_type in PLAIN_COMPRESSIONS:
            return archive.open(members[0])
    except Exception as error:  # zipfile raises many kinds for a damaged list of members
        raise zipfile.BadZipFile(str(error)) from None
    if len(members) == 1:
        problem = f"{members[0].filename} is encrypted or compressed with another method than deflate; unpack it"
        raise InputError(problem, path=path)
    problem = f"a zip of {len(members)} files ({listed})" if members else "a zip without a file"
    raise InputError(f"{problem}; unpack the one that you want, and give that file", path=path)


def read_json(path: Path, form: type[Content], remedy: str = AGAIN) -> Content:
    """The content of a JSON file of this form, such as a TypedDict or `dict[str, float]`, in which numbers are finite and fit a float. It may have
    keys besides those of the form: nothing is known of their values. Raises InputError if the file is missing, not JSON, or of another form; the
    message names the key, and `remedy`, what the user can do about a damaged file."""
    with read_errors(path, f"; is {path.parent} a run folder?"):
        content = read_bytes(path, JSON_LIMIT)
    return parse_json(content, path, form, remedy)


def parse_json(content: bytes, name: Path | str, form: type[Content], remedy: str = AGAIN) -> Content:
    """The value of the content of the JSON file with this name, as `read_json` returns it, and raises InputError."""
    try:
        value = msgspec.json.decode(content)
        if is_deep(value):
            raise RecursionError
        check_form(name, value, form, f"; {remedy}")
        return cast(Content, value)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"not JSON: {reason}; {remedy}", path=name) from None


def is_deep(value: object, levels: int = JSON_DEPTH) -> bool:
    """Whether a JSON value is nested deeper than this."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_deep(item, levels - 1) for item in inner if isinstance(item, dict | list))


def check_form(path: Path | str, content: Any, form: type, remedy: str) -> None:
    """Raise InputError, which names the key and the remedy, if the content of a file is not of this form."""
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
    """The key of `node`, a dictionary within `content`, whose value is not of the form: msgspec does not name it. Removes other keys."""
    for key, value in list(node.items()):
        node.clear()
        node[key] = value
        try:
            msgspec.convert(content, form)
        except msgspec.ValidationError:
            break
    return key


def read_checkpoint(path: Path, form: type[Content], remedy: str = "", device: "torch.device | str" = "cpu") -> Content:
    """The content of a file that torch saved, read as tensors and plain values alone, so that no code in it runs; tensors are put on `device`. `form`
    is a TypedDict in which tensors are `Any`; keys that it does not have are kept. Raises InputError if the file does not exist, is damaged, or of
    another form; the message ends with `remedy`, what the user can do, after a comma or a semicolon."""
    import torch

    try:
        with open_regular(path) as file:
            check_stored(file)
            content = torch.load(file, map_location=device, weights_only=True)
            _check_tensors(content, torch.device(device))
    except FileNotFoundError:
        raise InputError(f"no such file{remedy}", path=path) from None
    except InputError:
        raise
    except Exception as error:  # a damaged pickle raises errors of many kinds
        reason = without_advice(str(error)).partition("\n")[0] or "it ends too early"
        raise InputError(f"not a checkpoint that can be read: {reason}{remedy}", path=path) from None
    check_form(path, content, form, remedy)
    return cast(Content, content)


def without_advice(reason: str) -> str:
    """What torch says of a file that it does not read, without its advice to run the code in the file."""
    return "it is damaged, or holds other values than tensors" if "Weights only load failed" in reason else reason


def _check_tensors(content: object, device: "torch.device") -> None:
    """Raise ValueError for a tensor that is sparse, or larger than its numbers in the file: a few bytes can describe one of any size."""
    import torch

    known: set[int] = set()
    unchecked = [content]
    while unchecked:
        value = unchecked.pop()
        if isinstance(value, torch.Tensor):
            dense = value.layout == torch.strided and value.is_meta == (device.type == "meta")
            if not dense or value.numel() * value.element_size() > value.untyped_storage().nbytes():
                raise ValueError("it lacks numbers of a tensor")
        elif isinstance(value, dict | list | tuple) and id(value) not in known:  # a list may hold itself
            known.add(id(value))
            unchecked.extend(value.values() if isinstance(value, dict) else value)


def check_stored(file: IO[bytes]) -> None:
    """Raise ValueError for a zip whose members are compressed: torch and numpy store them as they are, so the file bounds what is read."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("its members are compressed, which torch and numpy never do")
    file.seek(0)


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
