import numpy as np
import pytest

import mtl.methods.floors.fasttext_classifier as fasttext_classifier
from mtl.base.errors import InputError
from mtl.methods.floors.estimators import weight_count
from mtl.methods.floors.fasttext_classifier import FastTextClassifier, FastTextRegressor
from mtl.methods.floors.features import Document, TokenLines

LINES = [f"{word} numer {number % 9}" for number, word in enumerate(["dobry", "zły", "dobry"] * 30)]
LABELS = np.array([0, 1, 0] * 30)


@pytest.fixture(autouse=True)
def small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is written in no time."""
    monkeypatch.setattr(fasttext_classifier, "BUCKETS", 500)


@pytest.mark.parametrize(("words", "characters"), [(1, 0), (2, 0), (1, 5), (2, 5)])
def test_fasttext_learns_the_same_each_time(words: int, characters: int) -> None:
    """Its table has no value of memory that nobody set: with small tables, fastText would stop at NaN, or give other results."""
    first, again = (FastTextClassifier(0.5, 25, words, characters, None, 1).fit(LINES, LABELS) for _ in range(2))
    probabilities = first.predict_proba(LINES)
    assert (probabilities == again.predict_proba(LINES)).all()
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(90), abs=1e-3)
    assert (first.predict(LINES) == LABELS).all()
    table = first.model_.get_input_matrix()
    known = len(first.model_.get_words())
    assert np.isfinite(table).all() and table[:known].any(axis=1).all()
    assert weight_count(first) == table.size + 2 * 100


def test_fasttext_s_end_of_a_line_is_no_token() -> None:
    assert TokenLines().transform([[Document("", ["Sol", "</s>", "</S>"])]]) == ["sol"]


def test_fasttext_with_rare_classes_any_line_and_numbers() -> None:
    rare = np.array([0] * 85 + [7] * 5)
    lines = ["tekst"] * 90
    plain, balanced = (FastTextClassifier(0.5, 25, class_weight=of, random_state=1) for of in (None, "balanced"))
    of_rare = [model.fit(lines, rare).predict_proba(["tekst"])[0, 1] for model in (plain, balanced)]
    assert of_rare[0] < 0.2 < 0.35 < of_rare[1]
    assert list(plain.classes_) == [0, 7]
    # Lines without words, and words that it never saw.
    model = FastTextClassifier(random_state=1).fit(LINES, LABELS)
    assert model.predict_proba(["", "nieznane słowo"]).shape == (2, 2)
    # What fastText says is the error.
    with pytest.raises(InputError, match="^fastText could not train: "):
        FastTextClassifier(lr=1e30).fit(LINES, LABELS)
    numbers_of_lines = np.where(LABELS == 0, 4.0, 1.5)
    model = FastTextRegressor(0.5, 25, random_state=1).fit(LINES, numbers_of_lines)
    assert sorted(model.means_) == [1.5, 4.0]
    predicted = model.predict(LINES)
    assert predicted[LABELS == 0].min() > predicted[LABELS == 1].max()
    expected = model.predict_proba(LINES) @ model.means_
    assert predicted == pytest.approx(expected, abs=1e-2)
