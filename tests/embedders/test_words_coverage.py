import numpy as np

from mtl.data.text import TokenizedTexts
from mtl.embedders.words import coverage

TEXTS = TokenizedTexts(["kot kot", "kot pies", "dom dom"], "pl", 10)


def test_coverage_counts_types_and_tokens() -> None:
    found, from_ngrams = np.array([True, False, False]), np.array([False, True, False])
    counted = coverage(TEXTS, found, from_ngrams)
    assert counted.as_dict() == {
        "found": {"types": 1, "tokens": 3},
        "from_ngrams": {"types": 1, "tokens": 1},
        "unknown": {"types": 1, "tokens": 2},
    }
    assert str(counted).startswith("known 1 types (33.3%), 3 tokens (50.0%); from n-grams 1 types")
    assert counted.unknown_types.tolist() == [False, False, True]
    assert counted.ngram_types is not None and counted.ngram_types.tolist() == [False, True, False]


def test_without_n_grams_a_word_is_known_or_unknown() -> None:
    counted = coverage(TEXTS, np.array([False, True, True]))
    assert (counted.found, counted.from_ngrams, counted.unknown) == ((2, 3), (0, 0), (1, 3))
    assert counted.ngram_types is None and "n-grams" not in str(counted)


def test_boundary_words_are_not_counted() -> None:
    texts = TEXTS.with_boundaries()
    known = np.array([word == "kot" for word in texts.types])
    assert coverage(texts, known).as_dict() == coverage(TEXTS, known[: len(TEXTS.types)]).as_dict()
    assert coverage(texts, np.ones(len(texts.types), dtype=bool)).found == (3, 6)
