"""Vectors in word2vec's binary format."""

import gzip
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from input_errors import refused
from vector_words import LEXICON, assert_rejected

from mtl.base.errors import InputError
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.embedders.vector_files.word2vec_binary import is_word2vec_binary

WORDS = ["solen", "regnet", "två ord".replace(" ", "\u00a0"), "ö", "7"]
VECTORS = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    keyed = KeyedVectors(4)
    keyed.add_vectors(WORDS, VECTORS)
    keyed.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    return tmp_path / "v.bin"


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("word", ["New York", "en hel rad ord", "två ö"])
@pytest.mark.parametrize("ends", [b"", b"\n"])
def test_words_with_spaces_are_refused(tmp_path: Path, word: str, place: int, ends: bytes) -> None:
    words = [*WORDS[:place], word, *WORDS[place:]]
    vectors = np.random.default_rng(1).normal(size=(6, 50)).astype(np.float32)
    rows = [one.encode() + b" " + vector.tobytes() + ends for one, vector in zip(words, vectors, strict=True)]
    path = tmp_path / "v.bin"
    path.write_bytes(b"6 50\n" + b"".join(rows))
    for read in (VectorFile(path).read, VectorFile(path).read_once):
        refused(read, ["7"], file="v.bin")


def test_a_packed_file_is_to_be_unpacked(path: Path, tmp_path: Path) -> None:
    (tmp_path / "v.bin.gz").write_bytes(gzip.compress(path.read_bytes()))
    refused(lambda: VectorFile(tmp_path / "v.bin.gz").read(["7"]), file="v.bin.gz")


def test_the_first_of_two_equal_words_counts_and_text_is_told_from_binary(path: Path, tmp_path: Path) -> None:
    row = b"solen "
    path.write_bytes(b"2 4\n" + row + VECTORS[0].tobytes() + row + VECTORS[1].tobytes())
    for read in (VectorFile(path).read, VectorFile(path).read_once):
        assert (read(["solen"]).vectors == VECTORS[:1]).all()
    assert is_word2vec_binary(path)
    for content in ("1 2\nsolen 0.5 1\n", "1 1\nsolen 7\n", "solen 0.5 1\n", "3 4", "3 4\n", ""):
        (tmp_path / "text.vec").write_text(content, encoding="utf-8")
        assert not is_word2vec_binary(tmp_path / "text.vec")


def test_damaged_files_and_numbers_that_are_not_finite(path: Path) -> None:
    whole = path.read_bytes()
    headers = (b"6 4", b"5 5", b"5 99999999", b"99999999999 4", b"5 0", b"0 4")
    for content in (whole[:-1], *(whole.replace(b"5 4", header) for header in headers), whole[:4] + b"x" * 10**5):
        path.write_bytes(content)
        refused(lambda: VectorFile(path).read(["solen"]), file="v.bin")
    path.write_bytes(b"1 4\nsolen " + np.full(4, np.nan, dtype=np.float32).tobytes())
    refused(lambda: VectorFile(path).read(["solen"]), file="v.bin")


def test_a_refused_file_says_how_to_convert_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keyed = KeyedVectors(3)
    keyed.add_vectors(["kot", "pies"], np.array([[0.5, -1.25, 3e-05], [7, 8, 9]], dtype=np.float32))
    keyed.save("v.kv")
    Word2Vec([LEXICON], vector_size=3, min_count=1, workers=1).save("model")
    Path("text.kv").write_text("kot 1 2\n")
    line = 'KeyedVectors.load("v.kv").save_word2vec_format("v.bin", binary=True)'
    for name in ("v.kv", "text.kv", "model"):
        assert_rejected(Path(name))
    eval(line, {"KeyedVectors": KeyedVectors})
    assert (VectorFile(Path("v.bin")).read(["pies", "kot"]).vectors == keyed[["pies", "kot"]]).all()


class Malicious:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["v.vec", "v.bin", "v.kv"])
def test_no_code_from_a_file_is_run(tmp_path: Path, name: str, protocol: int) -> None:
    (tmp_path / name).write_bytes(pickle.dumps(Malicious(tmp_path / "run"), protocol))
    with suppress(InputError):
        VectorFile(tmp_path / name).read_once(["kot"])
    assert not (tmp_path / "run").exists()
