import logging
from pathlib import Path

import numpy as np
import pytest

from mtl.data.text import BOUNDARIES, UNKNOWN, TokenizedTexts, Vocabulary, moses, tokenized


def test_moses_does_not_escape_and_shortened_texts_equal_texts_tokenized_with_that_length() -> None:
    tokens = moses("pl")('Czytał "Potop" & <b>, 3,5 zł.')
    assert tokens == ["Czytał", '"', "Potop", '"', "&", "<", "b", ">", ",", "3,5", "zł", "."]
    whole, cut = TokenizedTexts.tokenize(TEXTS, "pl", 100), TokenizedTexts.tokenize(TEXTS, "pl", 3)
    short = whole.shortened(3)
    assert [short.words(i) for i in range(len(short))] == [cut.words(i) for i in range(len(cut))]
    assert (short.cut, short.empty, short.index) == (cut.cut, cut.empty, cut.index)
    np.testing.assert_array_equal(short.lengths, cut.lengths)
    assert whole.lengths.max() == 5


TEXTS = ["a b a", "c", "a b a", "", "d e f g h", " "]


def check(texts: TokenizedTexts) -> None:
    words = [texts.words(texts.index[text]) for text in ("a b a", "c", "", "d e f g h")]
    assert words == [["a", "b", "a"], ["c"], [UNKNOWN], ["d", "e", "f"]]
    assert (texts.empty, texts.cut, len(texts)) == (2, 1, 5) and texts.lengths.tolist() == [3, 1, 1, 3, 1]
    counts = dict(zip(texts.types, texts.counts(np.array([0, 1])).tolist(), strict=True))
    assert counts == {**dict.fromkeys([UNKNOWN, "d", "e", "f"], 0), **{"a": 2, "b": 1, "c": 1}}


def test_distinct_texts_are_tokenized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def tokenize(text: str) -> list[str]:
        seen.append(text)
        return text.split()

    monkeypatch.setattr("mtl.data.text.moses", lambda _: tokenize)
    check(TokenizedTexts.tokenize(TEXTS, "pl", max_length=3))
    assert seen == ["a b a", "c", "", "d e f g h", " "]


def test_tokenized_texts_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(TokenizedTexts.tokenize(TEXTS, "pl", 3, tmp_path))
    (cached,) = tmp_path.iterdir()
    monkeypatch.setattr("mtl.data.text.moses", None)
    check(TokenizedTexts.tokenize(TEXTS, "pl", 3, tmp_path))
    monkeypatch.undo()
    for damaged in (b"", cached.read_bytes()[:100]):
        cached.write_bytes(damaged)
        check(TokenizedTexts.tokenize(TEXTS, "pl", 3, tmp_path))
    # Other texts, another language or length, and other versions of the format and the tokenizer get another file.
    for texts, language, length in ((TEXTS[1:], "pl", 3), (TEXTS, "sv", 3), (TEXTS, "pl", 4)):
        TokenizedTexts.tokenize(texts, language, length, tmp_path)
    monkeypatch.setattr("mtl.data.text.FORMAT", 0)
    check(TokenizedTexts.tokenize(TEXTS, "pl", 3, tmp_path))
    monkeypatch.setattr("sacremoses.__version__", "0")
    check(TokenizedTexts.tokenize(TEXTS, "pl", 3, tmp_path))
    assert len(list(tmp_path.iterdir())) == 6


@pytest.mark.parametrize(
    ("first", "second"),
    [(["x\0y", "z"], ["x", "y\0z"]), (["a\0b"], ["a", "b"]), (["1 a"], ["a"]), (["a1 b"], ["a", "b"])],
)
def test_texts_of_any_character_have_a_cache(tmp_path: Path, first: list[str], second: list[str]) -> None:
    TokenizedTexts.tokenize(first, "pl", 3, tmp_path)
    cached, computed = TokenizedTexts.tokenize(second, "pl", 3, tmp_path), TokenizedTexts.tokenize(second, "pl", 3)
    assert [cached.words(text) for text in range(len(second))] == [computed.words(text) for text in range(len(second))]
    assert len(list(tmp_path.iterdir())) == 2


def test_boundary_words_stand_around_each_text_and_in_none() -> None:
    plain = TokenizedTexts.tokenize(TEXTS, "pl", 3)
    bounded = plain.with_boundaries()
    for text in range(len(plain)):
        assert bounded.words(text) == ["<SOS>", *plain.words(text), "<EOS>"]
    assert bounded.lengths.tolist() == [5, 3, 3, 5, 3]  # max_length counts the text's own tokens
    assert (bounded.index, bounded.types[:-2]) == (plain.index, plain.types)
    counts = dict(zip(bounded.types, bounded.counts(np.array([0, 3])).tolist(), strict=True))
    assert counts == {"<SOS>": 2, "<EOS>": 2, **dict(zip(plain.types, plain.counts(np.array([0, 3])), strict=True))}
    assert plain.words(0) == ["a", "b", "a"] and len(plain.types) == len(bounded.types) - 2
    for word in BOUNDARIES:
        for text in (word, f"a{word}", f"a {word} b", f"({word})", f"{word}."):
            assert word not in moses("pl")(text)


def test_texts_that_are_cut_or_have_no_token_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "mtl"):
        check(tokenized(TEXTS, "pl", 3))
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "2 of 5 distinct texts have no token; each is kept as one unknown token"),
        ("INFO", "1 of 5 distinct texts are longer than max_length=3 tokens and are cut"),
        ("INFO", "5 distinct texts, 9 tokens"),
    ]


def test_vocabulary_gives_ids_to_words() -> None:
    vocabulary = Vocabulary(["kot", "pies"])
    assert len(vocabulary) == 4
    np.testing.assert_array_equal(vocabulary.ids(["pies", "ryba", "kot"]), [3, Vocabulary.UNKNOWN, 2])
    vocabulary.add(iter(["ryba", "ptak"]))
    np.testing.assert_array_equal(vocabulary.ids(["ptak", "ryba", "kot"]), [5, 4, 2])
    assert len(vocabulary) == 6 and vocabulary.words == ["kot", "pies", "ryba", "ptak"]
    vocabulary.shorten(4)
    assert (len(vocabulary), vocabulary.words) == (4, ["kot", "pies"])
    vocabulary.add(["ptak"])
    assert vocabulary.ids(["ptak", "ryba", "kot"]).tolist() == [4, 1, 2]
