"""The words of a finished run, and new ones from a file."""

import logging
from pathlib import Path

import pytest
import torch
from embedding_requests import VECTORS, two_words
from input_errors import refused

from mtl.data.text import TokenizedTexts
from mtl.embedders import StaticOptions
from mtl.embedders.interface import RunReaderRequest
from mtl.embedders.new_words import WordReader, run_words
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.embedders.vector_files.word_index import WordVectors


def reader(folder: Path, file: Path | None = None) -> WordReader:
    """Of a run whose stage 1 has doubled the vectors of `two_words`."""
    two_words().save(folder)
    weights = {"table.weight": 2 * torch.from_numpy(VECTORS)}
    options = StaticOptions(name="fasttext", dropout=0.2, trainable=True, min_count=1)
    made = run_words(RunReaderRequest(options, folder, weights, two_words().fingerprint(), file, torch.device("cpu")))
    made.embedder.load_state_dict(weights)
    return made


def vectors_of(made: WordReader, text: str) -> list[list[float]]:
    tokens, _ = made.sequences(TokenizedTexts.tokenize([text], "pl", 9)).gather(torch.tensor([0]))
    return made.embedder(tokens)[0].tolist()


def recorded_reads(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The words of each call of `VectorFile.read` from now on."""
    asked: list[list[str]] = []
    read = VectorFile.read

    def recorded(self: VectorFile, words: list[str]) -> WordVectors:
        asked.append(list(words))
        return read(self, words)

    monkeypatch.setattr(VectorFile, "read", recorded)
    return asked


def test_new_words_get_their_vectors_from_the_file_if_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = reader(tmp_path)
    assert vectors_of(made, "kot ryba") == [[6, 12], [4, 8]]  # trained; a new word is the unknown one
    assert (made.dim, made.vocabulary.words) == (2, ["pies", "kot"])
    asked = recorded_reads(monkeypatch)
    (tmp_path / "v.vec").write_text("ryba 7 8\nkot 0 0\n", encoding="utf-8")
    made = reader(tmp_path, tmp_path / "v.vec")
    for _ in range(2):
        assert vectors_of(made, "kot ryba nic") == [[6, 12], [7, 8], [4, 8]]
    assert asked == [["ryba", "nic"]]  # no word is looked up twice


def test_a_missing_file_knows_no_word_and_dims_must_fit(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = reader(tmp_path, tmp_path / "none.vec")
    with caplog.at_level(logging.WARNING, "mtl"):
        assert vectors_of(made, "ryba nic") == [[4, 8], [4, 8]]
        assert vectors_of(made, "ryba") == [[4, 8]]
    said = f"{tmp_path / 'none.vec'} does not exist: 2 words that the run never saw are unknown"
    assert caplog.messages == [said]
    (tmp_path / "v.vec").write_text("ryba 7 8 9\n", encoding="utf-8")
    refused(lambda: vectors_of(reader(tmp_path, tmp_path / "v.vec"), "ryba"), file="v.vec")


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.embedders.new_words.MOST_NEW", 3)
    words = [f"nowe{number}" for number in range(20)]
    rows = "".join(f"{word} {number}.5 0\n" for number, word in enumerate(words) if number % 2)
    (tmp_path / "v.vec").write_text(rows, encoding="utf-8")
    made = reader(tmp_path, tmp_path / "v.vec")
    for _ in range(2):
        for number, word in enumerate(words):
            assert vectors_of(made, f"kot {word}") == [[6, 12], [number + 0.5, 0] if number % 2 else [4, 8]]
            assert len(made.vocabulary) - 4 + len(made.without_vector) <= 4
            assert len(made.embedder.added) == len(made.vocabulary) - 4


def test_a_reader_s_fingerprint_follows_the_words_and_the_file_s_content(tmp_path: Path) -> None:
    file = tmp_path / "v.vec"
    file.write_text("ryba 7 8\n", encoding="utf-8")
    moved = tmp_path / "moved.vec"
    moved.write_bytes(file.read_bytes())
    made = reader(tmp_path, file)
    before = made.fingerprint()
    vectors_of(made, "ryba nic")
    # Words that were added later do not count, nor does the path.
    assert made.fingerprint() == before == reader(tmp_path, moved).fingerprint()
    file.write_text("ryba 7 9\n", encoding="utf-8")
    moved.unlink()
    others = {reader(tmp_path, path).fingerprint() for path in (file, moved, None)}
    assert len({before, *others}) == 4
