"""Vectors saved by gensim equal those that gensim loads, and no code from a file is run."""

import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from vector_words import LEXICON, OUTSIDE, TABLE, WANTED, assert_rejected, assert_table, has_surrogates

from mtl.base.errors import InputError
from mtl.embedders.vector_files.vector_file import VectorFile

DIM = 8


def test_gensim_vectors(tmp_path: Path) -> None:
    keyed = KeyedVectors(3)
    keyed.add_vectors(list(TABLE), np.array(list(TABLE.values()), dtype=np.float32))
    keyed.save(str(tmp_path / "vectors.kv"))
    keyed.save(str(tmp_path / "separate.kv"), separately=["vectors"])
    assert (tmp_path / "separate.kv.vectors.npy").exists()
    for name in ("vectors.kv", "separate.kv"):
        assert_table(VectorFile(tmp_path / name).read_once(WANTED), WANTED)


@pytest.mark.parametrize("minn", [1, 3])
def test_gensim_fasttext_vectors(tmp_path: Path, minn: int) -> None:
    trained = FastText(
        [LEXICON] * 5, vector_size=DIM, bucket=500, min_count=1, min_n=minn, max_n=4, epochs=1, workers=1
    )
    trained.save(str(tmp_path / "model"))
    trained.wv.save(str(tmp_path / "vectors.kv"))
    words = LEXICON + [word for word in OUTSIDE if not has_surrogates(word)]
    for name in ("model", "vectors.kv"):
        read = VectorFile(tmp_path / name).read_once(words)
        np.testing.assert_allclose(read.vectors, [trained.wv[word] for word in words], atol=1e-6)
        assert read.in_file.tolist() == [word in LEXICON for word in words]
        assert read.has_vector[words.index("gżegżółka")]
        assert read.has_vector[words.index("x")]
    assert VectorFile(tmp_path / "model").read_once(LEXICON).in_file.all()


def test_bad_gensim_files_are_rejected(tmp_path: Path) -> None:
    keyed = KeyedVectors(2)
    keyed.add_vectors(["kot"], np.ones((1, 2), dtype=np.float32))
    keyed.save(str(tmp_path / "vectors.kv"), separately=["vectors"])
    (tmp_path / "vectors.kv.vectors.npy").unlink()
    assert_rejected(tmp_path / "vectors.kv", "npy")
    (tmp_path / "text.kv").write_text("kot 1 2\n")
    assert_rejected(tmp_path / "text.kv", "KeyedVectors.save()")
    (tmp_path / "other.kv").write_bytes(b"\x80\x04K\x01.")
    assert_rejected(tmp_path / "other.kv", "KeyedVectors.save()")
    (tmp_path / "huge.kv").write_bytes(pickle.dumps({"key_to_index": {}}))
    assert_rejected(tmp_path / "huge.kv", "holds a dict", "KeyedVectors.save()")
    keyed.save(str(tmp_path / "protocol.kv"), pickle_protocol=5)
    assert_rejected(tmp_path / "protocol.kv", "saved with pickle_protocol=5; save it with pickle_protocol=4")
    keyed.vectors = np.array([["x", "y"]], dtype=object)
    keyed.save(str(tmp_path / "objects.kv"))
    assert_rejected(tmp_path / "objects.kv", "KeyedVectors.save()")
    keyed.save(str(tmp_path / "apart.kv"), separately=["vectors"])
    assert_rejected(tmp_path / "apart.kv", "Python objects")


class Malicious:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["v.vec", "v.txt", "v.bin", "v.kv", "v"])
def test_no_code_from_a_file_is_run(tmp_path: Path, name: str, protocol: int) -> None:
    content = pickle.dumps(Malicious(tmp_path / "run"), protocol)
    pickle.loads(content)
    (tmp_path / "run").unlink()  # the pickle does run code when it is loaded
    keyed = KeyedVectors(1)
    keyed.add_vectors(["kot"], np.ones((1, 1), dtype=np.float32))
    keyed.more = Malicious(tmp_path / "run")
    for pickled in (content, pickle.dumps(keyed, protocol)):
        (tmp_path / name).write_bytes(pickled)
        with suppress(InputError):
            assert VectorFile(tmp_path / name).read_once(["kot"]).vectors.tolist() == [[1]]
        assert not (tmp_path / "run").exists()


def test_pickled_objects_in_an_npy_file_are_not_loaded(tmp_path: Path) -> None:
    keyed = KeyedVectors(1)
    keyed.add_vectors(["kot"], np.ones((1, 1), dtype=np.float32))
    keyed.save(str(tmp_path / "v.kv"), separately=["vectors"])
    np.save(tmp_path / "v.kv.vectors.npy", np.array([[Malicious(tmp_path / "run")]], dtype=object), allow_pickle=True)
    assert_rejected(tmp_path / "v.kv", "Python objects")
    assert not (tmp_path / "run").exists()
