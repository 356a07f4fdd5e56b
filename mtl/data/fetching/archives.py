"""Unpack downloaded archives, which are not trusted."""

import gzip
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from mtl.base.errors import InputError
from mtl.base.files import check_space, replacing
from mtl.base.progress import Progress
from mtl.base.untrusted import open_regular

UNPACKED_LIMIT = 2**30  # the largest total size in bytes of the members that are read from one zip
GZIP_RATIO = 100  # how many times its size a gzip file may unpack to: text takes about 3, files of vectors at most 20
PIECE = 2**12  # bytes that are unpacked at a time: bzip2 and LZMA unpack all that they get, up to 20,000 times as much


def unpack(archive: Path, folder: Path, names: Sequence[str], kept: Collection[str] = ()) -> None:
    """Write the members of a zip whose file name is one of these to `folder/NAME`, or on failure none. Names that the zip lacks are skipped, and
    those in `kept` are not written. Raises InputError if it has none of them, for paths outside the zip, links and devices, and as `read_zip`."""

    def file_name(member: str) -> str | None:
        path = PurePosixPath(member.replace("\\", "/"))
        # macOS keeps a file's attributes in `__MACOSX/._NAME`.
        return path.name if path.name in names and "__MACOSX" not in path.parts else None

    try:
        with _opened(archive) as source, ExitStack() as stack:
            _check_places(archive, source)
            members, _ = _members(archive, source, file_name, UNPACKED_LIMIT)
            if not members:
                problem = f"contains none of {', '.join(names)}; check that it is the right archive"
                raise InputError(problem, path=archive)
            for name, member in members.items():
                if name not in kept:
                    with stack.enter_context(replacing(folder / name)).open("wb") as file:
                        file.writelines(_pieces(source, member))
    except OSError as error:
        raise InputError(f"cannot be unpacked to {folder}: {error}; fix this and run again", path=archive) from error


def _check_places(archive: Path, source: zipfile.ZipFile) -> None:
    """Raise InputError for an archive with paths outside itself, links or devices: no honest archive of data has them."""
    for member in source.infolist():
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or re.match("[A-Za-z]:", str(path)):
            raise InputError(f"{member.filename} has a path outside the archive; do not use this file", path=archive)
        if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise InputError(f"{member.filename} is a link or a device; do not use this file", path=archive)


def read_zip(path: Path, wanted: Callable[[str], bool], limit: int) -> tuple[dict[str, bytes], list[str]]:
    """The content of those files in a zip whose name is wanted, by name, and the names of all others, which are not read. Raises OSError, and
    InputError for a damaged zip, and for wanted members that are encrypted, of one name, or of more than `limit` bytes together."""
    with _opened(path) as source:
        members, others = _members(path, source, lambda name: name if wanted(name) else None, limit)
        return {name: b"".join(_pieces(source, member)) for name, member in members.items()}, others


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as source:
            yield source
    except Exception as error:  # zipfile and the decompressors raise many kinds for damaged members
        if isinstance(error, InputError) or getattr(error, "filename", None):  # a file is missing, or cannot be written
            raise
        raise InputError(f"not a zip, or a damaged one: {error}; copy or download it again", path=path) from None


def _members(
    path: Path, source: zipfile.ZipFile, named: Callable[[str], str | None], limit: int
) -> tuple[dict[str, zipfile.ZipInfo], list[str]]:
    """The files in a zip by the names that `named` gives them, and the names of those to which it gives None. Raises InputError as `read_zip`."""
    members: dict[str, zipfile.ZipInfo] = {}
    others = []
    for member in source.infolist():
        if member.is_dir():
            continue
        if (name := named(member.filename)) is None:
            others.append(member.filename)
        elif name in members:
            problem = f"has two files {name}: {members[name].filename} and {member.filename}; keep one"
            raise InputError(problem, path=path)
        elif member.flag_bits & 0x1:
            raise InputError(f"{member.filename} is encrypted; zip it without a password", path=path)
        else:
            members[name] = member
    if (total := sum(member.file_size for member in members.values())) > limit:
        raise InputError(f"its files would unpack to {total} bytes, more than the {limit} that are allowed", path=path)
    return members, others


def _pieces(source: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a member. zipfile stops at the declared size and checks the CRC there, so it detects a longer stream as well."""
    size = 0
    with source.open(member) as stream:
        while piece := stream.read(PIECE):
            size += len(piece)
            yield piece
    if size != member.file_size:
        raise zipfile.BadZipFile("shorter than declared")


def gunzip(archive: Path, path: Path) -> None:
    """Unpack a gzip file to `path`, atomically. Raises InputError if it is damaged, if it unpacks to too much, or if the disk is too small."""
    try:
        with replacing(path) as partial, archive.open("rb") as packed:
            size = archive.stat().st_size
            check_space(path.parent, size, "unpack to another disk")  # the unpacked size is unknown, and hardly smaller
            if not size:
                raise EOFError("the file is empty")
            bar = Progress(f"unpacking {path.name}", size, "B")
            with bar, gzip.GzipFile(fileobj=packed) as stream, partial.open("wb") as file:
                while chunk := stream.read(2**20):
                    file.write(chunk)
                    bar.reach(packed.tell())
                    if file.tell() > GZIP_RATIO * size + 2**20:
                        problem = f"unpacks to more than {GZIP_RATIO} times its size; do not use this file"
                        raise InputError(problem, path=archive)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"not a complete gzip file: {error}; delete it and download it again", path=archive) from error
    except OSError as error:
        raise InputError(f"cannot be unpacked to {path}: {error}; fix this and run again", path=archive) from error
