"""A task's data from a dataset on a server that answers as the Hugging Face Hub does."""

import hashlib
import io
import json
import logging
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hub_server import TOKEN, HubServer, hub_server, set_endpoint
from input_errors import raises_input_error
from pyarrow import parquet

from mtl.benchmark_making import hub as module
from mtl.benchmark_making.hub import fetch_from_hub
from mtl.benchmark_making.init_suite.hub_sets import CONVERTED
from mtl.data.examples import read_examples
from mtl.tasks.sources import HubSource
from mtl.tasks.task import Task

NAME = "owner/data"
TRAIN_ALONE = {"train": "train.csv", "dev": None, "test": None}
TRAIN, DEV, TEST = b'id,text,label\n7,"a, b",0\n8,c,1\n', b"id,text,label\n9,d,1\n", b"id,text,label\n1,e,-1\n2,f,-1\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    with hub_server(monkeypatch, tmp_path / "cache") as server:
        files = {"README.md": b"# data", "train.csv": TRAIN, "valid.csv": DEV, "test.csv": TEST}
        server.datasets[NAME] = {"main": files}
        yield server


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever happens, no temporary folder is left, and nothing beside the data."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"temporary", "data", "cache"}


def make_task(suffix: str = ".tsv", **changes: Any) -> Task:
    files = {split: f"{split}{suffix}" for split in ("train", "dev", "test")}
    made = {"id": "t", "folder": "f", "text": ["text"], "target": "label", "labels": ["0", "1"], "kind": "labels"}
    return Task(**{**made, "metric": "accuracy", "files": files, **changes})


def copy_on(server: HubServer, **changes: Any) -> HubSource:
    """The dataset at the commit of main, if it is there."""
    commit = server.commit(NAME, "main") if "main" in server.datasets.get(NAME, {}) else "0" * 40
    return HubSource(NAME, **{"revision": commit, **changes})


def fetched(server: HubServer, task: Task, folder: Path, **changes: Any) -> dict[str, str]:
    """By name, the content of the files that are fetched."""
    fetch_from_hub(task, copy_on(server, **changes), folder / "data")
    return {path.name: path.read_bytes().decode() for path in (folder / "data" / task.folder).iterdir()}


def refused(server: HubServer, task: Task, folder: Path, **changes: Any) -> None:
    """No file is written."""
    with raises_input_error():
        fetch_from_hub(task, copy_on(server, **changes), folder / "data")
    assert not (folder / "data").exists()


def table(metadata: dict[str, str] | None = None, **columns: list[Any]) -> bytes:
    content = io.BytesIO()
    parquet.write_table(pyarrow.table(columns, metadata=metadata), content)
    return content.getvalue()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_columns_of_the_task_in_its_own_files(
    server: HubServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="mtl"):
        files = fetched(server, make_task(group="id", rows={"train": 3, "dev": 1}), tmp_path)
    assert warnings(caplog) == [f"t: split train of {NAME} has 2 rows where 3 are published"]
    assert files == {
        "train.tsv": "text\tlabel\tid\na, b\t0\t7\nc\t1\t8\n",
        "dev.tsv": "text\tlabel\tid\nd\t1\t9\n",
        "test.tsv": "text\ne\nf\n",
    }
    commit = server.commit(NAME, "main")
    assert caplog.messages[-1].endswith(f"from {NAME}, commit {commit}")
    assert not any("README" in request for request in server.requests)
    assert all(commit in request for request in server.requests if "resolve" in request)


def test_a_task_scored_on_test_has_its_targets_and_columns_may_have_another_name(
    server: HubServer, tmp_path: Path
) -> None:
    refused(server, make_task(scored="test"), tmp_path)
    for file in ("all.tsv#split=train", "part-0.txt + label"):
        refused(server, make_task(files={"train": file}), tmp_path)
    server.datasets[NAME]["main"]["test.csv"] = TRAIN
    assert fetched(server, make_task(scored="test"), tmp_path)["test.tsv"] == "text\tlabel\na, b\t0\nc\t1\n"
    task = make_task(folder="h", text=["sentence", "id"], target="gold")
    files = fetched(server, task, tmp_path, columns={"sentence": "text", "gold": "label"})
    assert files["dev.tsv"] == "sentence\tid\tgold\nd\t9\t1\n"
    refused(server, make_task(folder="g", text=["other"]), tmp_path / "temporary")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_nested_columns_and_lists(server: HubServer, tmp_path: Path, suffix: str) -> None:
    rows = [{"q": {"text": "x"}, "answers": ["a", "b"], "gold": 1}, {"q": {"text": "y"}, "answers": ["c"], "gold": 0}]
    server.datasets[NAME] = {"main": {"train.jsonl": "\n".join(json.dumps(row) for row in rows).encode()}}
    files = {**TRAIN_ALONE, "train": f"train{suffix}"}
    changes = {"labels": None, "kind": "choice", "text": ["q.text"], "candidates": ["answers[]"], "target": "gold"}
    task = make_task(files=files, **changes)
    fetch_from_hub(task, copy_on(server), tmp_path / "data")
    examples = read_examples(task, tmp_path / f"data/f/train{suffix}")
    assert [(example.texts, example.target) for example in examples] == [(("x", "a", "b"), 1), (("y", "c"), 0)]
    task = make_task(files={**files, "train": "train.tsv"}, **changes)
    with raises_input_error():
        fetch_from_hub(task, copy_on(server), tmp_path / "data")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".tsv"])
def test_spans(server: HubServer, tmp_path: Path, suffix: str) -> None:
    row = {"text": "en bank", "at": {"start": 3, "stop": 7}, "label": "1"}
    server.datasets[NAME] = {"main": {"train.jsonl": json.dumps(row).encode()}}
    task = make_task(files={**TRAIN_ALONE, "train": f"train{suffix}"}, spans={"text": ["at"]})
    fetch_from_hub(task, copy_on(server), tmp_path / "data")
    (example,) = read_examples(task, tmp_path / f"data/f/train{suffix}")
    assert example.spans == ((3, 7),)


def test_a_mirror_has_the_same_files(server: HubServer, tmp_path: Path) -> None:
    parts = {f"f/part-{number}.csv": TRAIN for number in range(3)}
    server.datasets[NAME]["main"] |= {**parts, "f/part-x.csv": TRAIN, "f/test.csv": TEST}
    task = make_task(files={"train": "part-0.csv#*", "dev": None, "test": "test.csv"})
    assert fetched(server, task, tmp_path, mirror=True) == {
        **{path.removeprefix("f/"): content.decode() for path, content in parts.items()},
        "test.csv": TEST.decode(),
    }
    del server.datasets[NAME]["main"]["f/part-1.csv"]
    refused(server, task, tmp_path / "temporary", mirror=True)
    task = make_task(files={"train": "nix.csv", "dev": None, "test": None})
    refused(server, task, tmp_path / "temporary", mirror=True)


def test_a_commit_of_the_conversion_to_parquet(server: HubServer, tmp_path: Path) -> None:
    converted = {
        f"default/{split}/0000.parquet": table(text=["a"], label=[1]) for split in ("train", "validation", "test")
    }
    converted["default/train/0001.parquet"] = table(text=["b"], label=[0])
    server.datasets[NAME] = {"main": {"data.py": b"raise SystemExit", "data.zip": b"PK"}, CONVERTED: converted}
    commit = server.commit(NAME, CONVERTED)
    assert fetched(server, make_task(), tmp_path, revision=commit)["train.tsv"] == "text\tlabel\na\t1\nb\t0\n"
    refused(server, make_task(), tmp_path / "temporary")
    assert not any(".py" in request or ".zip" in request for request in server.requests)


def test_indices_of_labels_become_the_task_s_labels(server: HubServer, tmp_path: Path) -> None:
    features = {"label": {"names": ["bad", "good"], "_type": "ClassLabel"}}  # as the Hub keeps them
    named = table({"huggingface": json.dumps({"info": {"features": features}})}, text=["a", "b"], label=[1, 0])
    server.datasets[NAME] = {"main": {f"{split}-0-of-1.parquet": named for split in ("train", "dev", "test")}}
    for folder, labels, content in (("f", ["good", "bad"], "a\tgood\nb\tbad\n"), ("g", ["0", "1"], "a\t1\nb\t0\n")):
        task = make_task(folder=folder, labels=labels)  # a suite that declares the indices keeps them
        assert fetched(server, task, tmp_path)["train.tsv"] == f"text\tlabel\n{content}"


@pytest.mark.parametrize(
    ("paths", "split", "expected"),
    [
        (["data/train.csv", "data/valid.csv"], "validation", ["data/valid.csv"]),
        (["development.csv", "x-val-00000-of-00001.csv"], "validation", ["x-val-00000-of-00001.csv"]),
        (["train-2-of-9.csv", "train-1-of-9.csv", "constrain.csv"], "train", ["train-1-of-9.csv", "train-2-of-9.csv"]),
        ([f"train-{i}-of-2-{i * 8}.csv" for i in ("ab", "cd")], "train", None),
        (["test/train.csv", "test/test.csv"], "test", ["test/test.csv"]),
        (["a/train.csv", "b/train.csv"], "train", None),
        (["a/train/0.csv", "b/train/0.csv"], "b/train", ["b/train/0.csv"]),
        (["a/train/0.csv", "train/0.csv"], "a/train/0.csv", ["a/train/0.csv"]),
        (["train.csv", "train_small.csv"], "train_small", ["train_small.csv"]),
        (["train.csv"], "validation", None),
    ],
)
def test_files_of_a_split(paths: list[str], split: str, expected: list[str] | None) -> None:
    hub = HubSource(NAME, "0" * 40, splits={"dev": split})
    if expected is None:
        with raises_input_error():
            module.files_of_split(paths, "dev", hub)
    else:
        assert module.files_of_split(paths, "dev", hub) == expected


def test_a_later_commit_changes_nothing(server: HubServer, tmp_path: Path) -> None:
    commit, files = server.commit(NAME, "main"), server.datasets[NAME]["main"]
    server.datasets[NAME] = {"main": {**files, "valid.csv": b"text,label\nnew,0\n"}, "before": files}
    assert fetched(server, make_task(), tmp_path, revision=commit)["dev.tsv"] == "text\tlabel\nd\t1\n"


def test_what_the_hub_does_not_have(server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(server, make_task(), tmp_path, revision="0" * 40)
    server.gated = {NAME}
    refused(server, make_task(), tmp_path)
    server.gated, dev = set(), server.datasets[NAME]["main"].pop("valid.csv")
    refused(server, make_task(), tmp_path)
    for path in ("../train.csv", "/train.csv", "C:/train.csv", "a\\..\\train.csv"):  # outside
        server.datasets[NAME] = {"main": {path: TRAIN, "valid.csv": dev, "test.csv": TEST}}
        refused(server, make_task(), tmp_path)
    server.datasets.clear()
    refused(server, make_task(), tmp_path)
    server.requests.clear()
    for name in ("no/such/name", "owner/..", ""):
        with raises_input_error():
            fetch_from_hub(make_task(), HubSource(name, "0" * 40), tmp_path / "data")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    refused(server, make_task(), tmp_path)
    assert not server.requests


@pytest.mark.parametrize(
    "changes", [{"revision": ""}, {"revision": "main"}, {"revision": "0" * 39}, {"splits": {"validation": "x"}}]
)
def test_only_a_commit_and_known_splits_are_downloaded(
    server: HubServer, tmp_path: Path, changes: dict[str, Any]
) -> None:
    with raises_input_error(key=f"tasks.t.hub.{next(iter(changes))}"):
        fetch_from_hub(make_task(), copy_on(server, **changes), tmp_path / "data")
    assert not server.requests


def test_a_gated_dataset_for_one_who_has_logged_in(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.gated = {NAME}
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert fetched(server, make_task(), tmp_path)["dev.tsv"] == "text\tlabel\nd\t1\n"


def test_an_interrupted_download_is_continued(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 5)
    server.cuts["train.csv"] = 10
    refused(server, make_task(), tmp_path)
    assert fetched(server, make_task(), tmp_path)["train.tsv"] == "text\tlabel\na, b\t0\nc\t1\n"
    assert server.ranges == ["bytes=10-"]
    server.requests.clear()
    fetched(server, make_task(folder="g"), tmp_path)  # from the cache
    assert not any("resolve" in request for request in server.requests)


def test_sizes_are_checked(server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.sizes["train.csv"] = len(TRAIN) + 1
    refused(server, make_task(), tmp_path)
    monkeypatch.setattr(module, "UNPACKED_LIMIT", len(TRAIN) + len(DEV) + len(TEST))
    refused(server, make_task(), tmp_path)


def test_checksums_are_checked_and_a_damaged_file_does_not_stay_in_the_cache(server: HubServer, tmp_path: Path) -> None:
    server.sha256["train.csv"] = hashlib.sha256(TRAIN).hexdigest()
    server.sent["train.csv"] = TRAIN.replace(b"c", b"x")
    refused(server, make_task(), tmp_path)
    server.sent = {"valid.csv": DEV.replace(b"d", b"x")}
    refused(server, make_task(), tmp_path)
    server.sent.clear()
    assert fetched(server, make_task(), tmp_path)["train.tsv"] == "text\tlabel\na, b\t0\nc\t1\n"


def test_rows_that_the_task_cannot_read_leave_the_files_there(server: HubServer, tmp_path: Path) -> None:
    before = fetched(server, make_task(), tmp_path)
    server.datasets[NAME]["main"]["valid.csv"] = b"text,label\na,0\nb,2\n"
    with raises_input_error():
        fetched(server, make_task(), tmp_path)
    assert {path.name: path.read_text() for path in (tmp_path / "data/f").iterdir()} == before
    server.datasets[NAME]["main"]["valid.csv"] = b"not,a\ntable\n"
    with raises_input_error():
        fetched(server, make_task(), tmp_path)


LISTED = b'{"id": "a", "siblings": [%s], "sha": "%s"}'
ANSWERS = [b"<html>", b"[" * 100_000, LISTED % (b"5", b"a" * 40), LISTED % (b'{"rfilename": "a.csv"}', b"a" * 40)]
ANSWERS += [LISTED % (b'{"rfilename": "a.csv", "size": 1}', b"../a")]


@pytest.mark.parametrize("answer", ANSWERS, ids=count())
def test_an_answer_that_is_no_list_of_files(server: HubServer, tmp_path: Path, answer: bytes) -> None:
    server.answer = answer
    refused(server, make_task(), tmp_path)


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1", "http://127.0.0.1:x"])
def test_a_hub_that_does_not_answer(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    set_endpoint(monkeypatch, endpoint)
    refused(server, make_task(), tmp_path)
