"""The linear models of heads, on the mixed dataset and through the whole job on a suite with every kind of target."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from command_line import job
from data_files import read_column, read_json
from input_errors import refused
from kinds_suite import write_kinds_suite
from lstm_parts import CHOICE, LABELS, NUMBERS, Parts, lstm_parts
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_predict

import mtl.methods.lstm.linear as linear
from mtl.base.arrays import read_checkpoint, write_checkpoint
from mtl.data.dataset import Dataset, Split, input_rows
from mtl.data.loading import load_dataset
from mtl.data.splits import read_task
from mtl.jobs.baseline import run_baseline
from mtl.methods.floors.features import Document
from mtl.methods.floors.tfidf import TaskFeatures
from mtl.methods.lstm.linear import LinearModels, train_linear
from mtl.methods.lstm.out_of_fold import FOLDS, row_folds
from mtl.methods.predictor import Predictor
from mtl.tasks.suite import load_suite
from mtl.tasks.task import Task


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    return lstm_parts(tmp_path_factory.mktemp("linear"), "head.linear=true")


@pytest.fixture(scope="module")
def models(parts: Parts) -> LinearModels:
    return train_linear(parts.config, parts.dataset, parts.texts, "sv")


def features(
    parts: Parts, task: Task, split: str, fitted: TaskFeatures | None = None
) -> tuple[TaskFeatures, csr_matrix]:
    rows = [
        [Document(parts.dataset.texts[text], parts.texts.words(text)) for text in row]
        for row in parts.dataset.splits[task.id][split].texts.tolist()
    ]
    if fitted is not None:
        return fitted, csr_matrix(fitted.transform(rows))
    made = TaskFeatures("logistic", parts.config.floor, task)
    return made, csr_matrix(made.fit(rows))


def test_rows_are_answered_by_models_that_did_not_see_them(parts: Parts, models: LinearModels) -> None:
    """scikit-learn's own cross-validation, with our folds; the penalty has the smallest loss on the first fold."""
    train = parts.dataset.splits["labels"]["train"]
    _, matrix = features(parts, LABELS, "train")
    folds, targets = row_folds(LABELS, train), train.targets.astype(int)
    assert set(folds) == set(range(FOLDS))
    options = {"cv": PredefinedSplit(folds), "method": "predict_proba"}
    models_by_penalty = [LogisticRegression(C=c, max_iter=300) for c in (0.1, 1.0, 10.0, 100.0)]
    by_penalty = [cross_val_predict(model, matrix, targets, **options) for model in models_by_penalty]
    first = folds == 0
    best = min(by_penalty, key=lambda made: log_loss(targets[first], made[first], labels=[0, 1]))
    outputs = models.outputs["labels"]["train"]
    assert outputs.dtype == np.float32
    np.testing.assert_allclose(np.exp(outputs), best, atol=1e-3)
    chosen = models.models["numbers"].estimator
    fitted, matrix = features(parts, NUMBERS, "train")
    dev = features(parts, NUMBERS, "dev", fitted)[1]
    by_penalty = [Ridge(a).fit(matrix, parts.dataset.splits["numbers"]["train"].targets) for a in (0.1, 1.0, 10.0)]
    expected = next(model for model in by_penalty if np.allclose(model.coef_, chosen.coef_, atol=1e-3))
    # As a head's outputs: 0 and 1 are the ends of the range from 0 to 10.
    np.testing.assert_allclose(models.outputs["numbers"]["dev"][:, 0], expected.predict(dev) / 10, atol=1e-4)


def together(folds: np.ndarray, *rows: int) -> bool:
    return len({int(folds[row]) for row in rows}) == 1


def test_rows_that_share_a_text_or_a_group_are_in_one_fold() -> None:
    texts = np.array([[100 + 2 * row, 101 + 2 * row] for row in range(60)])
    texts[3] = texts[17, ::-1]  # the same pair, the other way round
    texts[20, 1] = texts[41, 1]
    texts[41, 0] = texts[52, 1]  # 20 and 52 through 41
    folds = row_folds(NUMBERS, Split(texts, np.zeros(60)))
    assert together(folds, 3, 17) and together(folds, 20, 41, 52) and set(folds) == set(range(FOLDS))
    candidates = Split(texts, np.zeros(30), sizes=np.full(30, 2))
    folds = row_folds(CHOICE, candidates)
    assert len(folds) == 30 and together(folds, 3 // 2, 17 // 2) and together(folds, 20 // 2, 41 // 2, 52 // 2)
    texts = np.arange(120).reshape(60, 2)
    groups = np.full(60, -1)
    groups[[5, 30, 31]], groups[[7, 8]] = 0, 1
    folds = row_folds(NUMBERS, Split(texts, np.zeros(60), groups=groups))
    assert together(folds, 5, 30, 31) and together(folds, 7, 8)
    assert set(folds) == set(range(FOLDS))  # rows without a group are no group
    # What the suite says counts even where it fills more than a fold.
    groups = np.repeat([0, 1], [40, 20])
    assert len(set(row_folds(NUMBERS, Split(texts, np.zeros(60), groups=groups)).tolist())) == 2
    # A chain of pairs, and one text that stands in many rows, such as a topic.
    chain = np.array([[row // 2, 100 + (row + 1) // 2] for row in range(60)])
    topics = np.column_stack([np.arange(60), 100 + np.arange(60) % 4])
    topics[9, 0] = topics[4, 0]
    for texts, same in ((chain, (10, 11)), (topics, (4, 9))):
        folds = row_folds(NUMBERS, Split(texts, np.zeros(60)))
        assert together(folds, *same) and set(folds) == set(range(FOLDS))


def test_folds_know_the_groups_of_the_suite_s_file(tmp_path: Path) -> None:
    suite = load_suite(write_kinds_suite(tmp_path))
    task = suite.tasks["stars"]
    split = load_dataset(suite, [task], tmp_path / "data", 0.1).splits["stars"]["train"]
    examples = read_task(task, tmp_path / "data", 0.1).rows["train"]
    authors = [example.group for example in examples]
    assert split.groups is not None and len(set(authors)) > FOLDS
    assert len({*zip(split.groups.tolist(), authors, strict=True)}) == len(set(authors)) == len(set(split.groups))
    folds = row_folds(task, split)
    assert len({*zip(folds.tolist(), authors, strict=True)}) == len(set(authors))
    taken = split.take(np.array([3, 1]))
    assert taken.groups is not None and taken.groups.tolist() == split.groups[[3, 1]].tolist()


def test_labels_are_weighted_as_in_the_loss_of_the_heads(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path, "head.linear=true", "loss.class_weights=1")
    task = replace(LABELS, metric="f1", positive="glad")
    dataset = parts.dataset
    rare = np.flatnonzero(dataset.splits["labels"]["train"].targets == 0)[:20]
    train = dataset.splits["labels"]["train"]
    kept = np.setdiff1d(np.arange(len(train)), rare[:12])
    fewer = {**dataset.splits["labels"], "train": replace(train, texts=train.texts[kept], targets=train.targets[kept])}
    weighted = replace(dataset, tasks=[task], splits={"labels": fewer}, answers={})
    estimator = train_linear(parts.config, weighted, parts.texts, "sv").models["labels"].estimator
    matrix = features(replace(parts, data=replace(parts.data, dataset=weighted)), task, "train")[1]
    targets = fewer["train"].targets.astype(int)
    balanced = [LogisticRegression(C=c, class_weight="balanced", max_iter=300) for c in (0.1, 1.0, 10.0, 100.0)]
    fits = [model.fit(matrix, targets) for model in balanced]
    assert any(np.allclose(fit.coef_, estimator.coef_, atol=1e-3) for fit in fits)


def with_train(dataset: Dataset, train: Split) -> Dataset:
    splits = {"labels": {**dataset.splits["labels"], "train": train}}
    return replace(dataset, tasks=[LABELS], splits=splits, answers={})


def test_rows_that_teach_nothing_give_no_opinion(parts: Parts, tmp_path: Path) -> None:
    config = replace(parts.config, cache_dir=str(tmp_path))
    train = parts.dataset.splits["labels"]["train"]
    alike = with_train(parts.dataset, replace(train, targets=np.zeros(len(train))))
    rarer = replace(config, floor=replace(config.floor, min_count=1000))
    for made in (
        train_linear(config, alike, parts.texts, "sv"),
        train_linear(rarer, with_train(parts.dataset, train), parts.texts, "sv"),
    ):
        assert not made.models and not made.outputs
    # One row alone has the other label: the model that does not see it cannot be trained.
    targets = np.zeros(len(train))
    targets[3] = 1
    dataset = with_train(parts.dataset, replace(train, targets=targets))
    folds = row_folds(LABELS, train)
    same = folds == folds[3]
    outputs = train_linear(config, dataset, parts.texts, "sv").outputs["labels"]["train"]
    assert (outputs[same] == 0).all() and (outputs[~same] != 0).all()


def test_a_damaged_file_is_replaced(parts: Parts, models: LinearModels, monkeypatch: pytest.MonkeyPatch) -> None:
    trainings: list[str] = []
    trained = linear._train
    monkeypatch.setattr(linear, "_train", lambda *given: trainings.append(given[2].id) or trained(*given))
    files = sorted(Path(parts.config.cache_dir).glob("linear-*.ckpt"))
    again = train_linear(parts.config, parts.dataset, parts.texts, "sv")
    assert trainings == [] and len(files) >= 3
    assert again.outputs.keys() == models.outputs.keys()
    for id, splits in models.outputs.items():
        assert all((again.outputs[id][name] == part).all() for name, part in splits.items())
    for file in files[1:]:
        file.write_bytes(file.read_bytes()[:100])
    content = read_checkpoint(files[0], dict[str, Any])
    write_checkpoint(files[0], {**content, "outputs": {"labels": {"dev": "no tensor"}}})
    train_linear(parts.config, parts.dataset, parts.texts, "sv")
    assert trainings == ["labels", "numbers", "choice"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run, with suite, data and caches beside it."""
    path = tmp_path_factory.mktemp("kinds")
    folders = [f"data_dir={path}/data", f"run_dir={path}/run", f"cache_dir={path}/c"]
    settings = ["embeddings.dim=12", "seeds=[1]", "head.linear=true"]
    run_baseline(job([f"suite={write_kinds_suite(path)}", *folders, *settings]))
    return path / "run"


@pytest.mark.slow
def test_new_rows_are_predicted_as_in_the_run(run: Path) -> None:
    """The model files give each dev row what training gave it."""
    predictor = Predictor.load(run)
    dataset = load_dataset(predictor.suite, list(predictor.suite.tasks.values()), run.parent / "data", 0.1)
    for task in dataset.tasks:
        split = "test" if task.scored_split == "test" else "dev"
        predicted = predictor.predict(task.id, input_rows(dataset, task, dataset.splits[task.id][split]))
        cells = read_column(run / f"seed-1/predictions/{split}_pred_{task.id}.tsv")
        if task.kind == "number":
            np.testing.assert_allclose(np.array(predicted, dtype=float), np.array(cells, dtype=float), atol=1e-4)
        else:
            assert list(map(str, predicted)) == cells, task.id
    assert read_json(run / "summary.json")["title"].endswith(", linear, changed")
    files = {path.name for path in (run / "seed-1/models").iterdir()}
    assert files == {"answer.ckpt", "mood.ckpt", "stars.ckpt", "tasks.json"}


def test_a_run_without_its_linear_models_predicts_nothing(run: Path) -> None:
    file = run / "seed-1/models/mood.ckpt"
    listed = run / "seed-1/models/tasks.json"
    content, tasks = file.read_bytes(), listed.read_text(encoding="utf-8")
    try:
        file.unlink()
        refused(lambda: Predictor.load(run), file="mood.ckpt")
        torch.save({"in_pairs": 1}, file)
        refused(lambda: Predictor.load(run), file="mood.ckpt")
        listed.write_text('["answer", "stars"]', encoding="utf-8")
        refused(lambda: Predictor.load(run), file="tasks.json")
        listed.unlink()
        refused(lambda: Predictor.load(run), file="tasks.json")
    finally:
        file.write_bytes(content)
        listed.write_text(tasks, encoding="utf-8")
