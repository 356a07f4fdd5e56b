"""The texts of a pre-training: documents from text files and from a suite, and a fingerprint of them."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mtl.data.text import text_lines
from mtl.errors import InputError
from mtl.files import sha256


@dataclass(frozen=True)
class PretrainingTexts:
    """Text files, plain or gzipped, and texts that are documents of their own; the files come first.

    language: its code, for the model card; None: not said.
    """

    files: Sequence[Path] = ()
    texts: Sequence[str] = ()
    language: str | None = None
    source: str = ""  # where `texts` come from, for the model card

    def check(self) -> None:
        """Raise InputError for a file that is missing or empty, for a folder, and if there is no text."""
        for path in self.files:
            if path.is_dir():
                raise InputError(f"{path}: is a folder; name the files in it: texts=[FILE,…]")
            if not path.is_file():
                raise InputError(f"{path}: no such file")
            if not path.stat().st_size:
                raise InputError(f"{path}: is empty")
        if not self.files and not any(text.strip() for text in self.texts):
            raise InputError("there is no text to train on")

    @property
    def size(self) -> int:
        """About how many bytes of text there are; a gzipped file has about three times its size."""
        files = sum(path.stat().st_size * (3 if path.suffix == ".gz" else 1) for path in self.files)
        return files + sum(len(text.encode("utf-8", "surrogatepass")) for text in self.texts)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the files' SHA-256 and of the texts, as 64 hexadecimal digits."""
        digest = hashlib.sha256()
        for path in self.files:
            digest.update(sha256(path).encode())
        for text in self.texts:
            digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        return digest.hexdigest()

    def described(self) -> list[str]:
        """Each source in a few words, without the folders of this machine."""
        return [path.name for path in self.files] + ([self.source or "texts"] if self.texts else [])

    def lines(self, title: str) -> Iterator[str]:
        """All lines, for learning a vocabulary. title: of the progress, as in "reading". Raises InputError for an unreadable file."""
        yield from text_lines(self.files, title)
        yield from map(_valid, self.texts)

    def by_document(self, kind: str, title: str) -> Iterator[str]:
        """The documents that are not empty. kind: `line`: each line is one; `block`: lines up to an empty one, or the file's end, are one.

        Raises InputError for a file that cannot be read.
        """
        for path in self.files:
            lines = text_lines([path], title)
            yield from filter(None, lines) if kind == "line" else blocks(lines)
        yield from filter(None, (" ".join(_valid(text).split()) for text in self.texts))


def blocks(lines: Iterable[str]) -> Iterator[str]:
    """Lines that follow each other without an empty line between them, joined by spaces."""
    block: list[str] = []
    for line in lines:
        if line:
            block.append(line)
        elif block:
            yield " ".join(block)
            block = []
    if block:
        yield " ".join(block)


def _valid(text: str) -> str:
    """The text with question marks for halves of surrogate pairs, which UTF-8 does not have."""
    return text.encode("utf-8", "replace").decode("utf-8")
