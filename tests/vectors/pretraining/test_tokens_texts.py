import gzip
from pathlib import Path

from input_errors import raises_input_error

from mtl.vectors.pretraining.tokens import PretrainingTexts


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


def test_the_fingerprint_changes_with_the_content_alone(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("x")
    marks = [
        PretrainingTexts([tmp_path / name], texts).fingerprint
        for name, texts in [("a", []), ("b", []), ("a", ["y"]), ("a", ["y", ""])]
    ]
    assert marks[0] == marks[1] and len(set(marks)) == 3


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert list(PretrainingTexts(texts=["a\ud800b"]).by_document("line", "x")) == ["a?b"]


def test_missing_or_empty_texts_are_errors(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with raises_input_error(file="a"):
        PretrainingTexts([tmp_path / "a"]).check()
    with raises_input_error(file="b"):
        PretrainingTexts([tmp_path / "b"]).check()
    with raises_input_error():
        PretrainingTexts(texts=[" "]).check()
