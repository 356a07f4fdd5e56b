from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from input_errors import raises_input_error
from pretraining_parts import lines, tokenizer

from mtl.vectors.pretraining.tokens import (
    CLS,
    MASK,
    PAD,
    SEP,
    Tokens,
    document_segments,
    packed_segments,
    read_tokens,
    token_type,
    write_tokens,
)


def tokens(*documents: list[int]) -> Tokens:
    flat = [token for document in documents for token in (*document, SEP)]
    ends = np.cumsum([len(document) + 1 for document in documents])
    return Tokens(np.array(flat, dtype=np.uint16), ends)


def rows(ids: np.ndarray) -> list[list[int]]:
    return [[token for token in row if token != PAD] for row in ids.tolist()]


def test_documents_come_back_in_order(tmp_path: Path) -> None:
    learnt, texts = tokenizer(), lines(2500)
    write_tokens(iter(texts), learnt, 0, tmp_path)
    read = read_tokens(tmp_path, learnt.get_vocab_size())
    expected = [learnt.encode(text, add_special_tokens=False).ids for text in texts]
    assert read.flat.tolist() == [token for ids in expected for token in (*ids, SEP)]
    assert read.count == sum(map(len, expected)) and len(read.ends) == 2500
    assert read.flat.dtype == np.uint16 and token_type(2**16 + 1) == np.uint32


def test_short_documents_are_dropped(tmp_path: Path) -> None:
    learnt = tokenizer()
    write_tokens(["kot", "kot idzie drogą idzie"], learnt, 4, tmp_path)
    assert len(read_tokens(tmp_path, learnt.get_vocab_size()).ends) == 1
    with raises_input_error():
        write_tokens(["kot"], learnt, 90, tmp_path)
    with raises_input_error():
        write_tokens([], learnt, 0, tmp_path)


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [half, empty, Path.unlink])
def test_tokens_that_are_not_whole_are_one_line(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    learnt = tokenizer()
    write_tokens(lines(), learnt, 0, tmp_path)
    damage(tmp_path / "tokens.bin")
    with raises_input_error(file="tokens.bin"):
        read_tokens(tmp_path, learnt.get_vocab_size())


@pytest.mark.parametrize(
    "content", [None, b"", b"other", np.array([4.0]), np.array([9, 3]), np.array([], dtype=np.int64)]
)
def test_damaged_ends_of_documents_are_one_line(tmp_path: Path, content: bytes | np.ndarray | None) -> None:
    learnt, path = tokenizer(), tmp_path / "documents.npy"
    write_tokens(lines(), learnt, 0, tmp_path)
    if content is None:
        half(path)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)
    with raises_input_error(file="documents.npy"):
        read_tokens(tmp_path, learnt.get_vocab_size())


def test_a_special_token_written_in_a_text_is_plain_text(tmp_path: Path) -> None:
    learnt = tokenizer()
    write_tokens(["kot [MASK] kot [SEP] kot"], learnt, 0, tmp_path)
    flat = read_tokens(tmp_path, learnt.get_vocab_size()).flat.tolist()
    assert MASK not in flat and flat.count(SEP) == 1


def test_packed_segments_run_across_documents() -> None:
    segments = packed_segments(tokens([10, 11, 12], [20], [30, 31, 32, 33]), 4)
    ids, is_text = segments.inputs(np.arange(len(segments)))
    assert rows(ids) == [[CLS, 10, 11, 12, SEP, SEP], [CLS, 20, SEP, 30, 31, SEP], [CLS, 32, 33, SEP]]
    assert np.array_equal(is_text, ids >= 10)


def test_document_segments_hold_one_document_each() -> None:
    segments = document_segments(tokens([10, 11, 12, 13, 14], [20], [30, 31, 32, 33]), 4)
    ids, is_text = segments.inputs(np.array([3, 0, 1, 2]))
    assert rows(ids) == [[CLS, 30, 31, 32, 33, SEP], [CLS, 10, 11, 12, 13, SEP], [CLS, 14, SEP], [CLS, 20, SEP]]
    assert np.array_equal(is_text, ids >= 10)


def test_inputs_are_as_long_as_the_longest_segment() -> None:
    segments = document_segments(tokens([10, 11, 12], [20]), 8)
    assert segments.inputs(np.array([1]))[0].tolist() == [[CLS, 20, SEP]]
