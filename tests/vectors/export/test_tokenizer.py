"""Texts are split as sacremoses splits them."""

import itertools
import json
import random
from collections.abc import Iterator

import pytest
from sacremoses.corpus import NonbreakingPrefixes

from mtl.data.text import UNKNOWN, moses
from mtl.vectors.export.tokenizer import UNSUPPORTED_LANGUAGES, is_moses, moses_tokenizer

pytest.importorskip("tokenizers", reason="needs the package tokenizers")

PIECES = [*"aĄzZ019.,''`-–„”()<>!?& \t\n\x01\x1c\xa0\u200b😀́²①中ا", "..", "...", ", ", ". ", "1.", "km", "DOT"]


def texts(language: str) -> Iterator[str]:
    """All short texts of a few characters, and random ones in which abbreviations occur."""
    for length in range(1, 4):
        yield from map("".join, itertools.product("aB1.,' !", repeat=length))
    rng = random.Random(language)
    prefixes = [word.replace("#NUMERIC_ONLY#", "").strip() for word in NonbreakingPrefixes().words(language)]
    for _ in range(400):
        pieces = [
            rng.choice(PIECES) if rng.random() < 0.8 else f"{rng.choice(prefixes)}." for _ in range(rng.randint(1, 12))
        ]
        yield "".join(pieces)


@pytest.mark.parametrize("language", ["pl", "sv", "ru", "xx"])
def test_texts_are_split_as_moses_does(language: str) -> None:
    split, ours = moses_tokenizer(language, ["ord"]), moses(language)
    for text in texts(language):
        normal = split.normalizer.normalize_str(f" {text}")
        theirs = [word for word, _ in split.pre_tokenizer.pre_tokenize_str(normal)]
        assert theirs == (ours(text) or [UNKNOWN]), repr(text)


def test_ids_are_those_of_the_vocabulary_in_languages_that_it_can_express() -> None:
    words = ["solen", ".", "np.", UNKNOWN]
    split = moses_tokenizer("pl", words)
    assert split.encode(" solen np. nowe <unk> <pad> solen.").ids == [2, 4, 1, 1, 1, 1, 1, 1, 1, 2, 3]
    assert [split.encode(text).ids for text in (" ", " \t\n", " \x01")] == [[5]] * 3
    assert moses_tokenizer("pl", ["ord"]).encode(" ").ids == [1]
    assert not {"pl", "sv", "de"} & set(UNSUPPORTED_LANGUAGES)


def test_the_rules_of_all_languages_are_known_and_no_others() -> None:
    content = json.loads(moses_tokenizer("pl", ["ala"]).to_str())
    assert is_moses(content) and is_moses(json.loads(moses_tokenizer("sv", []).to_str()))
    steps = content["normalizer"]["normalizers"]
    longer = {"type": "Prepend", "prepend": "x" * 1000, "content": " ."}
    for changed in ([*steps, steps[-1]], [longer if step["content"] == " ." else step for step in steps], "x", ["x"]):
        assert not is_moses({**content, "normalizer": {"type": "Sequence", "normalizers": changed}})
    assert not is_moses({**content, "normalizer": []}) and not is_moses({**content, "pre_tokenizer": None})
