import logging
from pathlib import Path

import numpy as np
import pytest

from mtl.data.dataset import describe_rows, load_dataset
from mtl.data.reader import Example
from mtl.tasks.suite import load_suite


def test_rows_are_indices_into_distinct_texts(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    dataset = load_dataset(suite, suite.choose(None), suite_file.parent / "data", 50, 0.1)
    texts = list(dataset.texts.index)
    first = dataset.splits["kansla"]["train"]
    assert texts[first.texts[0, 0]] == "regnet faller nummer 0"
    np.testing.assert_array_equal(first.texts, dataset.splits["betyg"]["train"].texts)  # the same texts, stored once
    assert len(dataset.texts) == 100
    assert dataset.splits["samma"]["train"].texts.shape == (54, 2)
    assert np.isnan(dataset.splits["kansla"]["test"].targets).all()
    assert dataset.rows() == {
        "kansla": {"train": 60, "dev": 30, "test": 10},
        "samma": {"train": 60},
        "betyg": {"train": 60, "dev": 30, "test": 10},
    }
    assert len(dataset.held_out["samma"]) == 6
    assert set(dataset.distinct_texts("test")) == {dataset.texts.index[t] for t in texts[-10:]}


def test_fingerprints_follow_content(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    data = suite_file.parent / "data"
    before = load_dataset(suite, suite.choose(None), data, 50, 0.1).fingerprints
    path = data / "scores/test.tsv"
    path.write_text(path.read_text(encoding="utf-8") + "en till\n", encoding="utf-8")
    suite.tasks["kansla"].labels = ["arg", "glad"]
    after = load_dataset(suite, suite.choose(None), data, 50, 0.1).fingerprints
    assert {name for name in before if before[name] != after[name]} == {"scores/test.tsv", "tasks.kansla"}
    suite.language = "en"
    other = load_dataset(suite, suite.choose(None), data, 50, 0.1).fingerprints
    assert {name for name in other if other[name] != after[name]} == {"language"}


def test_texts_without_tokens_are_counted(suite_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    suite = load_suite(suite_file)
    path = suite_file.parent / "data/test.tsv"
    path.write_text("text\n\n \nhej\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING, "mtl"):
        dataset = load_dataset(suite, suite.choose(["kansla"]), suite_file.parent / "data", 50, 0.1)
    assert len(dataset.splits["kansla"]["test"]) == 3
    assert "2 of 93 distinct texts have no token" in caplog.text


def test_dev_rows_are_described_without_their_texts() -> None:
    cells = [("a", "q1"), ("b", "q2"), ("c", None), ("d", "q1"), ("e", None)]
    grouped = describe_rows([Example(line, (text,), 1.0, group) for line, (text, group) in enumerate(cells)])
    assert grouped["groups"] == [0, 1, 2, 0, 3]
    others = [Example(line + 7, (text,), 0.0) for line, (text, _) in enumerate(cells)]  # another task on the same texts
    assert describe_rows(others) == {"texts": grouped["texts"], "groups": None}
    for changed in (others[::-1], others[:4], [Example(1, ("a", "b")), *others[2:]]):
        assert describe_rows(changed)["texts"] != grouped["texts"]
