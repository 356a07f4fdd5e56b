import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from mtl.methods.floors.dense import DenseClassifier, DenseRegressor
from mtl.methods.floors.estimators import weight_count


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
