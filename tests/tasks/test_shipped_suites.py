"""The suite files in configs/suite, against what their benchmarks publish."""

from collections import Counter
from dataclasses import replace

from mtl.base.settings.layers import find_yaml
from mtl.tasks.suite import load_suite
from mtl.tasks.task import DEV_OR_TEST, SPLITS


def test_klej_is_as_published() -> None:
    suite = load_suite(find_yaml("suite", "klej"))
    assert " ".join(suite.tasks) == "nkjp-ner cdsc-e cdsc-r cbd polemo2.0-in polemo2.0-out dyk psc ar"
    rows = [15794, 8000, 8000, 10041, 5783, 5783, 4154, 4302, 9577]
    assert [task.rows["train"] for task in suite.tasks.values()] == rows
    for row in suite.published:
        assert set(row.scores) == set(suite.tasks)
        # Table 3's AVG is the plain mean of the nine scores.
        assert abs(sum(row.scores.values()) / 9 - row.average) < 0.11


def test_the_samples_have_klej_s_and_superlim_s_tasks() -> None:
    klej, sample = (load_suite(find_yaml("suite", name)) for name in ("klej", "klej-sample"))
    for id, task in sample.tasks.items():
        twin = klej.tasks[id]
        for key in ("text", "target", "labels", "range", "metric", "group", "same_source", "files", "folder"):
            assert getattr(task, key) == getattr(twin, key)
    assert not sample.published
    superlim, sample = (load_suite(find_yaml("suite", name)) for name in ("superlim", "superlim-sample"))
    own = {"rows": {}, "checksums": {}, "source": None, "hub": None, "license": None, "withdrawn": False}
    for id, task in sample.tasks.items():
        assert replace(task, chance=None) == replace(superlim.tasks[id], chance=None, **own)
    assert set(superlim.tasks) - set(sample.tasks) == {"supersim-superlim-relatedness"}
    assert (sample.average, sample.scale, sample.language) == (superlim.average, superlim.scale, superlim.language)
    assert sample.submission == replace(superlim.submission, template=None, template_source=None)
    assert not sample.published


def test_superlim_is_as_published() -> None:
    suite = load_suite(find_yaml("suite", "superlim"))
    assert (suite.title, suite.language, suite.allow_missing) == ("Superlim", "sv", True)
    assert suite.averaged == list(suite.tasks)[:8]
    words = [id for id, task in suite.tasks.items() if task.level == "word"]
    assert words == [*(f"supersim-superlim-{kind}" for kind in ("relatedness", "similarity")), "sweanalogy"]
    answered = {id: task.answered_by for id, task in suite.tasks.items() if task.answered_by}
    assert answered == {"swediagnostics": "swenli", "swewinogender": "swenli"}
    either = {id for id, task in suite.tasks.items() if task.scored == DEV_OR_TEST}
    assert either == {*words, *answered, "swesat-synonyms"}
    for id, task in suite.tasks.items():
        folder = "supersim-superlim" if id.startswith("supersim") else id
        wanted = {split: f"{id}_{split}.jsonl" for split in SPLITS}
        assert task.files == (wanted if id not in answered else {**wanted, "train": None}) and task.folder == folder
        # Without the tasks whose official files have no dev, the published numbers are of all splits.
        assert set(task.rows) == {split for split in SPLITS if task.files[split]} - ({"dev"} if task.scored else set())
        assert task.source and task.source.address(task.folder, f"{id}_test.jsonl").endswith(
            f"/a46f15796eff16ef86f9a946f185fa2ca2a9d84a/{folder}/{id}_test.jsonl"
        )
    assert sum(sum(task.rows.values()) for task in suite.tasks.values()) == 538_216


def test_superlim_s_published_rows_are_on_dev_and_test() -> None:
    suite = load_suite(find_yaml("suite", "superlim"))
    assert Counter(row.split for row in suite.published) == {"dev": 13, "test": 18}
    for row in suite.published:
        assert set(row.scores) <= set(suite.tasks)
        mean = suite.mean(row.scores)
        assert (mean is None) == (row.average is None)
        assert mean is None or row.average is None or abs(mean - row.average) < 0.011
    scores = {(row.model, row.split): row.scores for row in suite.published}
    assert scores["SVM", "dev"]["absabank-imm"] == 33.63 and scores["SVM", "test"]["swewinograd"] == 5.5
    assert scores["Static word vectors", "test"]["swesat-synonyms"] == 36.5
