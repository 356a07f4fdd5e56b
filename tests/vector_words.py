"""Words and vectors for tests of vector files, and checks of the result."""

import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from input_errors import raises_input_error

from mtl.embedders.fasttext_process import training_process
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.embedders.vector_files.word_index import WordVectors

LEXICON = ["źdźbło", "żółć", "gęś", "kot", "pies", "jaźń", "w", "ó", "😀", "👩‍👩‍👧", "e\u0301tude", "a\u00a0b", "</s>", "naïve"]  # fmt: skip
LEXICON += [f"słowo{n}" for n in range(200)]
OUTSIDE = ["", "x", "ż", "🦆", "🦆🦆", "gżegżółka", "o\u0308lkanne", "\u0301", "nie znam", "a" * 300, "ąę" * 150, "\udcff\udc80"]  # fmt: skip

TABLE = {"źdźbło": [0.5, -1.25, 3e-05], "a\u00a0b": [1, 2, 3], "na pewno": [4, 5, 6.5], "kot": [7, 8, 9]}
WANTED = ["kot", "na pewno", "na", "nie ma", "źdźbło", "a\u00a0b", "kot", "a", ""]


def zipped(content: bytes, *further: str, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip with a file of this content, and with further files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("vectors.txt", content)
        for name in further:
            archive.writestr(name, b"more")
    return buffer.getvalue()


# How the content of a text file may be packed.
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gzip": lambda content: gzip.compress(content[:20]) + gzip.compress(content[20:]),
    "zip": zipped,
    "stored zip": lambda content: zipped(content, compression=zipfile.ZIP_STORED),
    "macOS zip": lambda content: zipped(content, "__MACOSX/._vectors.txt"),
}


def write_fasttext(path: Path, lines: Iterable[Sequence[str]]) -> None:
    """Vectors of six numbers that fastText trains on these lines; the same ones each time."""
    settings = {"dim": 6, "epoch": 2, "minCount": 1, "bucket": 500, "thread": 1, "seed": 1, "verbose": 0}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as text:
        text.writelines(" ".join(words) + "\n" for words in lines)
        text.flush()
        with training_process("train_unsupervised", {"input": text.name, **settings}, path) as process:
            process.communicate()
    assert process.returncode == 0


def has_surrogates(word: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in word)


def assert_table(read: WordVectors, words: list[str]) -> None:
    expected = np.array([TABLE.get(word, [0, 0, 0]) for word in words], dtype=np.float32)
    assert (read.vectors == expected).all()
    assert read.in_file.tolist() == [word in TABLE for word in words]
    assert not read.from_ngrams.any()


def assert_rejected(path: Path) -> None:
    """In one pass, with an index, and in blocks."""
    file = VectorFile(path)
    for read in (file.read_once, file.read, lambda _: list(file.blocks())):
        with raises_input_error(file="TMP" if path.name.startswith("test_") else path.name):
            read(["kot", "0.5", "nowe"])
