import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from mtl.data.dataset import Dataset, Split, marked_texts, with_one_wrong
from mtl.data.examples import Example
from mtl.data.loading import build_dataset, describe_rows, load_dataset, make_split
from mtl.data.splits import TaskExamples
from mtl.tasks.suite import load_suite
from mtl.tasks.task import Task

LABELS = Task(id="t", kind="labels", text=["x"], target="y", labels=["n", "p"], metric="accuracy")
WORDS = Task(id="w", kind="word", text=["x"], target="y", metric="accuracy")
CHOICE = replace(WORDS, id="c", kind="choice", text=["q"], candidates=["a[]"], columns=["topic", "source"])
CHOICES = [  # rows with three candidates, one and two
    Example(2, (("q1", "a"), ("q1", "b"), ("q1", "c")), 2.0, columns=("sun", "x")),
    Example(3, (("q2", "a"),), 0.0, columns=("rain", "y")),
    Example(4, (("q3", "d"), ("q3", "q1")), 1.0, columns=("sun", "z")),
]


def load(suite_file: Path, tasks: list[str] | None = None) -> Dataset:
    suite = load_suite(suite_file)
    return load_dataset(suite, suite.choose(tasks), suite_file.parent / "data", 0.1)


def numbered(texts: list[str]) -> dict[str, int]:
    return {text: number for number, text in enumerate(texts)}


def test_rows_are_indices_into_distinct_texts(suite_file: Path) -> None:
    dataset = load(suite_file)
    first = dataset.splits["kansla"]["train"]
    assert dataset.texts[first.texts[0, 0]] == "regnet faller nummer 0"
    np.testing.assert_array_equal(first.texts, dataset.splits["betyg"]["train"].texts)  # the same texts, stored once
    assert len(dataset.texts) == len(set(dataset.texts)) == 100
    assert dataset.splits["samma"]["train"].texts.shape == (54, 2)
    assert np.isnan(dataset.splits["kansla"]["test"].targets).all()
    every = {"train": 60, "dev": 30, "test": 10}
    assert dataset.rows() == {"kansla": every, "samma": {"train": 60}, "betyg": every}
    assert len(dataset.held_out["samma"]) == 6
    assert dataset.distinct_texts("test").tolist() == list(range(90, 100))


def test_fingerprints_follow_content(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    data = suite_file.parent / "data"
    before = load_dataset(suite, suite.choose(None), data, 0.1).fingerprints
    path = data / "scores/test.tsv"
    path.write_text(path.read_text(encoding="utf-8") + "en till\n", encoding="utf-8")
    suite.tasks["kansla"].labels = ["arg", "glad"]
    after = load_dataset(suite, suite.choose(None), data, 0.1).fingerprints
    assert {name for name in before if before[name] != after[name]} == {"scores/test.tsv", "tasks.kansla"}
    suite.language = "en"
    other = load_dataset(suite, suite.choose(None), data, 0.1).fingerprints
    assert {name for name in other if other[name] != after[name]} == {"language"}


def test_files_with_another_checksum_are_known(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    data = suite_file.parent / "data"
    content = (data / "train.tsv").read_bytes()
    suite.tasks["kansla"].checksums = {
        "train": "git:" + hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(),
        "dev": "sha256:" + hashlib.sha256((data / "dev.tsv").read_bytes()).hexdigest(),
    }
    tasks = suite.choose(None)
    before = load_dataset(suite, tasks, data, 0.1)
    assert before.changed == {}
    for file, suffix in (("train.tsv", "en till\tglad\n"), ("dev.tsv", "en annan\targ\n")):
        (data / file).write_text((data / file).read_text(encoding="utf-8") + suffix, encoding="utf-8")
    after = load_dataset(suite, tasks, data, 0.1)
    assert after.changed == {"kansla": ["train", "dev"]}
    assert before.fingerprints.keys() == after.fingerprints.keys()


def test_a_row_of_a_choice_has_as_many_inputs_as_candidates() -> None:
    index = numbered(["q1", "a", "b", "c", "q2", "q3", "d"])
    split = make_split(CHOICE, CHOICES, index)
    assert split.texts.tolist() == [[0, 1], [0, 2], [0, 3], [4, 1], [5, 6], [5, 0]]
    assert (len(split), split.targets.tolist()) == (3, [2.0, 0.0, 1.0])
    assert split.sizes is not None and split.sizes.tolist() == [3, 1, 2]
    assert split.columns == {"topic": ["sun", "rain", "sun"], "source": ["x", "y", "z"]}
    assert split.scored_rows.candidates is split.sizes and split.scored_rows.columns == split.columns
    assert split.inputs(np.array([2, 0])).tolist() == [4, 5, 0, 1, 2]
    assert split.inputs(np.array([], dtype=np.int64)).tolist() == []
    without_targets = make_split(CHOICE, [Example(2, (("q1", "a"), ("q1", "b")))], index)
    assert without_targets.columns == {"topic": [], "source": []}


def test_the_answers_of_a_word_task_are_the_words_of_its_training_rows() -> None:
    train = [Example(2, (("a",),), "katt"), Example(3, (("b",),), "hund"), Example(4, (("c",),), "katt")]
    dev = [Example(2, (("d",),), "fisk")]
    dataset = build_dataset([TaskExamples(WORDS, {"train": train, "dev": dev}, [])])
    assert dataset.answers == {"w": ["hund", "katt"]}
    assert dataset.splits["w"]["dev"].targets.tolist() == ["fisk"]
    assert dataset.splits["w"]["dev"].targets.dtype == object
    # A task without training rows has no answers and is not trained.
    other = Task(id="o", kind="word", text=["x"], target="y", metric="accuracy", answered_by="w", scored="test")
    rows = [Example(2, (("a",),), "katt"), Example(3, (("b",),), "hund")]
    parts = [TaskExamples(WORDS, {"train": rows, "dev": rows}, []), TaskExamples(other, {"test": rows}, [])]
    dataset = build_dataset(parts)
    assert (dataset.trained_tasks, list(dataset.answers)) == ([WORDS], ["w"])
    assert dataset.scored(other) is dataset.splits["o"]["test"]
    assert dataset.scored(WORDS) is dataset.splits["w"]["dev"]
    assert dataset.rows() == {"w": {"train": 2, "dev": 2}, "o": {"test": 2}}


def test_scored_rows_are_described_without_their_texts() -> None:
    cells = [("a", "q1"), ("b", "q2"), ("c", None), ("d", "q1"), ("e", None)]
    grouped = describe_rows(LABELS, [Example(line, ((text,),), 1.0, group) for line, (text, group) in enumerate(cells)])
    assert grouped["groups"] == [0, 1, 2, 0, 3]
    # Another task on the same texts.
    others = [Example(line + 7, ((text,),), 0.0) for line, (text, _) in enumerate(cells)]
    assert describe_rows(LABELS, others) == {"texts": grouped["texts"], "groups": None}
    for changed in (others[::-1], others[:4], [Example(1, (("a", "b"),)), *others[2:]]):
        assert describe_rows(LABELS, changed)["texts"] != grouped["texts"]
    described = describe_rows(CHOICE, CHOICES)  # with what its metric reads
    assert described["candidates"] == [3, 1, 2]
    assert described["columns"] == {"topic": ["sun", "rain", "sun"], "source": ["x", "y", "z"]}


def test_spans_of_rows_and_their_texts() -> None:
    task = replace(LABELS, spans={"x": ["one", "two"]})
    spans = ((2, 6), (0, 1)), ((0, 2), (3, 6))
    rows = [Example(2, (("a bank",),), 1.0, spans=spans[0]), Example(3, (("en fil",),), 0.0, spans=spans[1])]
    texts = ["en fil", "a bank"]
    split = make_split(task, rows, numbered(texts))
    assert split.spans is not None and split.spans.tolist() == [[[2, 6], [0, 1]], [[0, 2], [3, 6]]]
    assert split.token_spans is None and marked_texts(task, split, texts) == [("bank", "a"), ("en", "fil")]
    empty = make_split(task, [], {}).spans
    assert empty is not None and empty.shape == (0, 2, 2)
    assert make_split(LABELS, [Example(2, (("a",),), 1.0)], numbered(["a"])).spans is None
    # Rows with the same texts and other spans are other rows.
    described = describe_rows(task, rows)["texts"]
    assert described != describe_rows(task, [rows[0], replace(rows[1], spans=((0, 2), (3, 5)))])["texts"]


def test_one_wrong_candidate_beside_the_right_one() -> None:
    sizes = np.array([5, 1, 2, 3])
    targets = np.array([2.0, 0.0, 1.0, 0.0])
    starts = np.cumsum(sizes) - sizes
    texts = np.stack([np.repeat([90, 91, 92, 93], sizes), np.arange(11)], axis=1)
    numbers = np.arange(11, dtype=np.float32)[:, None]
    split = Split(texts, targets, sizes, overlap=numbers, base=numbers)
    seen: dict[int, set[int]] = {row: set() for row in range(4)}
    for seed in range(200):
        drawn = with_one_wrong(split, np.random.default_rng(seed))
        assert drawn.sizes is not None and drawn.sizes.tolist() == [2, 1, 2, 2] and drawn.overlap is not None
        assert drawn.overlap[:, 0].tolist() == drawn.texts[:, 1].tolist() and np.array_equal(drawn.base, drawn.overlap)
        for row in range(4):
            kept = drawn.texts[drawn.inputs(np.array([row]))]
            assert (kept[:, 0] == 90 + row).all() and (np.diff(kept[:, 1]) > 0).all()
            candidates = (kept[:, 1] - starts[row]).tolist()
            assert candidates[int(drawn.targets[row])] == targets[row] and max(candidates) < sizes[row]
            seen[row] |= set(candidates)
    assert [len(candidates) for candidates in seen.values()] == sizes.tolist()  # each wrong candidate is drawn
