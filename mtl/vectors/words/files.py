"""The files beside word vectors that are trained: the text that a library reads, and the note of the source of this text."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.embedders.recipes import source_note


def note_source(path: Path, source: str, threads: int | None = None) -> None:
    """Note beside `path` the source of the vectors that are moved there next. Vectors of another source that are still there are removed first."""
    if path.is_file():
        path.unlink()
    hint = "the same texts and settings give the same vectors" if threads == 1 else "each training gives other vectors"
    second_line = "" if threads is None else f"threads={threads}: {hint}\n"
    write_text(source_note(path), f"{source}\n{second_line}")


@contextmanager
def written_lines(lines: Iterable[Sequence[str]], path: Path) -> Iterator[tuple[IO[str], int]]:
    """Within the block, a temporary text file beside `path` with these lines, and the number of their words and ends. `path` may not be a folder."""
    if path.is_dir():
        raise InputError("is a folder; name a file with out=", path=path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.txt")
    tokens = 0
    try:
        with temporary.open("w+", encoding="utf-8") as file:
            for words in lines:
                file.write(" ".join(words) + "\n")
                tokens += len(words) + 1
            file.flush()
            yield file, tokens
    finally:
        temporary.unlink(missing_ok=True)
