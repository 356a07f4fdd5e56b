"""Files whose words are indexed give the same vectors as one pass over them, in any number of calls."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from input_errors import raises_input_error
from vector_words import LEXICON, OUTSIDE, TABLE, WANTED, has_surrogates

from mtl.base.errors import InputError
from mtl.embedders import gensim_file, text_vectors, word_index
from mtl.embedders.vectors import VectorFile, read_vectors


def write(path: Path) -> Path:
    """A file of TABLE in the format of its suffix. A row occurs twice; the first counts."""
    if path.suffix == ".kv":
        keyed = KeyedVectors(3)
        keyed.add_vectors(list(TABLE), np.array(list(TABLE.values()), dtype=np.float32))
        keyed.save(str(path))
        return path
    rows = "".join(f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in TABLE.items())
    text = f"{len(TABLE)} 3\n{rows}kot 9 9 9\n".encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", ["v.vec", "v.vec.gz", "v.kv"])
def test_any_number_of_calls(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / name)
    expected = read_vectors(path, WANTED)
    passes = []
    for module, function in ((gensim_file, "_load"), (text_vectors, "_opened")):
        known = getattr(module, function)

        def counted(*arguments: Any, known: Any = known) -> Any:
            passes.append(arguments)
            return known(*arguments)

        monkeypatch.setattr(module, function, counted)
    file = VectorFile(path)
    assert file.shape[1] == 3 and file.shape[0] >= len(TABLE)
    for position, word in enumerate(WANTED):
        read = file.read([word])
        np.testing.assert_array_equal(read.vectors[0], expected.vectors[position])
        assert read.found[0] == expected.found[position]
    np.testing.assert_array_equal(file.read(WANTED[::-1]).vectors, expected.vectors[::-1])
    assert file.read([]).vectors.shape == (0, 3)
    assert len(passes) == 1
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(InputError, match=f"{name}: has changed while it was read; run the command again"):
        file.read(["kot"])


def test_gensim_s_fasttext_has_vectors_for_new_words(tmp_path: Path) -> None:
    trained = FastText([LEXICON] * 5, vector_size=4, bucket=50, min_count=1, epochs=1, workers=1)
    trained.wv.save(str(tmp_path / "v.kv"))
    file, words = VectorFile(tmp_path / "v.kv"), [word for word in LEXICON + OUTSIDE if not has_surrogates(word)]
    assert file.shape == (len(trained.wv) + 50, 4)
    for part in (words[::2], words[1::2]):
        np.testing.assert_allclose(file.read(part).vectors, [trained.wv[word] for word in part], rtol=1e-5, atol=1e-6)


def test_words_with_the_same_hash_are_distinguished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "v.vec")
    expected = read_vectors(path, WANTED)
    monkeypatch.setattr(word_index, "hash", lambda word: len(word) % 2, raising=False)
    read = VectorFile(path).read(WANTED)
    np.testing.assert_array_equal(read.vectors, expected.vectors)
    np.testing.assert_array_equal(read.found, expected.found)


def test_no_space_to_unpack_a_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: Path("/dev/full").open("wb", 0))  # noqa: SIM115
    with raises_input_error(file="v.vec.gz"):
        VectorFile(write(tmp_path / "v.vec.gz")).read(["kot"])
