"""Unpack downloaded archives, which are not trusted."""

import gzip
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from mtl.base.errors import InputError
from mtl.base.files import check_space, replacing
from mtl.base.progress import Progress
from mtl.base.untrusted import open_regular

UNPACKED_LIMIT = 2**30  # the largest total size in bytes of the members that are read from one zip
GZIP_RATIO = 100  # how many times its size a gzip file may unpack to: text takes about 3, files of vectors at most 20
PIECE = 2**12  # bytes that are unpacked at a time: bzip2 and LZMA unpack all that they get, up to 20,000 times as much


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
                with partial.open("wb") as file:
                    file.writelines(_pieces(source, member))
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot unpack {name} to {folder}: {error}; fix this and run again", path=archive) from error
    except Exception as error:  # zipfile and the decompressors raise many kinds for damaged members
        raise InputError(
            f"cannot unpack {name}: {error}; delete the archive and download it again", path=archive
        ) from error


def read_zip(
    path: Path, wanted: Callable[[str], bool], limit: int = UNPACKED_LIMIT
) -> tuple[dict[str, bytes], list[str]]:
    """The content of those files in a zip whose name is wanted, by name, and the names of all others, which are not read.

    Raises InputError if there is no such file, and for a zip that is damaged, or has wanted members that are encrypted, have the name of
    another one, or have more than `limit` bytes together. Raises OSError as `open` does.
    """
    contents: dict[str, bytes] = {}
    unread = []
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as source:
            members = [member for member in source.infolist() if not member.is_dir()]
            if sum(member.file_size for member in members if wanted(member.filename)) > limit:
                raise InputError(f"its files would unpack to more than {limit} bytes; no submission does", path=path)
            for member in members:
                if not wanted(member.filename):
                    unread.append(member.filename)
                elif member.filename in contents:
                    raise InputError(f"{path}/{member.filename}: stands twice in the zip; keep one")
                elif member.flag_bits & 0x1:
                    raise InputError(f"{path}/{member.filename}: is encrypted; zip it without a password")
                else:
                    contents[member.filename] = b"".join(_pieces(source, member))
    except (InputError, FileNotFoundError):
        raise
    except Exception as error:  # zipfile and the decompressors raise many kinds for damaged members
        raise InputError(f"not a zip, or a damaged one: {error}", path=path) from None
    return contents, unread


def _pieces(source: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a member. zipfile stops at the declared size and checks the CRC there, so it detects a longer stream as well."""
    size = 0
    with source.open(member) as stream:
        while piece := stream.read(PIECE):
            size += len(piece)
            yield piece
    if size != member.file_size:
        raise zipfile.BadZipFile("shorter than declared")


def _wanted(archive: Path, source: zipfile.ZipFile, names: Sequence[str]) -> dict[str, zipfile.ZipInfo]:
    """The member for each of `names` that the archive has; raises InputError if the archive is suspicious."""
    wanted: dict[str, zipfile.ZipInfo] = {}
    for member in source.infolist():
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or re.match("[A-Za-z]:", str(path)):
            raise InputError(
                f"member {member.filename} has a path outside the archive; do not use this file", path=archive
            )
        if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise InputError(f"member {member.filename} is a link or a device; do not use this file", path=archive)
        # macOS keeps a file's attributes in `__MACOSX/._NAME`.
        if member.is_dir() or path.name not in names or "__MACOSX" in path.parts:
            continue
        if path.name in wanted:
            first = wanted[path.name].filename
            raise InputError(f"both {first} and {member.filename} are named {path.name}; keep one", path=archive)
        if member.flag_bits & 0x1:
            raise InputError(f"member {member.filename} is encrypted; unpack it yourself", path=archive)
        wanted[path.name] = member
    if not wanted:
        raise InputError(f"contains none of {', '.join(names)}; check that it is the right archive", path=archive)
    total = sum(member.file_size for member in wanted.values())
    if total > UNPACKED_LIMIT:
        listed = ", ".join(member.filename for member in wanted.values())
        raise InputError(f"{listed} would unpack to {total} bytes, over the limit of {UNPACKED_LIMIT}", path=archive)
    return wanted


def gunzip(archive: Path, path: Path) -> None:
    """Unpack the gzip file `archive` to `path`, atomically.

    Raises InputError if the archive is truncated, corrupt or no gzip file, if it unpacks to more than GZIP_RATIO times its size, or if
    the disk is too small.
    """
    try:
        with replacing(path) as partial, archive.open("rb") as packed:
            size = archive.stat().st_size
            # The unpacked size is not known in advance, but it is hardly ever smaller than the archive.
            check_space(path.parent, size, "unpack to another disk")
            if not size:
                raise EOFError("the file is empty")
            bar = Progress(f"unpacking {path.name}", size, "B")
            with bar, gzip.GzipFile(fileobj=packed) as stream, partial.open("wb") as file:
                while chunk := stream.read(2**20):
                    file.write(chunk)
                    bar.reach(packed.tell())
                    if file.tell() > GZIP_RATIO * size + 2**20:
                        raise InputError(
                            f"unpacks to more than {GZIP_RATIO} times its size; do not use this file", path=archive
                        )
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"not a complete gzip file: {error}; delete it and download it again", path=archive) from error
    except OSError as error:
        raise InputError(f"cannot be unpacked to {path}: {error}; fix this and run again", path=archive) from error
