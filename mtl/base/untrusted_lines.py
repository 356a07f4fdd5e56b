"""Lines of text files that other people wrote, plain or packed, with the promise of `mtl.base.untrusted`."""

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.untrusted import open_regular

LINE_LIMIT = 2**24  # bytes of a line of text
UNPACKED_FREE = 2**26  # bytes that any gzip may unpack to
UNPACKED_RATIO = 100  # beyond, bytes for each packed one: text has 3 to 10
PACKINGS = {  # how packed text begins; an empty zip has its end alone
    "gzip": (b"\x1f\x8b",),
    "zip": (b"PK\x03\x04", b"PK\x05\x06"),
    "bzip2": (b"BZh",),
    "xz": (b"\xfd7zXZ\0",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
PLAIN_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # bzip2 and LZMA unpack all that they are given at once


class OpenLines:
    """The lines of an open file, plain or packed, of a zip those of its only file, one by one. Memory holds one line, of at most `limit` bytes, and
    unpacking is bounded by the file's size. `packing` is a key of PACKINGS, or None; `number` counts the lines read; `offset`, their bytes."""

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
    """The lines of a text file, plain or packed, as bytes, each of at most `limit` bytes; of a zip, those of its only file. Raises InputError for
    what is no file, a zip with several files, and, within the block, for too long a line and damaged or too large content; OSError as `open`."""
    with open_regular(path) as opened:
        file = io.BufferedReader(cast(io.BufferedReader, opened).raw, 2**20)
        packing = next((name for name, starts in PACKINGS.items() if file.peek(4).startswith(starts)), None)
        try:
            yield OpenLines(path, file, packing, limit)
        except (OSError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and (packing is None or error.errno is not None):
                raise  # an error of the system; gzip, bzip2 and zstd report damaged content as an OSError without a number
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
    """The unpacked content of the only file in a zip. Raises InputError for several files, an encrypted one, and a compression but deflate."""
    try:
        archive = zipfile.ZipFile(file)
        files = [member for member in archive.infolist() if not member.is_dir()]
        members = [member for member in files if not member.filename.startswith("__MACOSX/")]  # macOS's attributes
        is_encrypted = any(member.flag_bits & 0x1 for member in members)
        if len(members) == 1 and not is_encrypted and members[0].compress_type in PLAIN_COMPRESSIONS:
            return archive.open(members[0])
    except Exception as error:  # zipfile raises many kinds for a damaged list of members
        raise zipfile.BadZipFile(str(error)) from None
    if len(members) == 1:
        problem = f"{members[0].filename} is encrypted or compressed with another method than deflate; unpack it"
        raise InputError(problem, path=path)
    named = ", ".join(member.filename for member in members[:4]) + (", …" if len(members) > 4 else "")
    problem = f"a zip of {len(members)} files ({named})" if members else "a zip without a file"
    raise InputError(f"{problem}; unpack the one that you want, and give that file", path=path)
