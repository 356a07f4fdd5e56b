import numpy as np

from mtl.embedders.coverage import coverage


def test_coverage_counts_types_and_tokens() -> None:
    found, from_ngrams = np.array([True, False, False]), np.array([False, True, False])
    counted = coverage(np.array([0, 0, 0, 1, 2, 2]), found, from_ngrams)
    assert counted.as_dict() == {
        "found": {"types": 1, "tokens": 3},
        "from_ngrams": {"types": 1, "tokens": 1},
        "unknown": {"types": 1, "tokens": 2},
    }
    assert str(counted).startswith("known 1 types (33.3%), 3 tokens (50.0%); from n-grams 1 types")
