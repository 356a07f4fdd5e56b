"""What is wrong with local rows is named by file, row and column."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from data_files import write_jsonl
from input_errors import raises_input_error
from mteb_folders import labelled, pairs

from mtl.vectors.mteb.benchmark import Benchmark

pytest.importorskip("mteb", reason="needs the package mteb")

GOOD = pairs(4, "labels")
pytestmark = pytest.mark.usefixtures("offline")


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def loaded(benchmark: Benchmark, data_dir: Path, name: str = "PpcPC") -> Any:
    """A task with the rows in its folder."""
    from mtl.vectors.mteb.data import find_rows, fresh_task, load_rows

    rows = find_rows(benchmark, name, data_dir)
    task = fresh_task(benchmark, name, "test", rows)
    load_rows(task, rows)
    return task


def test_damaged_rows(tmp_path: Path, benchmark: Benchmark) -> None:
    folder = tmp_path / "data/PpcPC"
    folder.mkdir(parents=True)
    with raises_input_error(file="PpcPC"):
        loaded(benchmark, tmp_path / "data")
    validation = write_jsonl(folder / "validation.jsonl", GOOD)
    with raises_input_error():
        loaded(benchmark, tmp_path / "data")
    validation.unlink()
    write_jsonl(tmp_path / "data/CBD/test.jsonl", labelled(4))  # a classifier is trained on the split train
    with raises_input_error():
        loaded(benchmark, tmp_path / "data", "CBD")
    for content in (
        *(lines(*GOOD)[:-20], lines(*({"a": "x", "sentence2": "y", "labels": 1},) * 2), ""),
        *(lines({**GOOD[0], key: value}) for key, value in (("sentence2", None), ("labels", "yes"), ("sentence2", 7))),
    ):
        (folder / "test.jsonl").write_text(content, encoding="utf-8")
        with raises_input_error(file="test.jsonl"):
            loaded(benchmark, tmp_path / "data")


def test_no_link_and_no_card_leads_out_of_the_folder(tmp_path: Path, benchmark: Benchmark) -> None:
    folder, outside = tmp_path / "data/PpcPC", tmp_path / "outside.jsonl"
    write_jsonl(folder / "rows.jsonl", GOOD)
    write_jsonl(outside, GOOD)
    (folder / "test.jsonl").symlink_to("rows.jsonl")
    loaded(benchmark, tmp_path / "data")
    (folder / "test.jsonl").unlink()
    for name in ("rows.jsonl", str(outside), "../../outside.jsonl", "https://example.org/rows.jsonl"):
        card = {"configs": [{"config_name": "default", "data_files": [{"split": "test", "path": name}]}]}
        (folder / "README.md").write_text(f"\n---\n{json.dumps(card)}\n---\n", encoding="utf-8")
        if name == "rows.jsonl":
            loaded(benchmark, tmp_path / "data")
            continue
        with raises_input_error(file="README.md", key="configs"):
            loaded(benchmark, tmp_path / "data")
    (folder / "README.md").rename(folder / ".huggingface.yaml")
    with raises_input_error(file=".huggingface.yaml"):
        loaded(benchmark, tmp_path / "data")
    (folder / ".huggingface.yaml").unlink()
    (folder / "test.jsonl").symlink_to(outside)
    with raises_input_error(file="test.jsonl"):
        loaded(benchmark, tmp_path / "data")


def test_a_task_has_its_local_rows(tmp_path: Path, benchmark: Benchmark) -> None:
    write_jsonl(tmp_path / "PpcPC/test.jsonl", GOOD)
    task = loaded(benchmark, tmp_path)
    assert task.data_loaded and task.dataset["test"]["sentence1"][0] == GOOD[0]["sentence1"]
    # A damaged file of another format is named.
    (tmp_path / "PpcPC/test.jsonl").unlink()
    (tmp_path / "PpcPC/test.csv").write_text("sentence1,sentence2,labels\na,b,1\nc,d,0,5\n", encoding="utf-8")
    with raises_input_error():
        loaded(benchmark, tmp_path)


def test_without_a_network_one_line_says_where_rows_go(benchmark: Benchmark) -> None:
    from mtl.vectors.mteb.data import find_rows, fresh_task, load_rows

    rows = find_rows(benchmark, "PSC", None)
    task = fresh_task(benchmark, "PSC", "test", rows)
    closed = RuntimeError("Cannot send a request, as the client has been closed.")
    with patch.object(type(task), "load_data", side_effect=closed), raises_input_error():
        load_rows(task, rows)
