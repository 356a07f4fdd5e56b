"""Unpack downloaded archives, which are not trusted."""

import gzip
import lzma
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from mtl.errors import InputError
from mtl.files import replacing
from mtl.progress import Progress

UNPACKED_LIMIT = 2**30
"""The largest total size in bytes of the members that `unpack` writes from one zip."""


def unpack(archive: Path, folder: Path, names: Sequence[str]) -> None:
    """Write the members of the zip `archive` whose file name is in `names` to `folder/NAME`; on failure, write none.

    Names that the archive lacks are skipped. Raises InputError if the archive has none of them, is damaged, or contains
    anything suspicious: paths outside the archive, links, encrypted members, two members with the same name, or more
    than UNPACKED_LIMIT bytes.
    """
    name = "the list of members"
    try:
        with zipfile.ZipFile(archive) as source, ExitStack() as stack:
            for name, member in _wanted(archive, source, names).items():
                partial = stack.enter_context(replacing(folder / name))
                # zipfile stops at the declared size and checks the CRC there, so it detects a longer stream as well.
                with source.open(member) as stream, partial.open("wb") as file:
                    shutil.copyfileobj(stream, file)
                    if file.tell() != member.file_size:
                        raise zipfile.BadZipFile("shorter than declared")
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, ValueError) as error:
        raise InputError(
            f"{archive}: cannot unpack {name}: {error}; delete the archive and download it again"
        ) from error
    except OSError as error:
        raise InputError(f"{archive}: cannot unpack {name} to {folder}: {error}; fix this and run again") from error


def _wanted(archive: Path, source: zipfile.ZipFile, names: Sequence[str]) -> dict[str, zipfile.ZipInfo]:
    """The member for each of `names` that the archive has; raises InputError if the archive is suspicious."""
    wanted: dict[str, zipfile.ZipInfo] = {}
    for member in source.infolist():
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or re.match("[A-Za-z]:", str(path)):
            raise InputError(
                f"{archive}: member {member.filename} has a path outside the archive; do not use this file"
            )
        if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise InputError(f"{archive}: member {member.filename} is a link or a device; do not use this file")
        # macOS keeps a file's attributes in `__MACOSX/._NAME`.
        if member.is_dir() or path.name not in names or "__MACOSX" in path.parts:
            continue
        if path.name in wanted:
            other = wanted[path.name].filename
            raise InputError(f"{archive}: both {other} and {member.filename} are named {path.name}; keep one")
        if member.flag_bits & 0x1:
            raise InputError(f"{archive}: member {member.filename} is encrypted; unpack it yourself")
        wanted[path.name] = member
    if not wanted:
        raise InputError(f"{archive}: contains none of {', '.join(names)}; check that it is the right archive")
    total = sum(member.file_size for member in wanted.values())
    if total > UNPACKED_LIMIT:
        listed = ", ".join(member.filename for member in wanted.values())
        raise InputError(f"{archive}: {listed} would unpack to {total} bytes, over the limit of {UNPACKED_LIMIT}")
    return wanted


def gunzip(archive: Path, path: Path) -> None:
    """Unpack the gzip file `archive` to `path`, atomically.

    Raises InputError if the archive is truncated, corrupt or no gzip file, or if the disk is too small.
    """
    try:
        with replacing(path) as partial, archive.open("rb") as packed:
            size = archive.stat().st_size
            # The unpacked size is not known in advance, but it is hardly ever smaller than the archive.
            if size > shutil.disk_usage(path.parent).free:
                raise InputError(f"{path}: needs at least {size} bytes of disk space; free some space")
            if not size:
                raise EOFError("the file is empty")
            shown = Progress(f"unpacking {path.name}", size, "B")
            with shown, gzip.GzipFile(fileobj=packed) as stream, partial.open("wb") as file:
                while chunk := stream.read(2**20):
                    file.write(chunk)
                    shown.reach(packed.tell())
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{archive}: not a complete gzip file: {error}; delete it and download it again") from error
    except OSError as error:
        raise InputError(f"{archive}: cannot be unpacked to {path}: {error}; fix this and run again") from error
