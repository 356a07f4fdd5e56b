"""The words of passages, runs of words, and the sliding window."""

import numpy as np
import pytest

from mtl.structured.passages import (
    LONGEST,
    best_run,
    unit_text,
    units_of,
    units_within,
    window_answer,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 3.5 %,\nthat (is) so.", ["it", "'", "s", "3", ".", "5", "%", ",", "that", "(", "is", ")", "so", "."]),
        ("हिन्दी में", ["हिन्दी", "में"]),  # vowel signs are no letters for Python
        ("東京は2020年、Tokyo", ["東", "京", "は", "2020", "年", "、", "tokyo"]),
        ("กขค abc", ["ก", "ข", "ค", "abc"]),
        (" \t\n", []),
    ],
)
def test_words_of_a_passage(text: str, words: list[str]) -> None:
    assert words_of(text) == words
    units = units_of(text)
    assert units[0].tolist() == [0, 0] and len(units) == len(words) + 1
    assert "".join(text[first:end] for first, end in units.tolist()).lower() == "".join(text.split()).lower()


def test_units_of_a_part_hold_it_and_its_words_alone() -> None:
    text = "In 1984, Anna (born in Łódź) moved to New-York."
    for start in range(len(text)):
        for stop in range(start + 1, len(text) + 1):
            if not (part := text[start:stop].strip()):
                continue
            first, last = units_within(text, start, stop)
            assert part in unit_text(text, first, last)
            for smaller in ((first + 1, last), (first, last - 1)):
                assert part not in unit_text(text, *smaller)


def test_the_best_run_is_that_of_all_runs() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        scores = rng.integers(-3, 4, int(rng.choice([1, 2, 5, 40, 90]))) / 2
        runs = [
            (float(scores[first : first + length].sum()), -length, -first)
            for length in range(1, min(LONGEST, len(scores)) + 1)
            for first in range(len(scores) - length + 1)
        ]
        total, length, first = max(runs)
        assert best_run(scores) == (-first, -first - length - 1, pytest.approx(total))


def test_the_sliding_window_stands_beside_the_words_of_the_question() -> None:
    passage = "Jan moved to Gdansk. Later Anna Nowak was born in Lublin in 1901. Ewa lived in Brno for years."
    assert window_answer("Where was Anna Nowak born in 1901?", passage, 1) == "Lublin"
    assert window_answer("Where did Ewa live for years?", passage, 3) == "lived in Brno"
    assert window_answer("Kto?", passage, 1) == ""  # no word in common
    assert window_answer("Gdansk?", "Gdansk", 5) == "Gdansk" and window_answer("Gdansk?", "", 1) == ""
