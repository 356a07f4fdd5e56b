"""The files beside word vectors that are trained: the text that a library reads, and the note that identifies the text."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.embedders.recipes import texts_note_path


def replace_texts_note(path: Path, fingerprint: str, threads: int | None = None) -> None:
    """Write the note of the vectors that are moved to `path` next. Former vectors are removed first: the note of others never stands beside them."""
    if path.is_file():
        path.unlink()
    hint = "the same texts and settings give the same vectors" if threads == 1 else "each training gives other vectors"
    second_line = "" if threads is None else f"threads={threads}: {hint}\n"
    write_text(texts_note_path(path), f"{fingerprint}\n{second_line}")


@contextmanager
def lines_file(lines: Iterable[Sequence[str]], path: Path) -> Iterator[tuple[IO[str], int]]:
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
