"""Documents, and the segments of their tokens."""

import gzip
from pathlib import Path

import numpy as np
from input_errors import raises_input_error
from pretraining_parts import lines, tokenizer

from mtl.vectors.pretraining.tokens import PretrainingTexts, Segments, read_tokens, write_tokens
from mtl.vectors.pretraining.vocabulary import CLS, MASK, PAD, SEP


def test_a_line_or_a_block_is_a_document(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_text("jeden\ndwa\n\n \ntrzy\n", encoding="utf-8")
    with gzip.open(packed, "wt", encoding="utf-8") as file:
        file.write("\ncztery\n\n\npięć\nsześć")
    texts = PretrainingTexts([plain, packed], ["siedem\nosiem", " "])
    as_lines = ["jeden", "dwa", "trzy", "cztery", "pięć", "sześć", "siedem osiem"]
    assert list(texts.by_document("line", "x")) == as_lines
    assert list(texts.by_document("block", "x")) == ["jeden dwa", "trzy", "cztery", "pięć sześć", "siedem osiem"]
    assert " ".join(" ".join(texts.lines("x")).split()) == " ".join(as_lines)
    # Half a surrogate pair is replaced.
    assert list(PretrainingTexts(texts=["a\ud800b"]).by_document("line", "x")) == ["a?b"]


def test_the_fingerprint_changes_with_the_content_alone(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("x")
    given = [("a", []), ("b", []), ("a", ["y"]), ("a", ["y", ""])]
    marks = [PretrainingTexts([tmp_path / name], texts).fingerprint for name, texts in given]
    assert marks[0] == marks[1] and len(set(marks)) == 3
    with_vocabulary = PretrainingTexts([tmp_path / "a"], vocabulary=[tmp_path / "b"])
    assert with_vocabulary.fingerprint not in {*marks, PretrainingTexts([tmp_path / "a", tmp_path / "b"]).fingerprint}


def test_missing_texts_are_errors(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    missing, blank = (PretrainingTexts([tmp_path / name]) for name in "ba")
    for texts in (missing, blank, PretrainingTexts(texts=["a"], vocabulary=[tmp_path / "b"])):
        with raises_input_error():
            texts.check()


def segments_of(chunk: int, *documents: list[int]) -> Segments:
    flat = [token for document in documents for token in (*document, SEP)]
    return Segments(np.array(flat, dtype=np.uint32), np.cumsum([len(document) + 1 for document in documents]), chunk)


def rows(ids: np.ndarray) -> list[list[int]]:
    return [[token for token in row if token != PAD] for row in ids.tolist()]


def test_documents_come_back_in_order(tmp_path: Path) -> None:
    learnt, texts = tokenizer(), lines(2500)
    write_tokens(iter(texts), learnt, 0, tmp_path)
    flat, ends = read_tokens(tmp_path)
    expected = [learnt.encode(text, add_special_tokens=False).ids for text in texts]
    assert flat.tolist() == [token for ids in expected for token in (*ids, SEP)] and len(ends) == 2500
    segments = Segments(flat, ends, 14)
    assert segments.tokens == sum(map(len, expected)) and segments.documents == 2500


def test_short_documents_are_dropped(tmp_path: Path) -> None:
    learnt = tokenizer()
    write_tokens(["kot", "kot idzie drogą idzie"], learnt, 4, tmp_path)
    assert len(read_tokens(tmp_path)[1]) == 1
    for texts, least in ((["kot"], 90), ([], 0)):
        with raises_input_error():
            write_tokens(texts, learnt, least, tmp_path)


def test_damaged_files_are_one_line(tmp_path: Path) -> None:
    def refused() -> None:
        with raises_input_error(file="documents.npy"):
            read_tokens(tmp_path)

    write_tokens(lines(), tokenizer(), 0, tmp_path)
    tokens, ends = tmp_path / "tokens.bin", tmp_path / "documents.npy"
    whole = ends.read_bytes()
    for array in (np.array([4.0]), np.array([9, 3]), np.array([], dtype=np.int64)):
        np.save(ends, array)
        refused()
    ends.write_bytes(whole[: len(whole) // 2])
    refused()
    ends.write_bytes(whole)
    tokens.write_bytes(tokens.read_bytes()[:-4])
    refused()


def test_a_special_token_written_in_a_text_is_plain_text(tmp_path: Path) -> None:
    learnt = tokenizer()
    write_tokens(["kot [MASK] kot [SEP] kot"], learnt, 0, tmp_path)
    flat = read_tokens(tmp_path)[0].tolist()
    assert MASK not in flat and flat.count(SEP) == 1


def test_segments_hold_one_document_each() -> None:
    segments = segments_of(4, [10, 11, 12, 13, 14], [20], [30, 31, 32, 33])
    ids = segments.inputs(np.array([3, 0, 1, 2]))
    assert rows(ids) == [[CLS, 30, 31, 32, 33, SEP], [CLS, 10, 11, 12, 13, SEP], [CLS, 14, SEP], [CLS, 20, SEP]]
    assert segments_of(8, [10, 11, 12], [20]).inputs(np.array([1])).tolist() == [[CLS, 20, SEP]]
