"""Files that gensim saved are refused with the line that converts them, and no code from them is run."""

import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from vector_words import LEXICON, assert_rejected

from mtl.base.errors import InputError
from mtl.embedders.vector_files.vector_file import VectorFile


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
