import pickle
from pathlib import Path

import numpy as np
import pytest
from command_line import job
from input_errors import raises_input_error
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from small_suite import rows, small_settings

import mtl
from mtl.jobs.baseline import run_baseline
from mtl.methods.predictor import Predictor, text_transformer

TEXTS, LABELS = [text for text, _, _ in rows(30)], [label for _, label, _ in rows(30)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    run_baseline(job([*small_settings(folder), "seeds=[1,2]", "tasks=[kansla]"]))
    return folder / "run"


def test_it_gives_the_run_s_vectors(run: Path) -> None:
    predictor = mtl.load(run, seed=2)
    transformer = predictor.as_transformer(pooling="mean")
    expected = predictor.encode(TEXTS, pooling="mean")
    np.testing.assert_array_equal(transformer.fit_transform(np.array(TEXTS, dtype=object)), expected)
    assert transformer.get_params() == {"run_dir": str(run), "seed": 2, "device": "cpu", "pooling": "mean"}
    assert len(transformer.get_feature_names_out()) == expected.shape[1]


def test_clones_share_the_run_and_pickles_read_it_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = Predictor.load.__func__  # type: ignore[attr-defined]

    def counted(cls: type[Predictor], run_dir: Path, seed: int | None = None, device: str = "cpu") -> Predictor:
        loaded.append(seed)
        made: Predictor = load(cls, run_dir, seed, device=device)
        return made

    transformer = mtl.load(run, seed=1).as_transformer()
    expected = transformer.transform(TEXTS)
    monkeypatch.setattr(Predictor, "load", classmethod(counted))
    copy = clone(transformer)
    assert copy is not transformer and copy.get_params() == transformer.get_params()
    np.testing.assert_array_equal(copy.fit(TEXTS).transform(TEXTS), expected)
    assert loaded == []
    other = clone(transformer).set_params(seed=2).transform(TEXTS)
    assert loaded == [2] and np.abs(other - expected).max() > 1e-3
    content = pickle.dumps(transformer)
    assert len(content) < 1000
    np.testing.assert_array_equal(pickle.loads(content).transform(TEXTS), expected)
    assert loaded == [2, 1]
    new = text_transformer(str(run))
    assert clone(new).get_params() == new.get_params()


def test_a_pipeline_and_wrong_parameters(run: Path, tmp_path: Path) -> None:
    pipeline = make_pipeline(mtl.load(run).as_transformer(), LogisticRegression())
    search = GridSearchCV(pipeline, {"texttransformer__pooling": ["max", "mean"]}, cv=3)
    predicted = search.fit(TEXTS, LABELS).predict(TEXTS)
    assert set(predicted) <= {"glad", "arg"} and len(predicted) == len(TEXTS)
    fitted = search.best_estimator_
    vectors = mtl.load(run).encode(TEXTS, pooling=search.best_params_["texttransformer__pooling"])
    assert (predicted == LogisticRegression().fit(vectors, LABELS).predict(vectors)).all()
    assert (pickle.loads(pickle.dumps(fitted)).predict(TEXTS) == predicted).all()
    with raises_input_error(key="pooling"):
        text_transformer(str(run), pooling="min").fit_transform(["x"])
    with raises_input_error(file="config.yaml"):
        text_transformer(str(tmp_path / "none")).fit(["x"])
    with raises_input_error():
        text_transformer(str(run)).transform("x")
