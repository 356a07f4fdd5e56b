"""Training word2vec vectors with gensim."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gensim.models import KeyedVectors, Word2Vec
from input_errors import raises_input_error

from mtl.embedders.recipes import noted_fingerprint
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.vectors.words.training import training_settings
from mtl.vectors.words.word2vec import Word2VecTraining

SMALL = Word2VecTraining(dim=6, epochs=3, min_count=1, threads=1)
LINES = [["solen", "skiner", "nummer"], ["jag", "skrattar", "gott"], ["regnet", "faller", "nummer"]] * 30

TRAIN = """
import sys
from pathlib import Path
from mtl.vectors.words.word2vec import Word2VecTraining
lines = [["solen", "skiner", "nummer"], ["jag", "skrattar", "gott"], ["regnet", "faller", "nummer"]] * 30
Word2VecTraining(dim=6, epochs=3, min_count=1, threads=1).train(lines, Path(sys.argv[1]))
"""


def test_one_thread_trains_the_same_vectors_in_every_process(tmp_path: Path) -> None:
    """Python's hashes of words differ between processes."""
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", TRAIN, str(tmp_path / f"{seed}.bin")], env=environment, check=True)
    SMALL.train(LINES, tmp_path / "here.bin")
    contents = {path.read_bytes() for path in tmp_path.glob("*.bin")}
    assert len(contents) == 1
    Word2VecTraining(dim=6, epochs=3, min_count=1, threads=1, seed=2).train(LINES, tmp_path / "other.bin")
    assert (tmp_path / "other.bin").read_bytes() not in contents


@pytest.mark.parametrize("architecture", ["skipgram", "cbow"])
def test_the_vectors_are_gensims(tmp_path: Path, architecture: str) -> None:
    settings = Word2VecTraining(architecture, 6, 3, 2, 0.05, 1, 3)
    settings.train([*LINES, ["rare"]], tmp_path / "v.bin", "texts 1")
    theirs = {"vector_size": 6, "epochs": 3, "min_count": 2, "alpha": 0.05, "seed": 3}
    expected = Word2Vec([*LINES, ["rare"]], sg=int(architecture == "skipgram"), workers=1, **theirs).wv
    words = list(expected.key_to_index)
    read = VectorFile(tmp_path / "v.bin").read([*words, "rare"])
    assert (read.vectors[:-1] == expected.vectors).all() and not read.in_file[-1]
    assert noted_fingerprint(tmp_path / "v.bin") == "texts 1"
    assert (KeyedVectors.load_word2vec_format(str(tmp_path / "v.bin"), binary=True).vectors == expected.vectors).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v.bin", "v.bin.source"]


def test_what_cannot_be_trained(tmp_path: Path) -> None:
    with raises_input_error(file="v.bin"):
        Word2VecTraining().train([["a"]], tmp_path / "v.bin")
    assert list(tmp_path.iterdir()) == []
    with raises_input_error(key="seed"):
        training_settings("word2vec", {"seed": 2**32})
