"""All words of a vector file, in blocks: the same words and vectors as the file's own reader, or `VectorFile.read`, has."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import fasttext
import numpy as np
import pytest
from input_errors import raises_input_error
from vector_words import LEXICON, TABLE

from mtl.base.errors import InputError
from mtl.embedders.vector_files.vector_file import VectorFile

DIM = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every format, with the words of LEXICON."""
    path = tmp_path_factory.mktemp("vectors")
    text = path / "words.txt"
    text.write_text("\n".join(" ".join(LEXICON[i::7]) for i in range(7)) + "\n", encoding="utf-8")
    options = {"dim": DIM, "bucket": 500, "minCount": 1, "epoch": 1, "thread": 12, "verbose": 0, "minn": 2, "maxn": 4}
    fasttext.train_unsupervised(str(text), **options).save_model(str(path / "model.bin"))
    rows = np.random.default_rng(1).normal(size=(len(LEXICON), DIM)).astype(np.float32)
    lines = [f"{word} {' '.join(map(repr, row.tolist()))}\n" for word, row in zip(LEXICON, rows, strict=True)]
    (path / "words.vec").write_text(f"{len(lines)} {DIM}\n" + "".join(lines), encoding="utf-8")
    (path / "words.vec.gz").write_bytes(gzip.compress("".join(lines).encode()))
    return path


@pytest.mark.parametrize("name", ["model.bin", "words.vec", "words.vec.gz"])
@pytest.mark.parametrize("rows", [1, 50, 10_000])
def test_every_word_once_with_its_vector(folder: Path, name: str, rows: int) -> None:
    file = VectorFile(folder / name)
    words, vectors = [], []
    for block, of_block in file.blocks(rows * DIM * 4):
        assert len(block) == len(of_block) <= rows and of_block.dtype == np.float32
        words += block
        vectors.append(of_block)
    # fastText reads a no-break space as a part of a word.
    assert sorted(set(words) | {"</s>"}) == sorted(set(LEXICON) | {"</s>"}) and len(words) == len(set(words))
    read = file.read(words)
    assert read.in_file.all()
    np.testing.assert_allclose(np.concatenate(vectors), read.vectors, atol=1e-6)


def test_words_with_spaces(tmp_path: Path) -> None:
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in TABLE.items()]
    (tmp_path / "t.vec").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (words,), (vectors,) = zip(*VectorFile(tmp_path / "t.vec").blocks(), strict=True)
    assert dict(zip(words, vectors.tolist(), strict=True)) == {
        word: np.float32(row).tolist() for word, row in TABLE.items()
    }


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"3 2\na 1 2\nb 3 4\n", "line 1 announces 3 vectors, but only 2 follow"),
        (b"a 1 2\nb 3 x\n", ":2: could not convert"),
        (b"a 1 2\nb 3 nan\n", "the vector of 'b' contains NaN or infinite numbers"),
        (b"", "the file is empty"),
        (gzip.compress(b"a 1 2\nb 3 4\n", mtime=0)[:-6], "damaged gzip"),
    ],
)
def test_a_damaged_file(tmp_path: Path, content: bytes, complaint: str) -> None:
    (tmp_path / "t.vec").write_bytes(content)
    blocks: Iterator[object] = VectorFile(tmp_path / "t.vec").blocks(8)
    with pytest.raises(InputError, match=complaint):
        list(blocks)


def test_a_truncated_model(folder: Path, tmp_path: Path) -> None:
    content = (folder / "model.bin").read_bytes()
    (tmp_path / "short.bin").write_bytes(content[: len(content) // 2])
    with raises_input_error(file="short.bin"):
        list(VectorFile(tmp_path / "short.bin").blocks())
