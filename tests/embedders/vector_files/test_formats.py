"""Files of every format give the same vectors in one pass, with an index in any number of calls, and in blocks."""

import bz2
import gzip
import shutil
from codecs import BOM_UTF8
from pathlib import Path

import fasttext
import numpy as np
import pytest
from gensim.models import KeyedVectors
from input_errors import refused
from vector_words import LEXICON, OUTSIDE, has_surrogates

from mtl.embedders.vector_files import word_index
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.embedders.vector_files.word_index import WordIndex

DIM = 8
VECTORS = np.random.default_rng(1).normal(size=(len(LEXICON), DIM)).astype(np.float32)
WORDS = [word for word in LEXICON + OUTSIDE if not has_surrogates(word)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every format, with the words of LEXICON, and the same vectors where no program trains them."""
    path = tmp_path_factory.mktemp("vectors")
    text = path / "words.txt"
    text.write_text("\n".join(" ".join(LEXICON[i::7]) for i in range(7)) + "\n", encoding="utf-8")
    options = {"dim": DIM, "bucket": 500, "minCount": 1, "epoch": 1, "thread": 12, "verbose": 0, "minn": 2, "maxn": 4}
    fasttext.train_unsupervised(str(text), **options).save_model(str(path / "model.bin"))
    lines = [f"{word} {' '.join(map(repr, row.tolist()))}\n" for word, row in zip(LEXICON, VECTORS, strict=True)]
    (path / "words.vec").write_text(f"{len(lines)} {DIM}\n" + "".join(lines), encoding="utf-8")
    (path / "words.vec.gz").write_bytes(gzip.compress("".join(lines).encode()))
    tabs = BOM_UTF8 + "".join(lines).replace(" ", "\t").encode()
    (path / "tabs.txt").write_bytes(tabs)
    (path / "tabs.txt.bz2").write_bytes(bz2.compress(tabs))
    keyed = KeyedVectors(DIM)
    keyed.add_vectors(LEXICON, VECTORS)
    keyed.save_word2vec_format(str(path / "word2vec.bin"), binary=True)
    with (path / "own.bin").open("wb") as ends:  # word2vec's own program ends each row with a line feed
        ends.write(f"{len(LEXICON)} {DIM}\n".encode())
        ends.writelines(f"{word} ".encode() + row.tobytes() + b"\n" for word, row in zip(LEXICON, VECTORS, strict=True))
    return path


@pytest.fixture(
    params=["model.bin", "words.vec", "words.vec.gz", "tabs.txt", "tabs.txt.bz2", "word2vec.bin", "own.bin"]
)
def path(folder: Path, request: pytest.FixtureRequest) -> Path:
    return folder / str(request.param)


@pytest.mark.parametrize("rows", [1, 50, 10_000])
def test_blocks_have_every_word_once_with_its_vector(path: Path, rows: int) -> None:
    file = VectorFile(path)
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
    if path.name != "model.bin":
        np.testing.assert_array_equal(read.vectors, VECTORS[[LEXICON.index(word) for word in words]])


def test_the_words_of_a_file_are_read_once(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, file = VectorFile(path).read_once(WORDS), VectorFile(Path(shutil.copy(path, tmp_path)))
    built, build = [], WordIndex.build
    monkeypatch.setattr(WordIndex, "build", lambda entries: built.append(0) or build(entries))
    assert file.shape[1] == DIM and file.shape[0] >= len(LEXICON) - 1
    for position, word in enumerate(WORDS):
        read = file.read([word])
        np.testing.assert_allclose(read.vectors[0], expected.vectors[position], atol=1e-6)
        assert (read.in_file[0], read.from_ngrams[0]) == (expected.in_file[position], expected.from_ngrams[position])
    assert file.read([]).vectors.shape == (0, DIM)
    assert len(built) == 1
    file.path.write_bytes(path.read_bytes() + b" ")
    refused(lambda: file.read(["kot"]), file=path.name)


def test_words_with_the_same_hash_are_distinguished(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = {
        word: vector
        for words, vectors in VectorFile(path).blocks()
        for word, vector in zip(words, vectors, strict=True)
    }
    monkeypatch.setattr(word_index, "hash", lambda word: len(word) % 2, raising=False)
    read = VectorFile(path).read(WORDS)
    assert read.in_file.tolist() == [word in blocks for word in WORDS]
    for word, vector in zip(WORDS, read.vectors, strict=True):
        if word in blocks:
            np.testing.assert_allclose(vector, blocks[word], atol=1e-6)
