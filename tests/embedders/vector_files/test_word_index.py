"""Files whose words are indexed give the same vectors as one pass over them, in any number of calls."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from input_errors import raises_input_error
from vector_words import TABLE, WANTED

from mtl.base.errors import InputError
from mtl.embedders.vector_files import text, word_index
from mtl.embedders.vector_files.vector_file import VectorFile


def write(path: Path) -> Path:
    """A file of TABLE in the format of its suffix. A row occurs twice; the first counts."""
    rows = "".join(f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in TABLE.items())
    text = f"{len(TABLE)} 3\n{rows}kot 9 9 9\n".encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", ["v.vec", "v.vec.gz"])
def test_any_number_of_calls(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / name)
    expected = VectorFile(path).read_once(WANTED)
    passes = []
    original = text._open

    def counted(*arguments: Any) -> Any:
        passes.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(text, "_open", counted)
    file = VectorFile(path)
    assert file.shape[1] == 3 and file.shape[0] >= len(TABLE)
    for position, word in enumerate(WANTED):
        read = file.read([word])
        np.testing.assert_array_equal(read.vectors[0], expected.vectors[position])
        assert read.in_file[0] == expected.in_file[position]
    np.testing.assert_array_equal(file.read(WANTED[::-1]).vectors, expected.vectors[::-1])
    assert file.read([]).vectors.shape == (0, 3)
    assert len(passes) == 1
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(InputError, match=f"{name}: has changed while it was read; run the command again"):
        file.read(["kot"])


def test_words_with_the_same_hash_are_distinguished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "v.vec")
    expected = VectorFile(path).read_once(WANTED)
    monkeypatch.setattr(word_index, "hash", lambda word: len(word) % 2, raising=False)
    read = VectorFile(path).read(WANTED)
    np.testing.assert_array_equal(read.vectors, expected.vectors)
    np.testing.assert_array_equal(read.in_file, expected.in_file)


def test_no_space_to_unpack_a_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: Path("/dev/full").open("wb", 0))  # noqa: SIM115
    with raises_input_error(file="v.vec.gz"):
        VectorFile(write(tmp_path / "v.vec.gz")).read(["kot"])
