"""Estimators that scikit-learn does not have."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import mtl.methods.floors.classifiers as classifiers
from mtl.base.errors import InputError
from mtl.methods.floors.classifiers import DenseClassifier, DenseRegressor, FastTextClassifier, FastTextRegressor
from mtl.methods.floors.estimators import check_grid, weight_count

LINES = [f"{word} numer {number % 9}" for number, word in enumerate(["dobry", "zły", "dobry"] * 30)]
LABELS = np.array([0, 1, 0] * 30)


@pytest.fixture(autouse=True)
def small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is written in no time."""
    monkeypatch.setattr(classifiers, "BUCKETS", 500)


def test_a_linear_head_is_a_logistic_regression_of_standardized_features() -> None:
    features = np.random.default_rng(0).normal(3, 2, (80, 5))
    labels = (features[:, 0] > 3).astype(int) + (features[:, 1] > 5)
    scaled = StandardScaler().fit_transform(features)
    expected = LogisticRegression(C=0.5, max_iter=2_000, class_weight="balanced").fit(scaled, labels)
    mine = DenseClassifier("linear", 2.0, "balanced", 1).fit(features, labels)
    assert mine.predict_proba(features) == pytest.approx(expected.predict_proba(scaled), abs=1e-4)
    assert list(mine.classes_) == [0, 1, 2] and weight_count(mine) == 3 * 5 + 3
    targets = features[:, 0] - features[:, 2]
    ridge = Ridge(2.0).fit(scaled, targets)
    mine_too = DenseRegressor("linear", 2.0, 1).fit(features, targets)
    assert mine_too.predict(features) == pytest.approx(ridge.predict(scaled))
    assert weight_count(mine_too) == 5 + 1


def test_networks_learn_what_no_linear_model_does_and_equal_seeds_the_same() -> None:
    features = np.random.default_rng(0).uniform(-1, 1, (900, 2))
    labels = (features[:, 0] * features[:, 1] > 0).astype(int)
    network = DenseClassifier("mlp", 0.1, None, 1).fit(features, labels)
    assert (network.predict(features) == labels).mean() > 0.8  # a linear model has a half
    assert weight_count(network) == 2 * 256 + 256 + 256 + 1
    regressor = DenseRegressor("mlp", 0.1, 1).fit(features, features[:, 0] * features[:, 1])
    assert np.corrcoef(regressor.predict(features), features[:, 0] * features[:, 1])[0, 1] > 0.8
    features = np.random.default_rng(0).normal(size=(60, 4))
    labels = (features[:, 0] > 0).astype(int)
    first, again, other = (DenseClassifier("mlp", 1.0, None, seed).fit(features, labels) for seed in (1, 1, 2))
    assert (first.predict_proba(features) == again.predict_proba(features)).all()
    assert (first.predict_proba(features) != other.predict_proba(features)).any()


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


def test_a_bad_value_is_named() -> None:
    for method, key, value in (
        *(("fasttext", "max_characters", 1), ("fasttext", "epoch", 0), ("static", "head", "deep")),
        *(("static", "alpha", 0), ("svm", "C", -1), ("svm", "C", "abc")),
    ):
        with pytest.raises(InputError, match=f"^floor.grid.{key}={value}"):
            check_grid(method, {key: [value]})
