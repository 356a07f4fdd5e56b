"""The files of evaluations, and finding them."""

import json
import logging
from functools import partial
from pathlib import Path

import pytest
from data_files import read_json
from mteb_folders import HashedEncoder, make_evaluation, record
from mutations import mutated_json

from mtl.base.files import write_json
from mtl.vectors.boards import find_boards
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import EvaluationFolder, find_evaluations, record_key


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": {"Nope": record(1.0)}}, "tasks.Nope: not a task of the benchmark"),
        ({"tasks": {"PpcPC": record(float("nan"))}}, "summary.json: not JSON"),
        ({"tasks": {"PpcPC": record(10**400)}}, "tasks.PpcPC.score: Number out of range"),
        ({"tasks": {"PpcPC": record(1.0, score=None)}}, "tasks.PpcPC: has no score"),
        ({"encoder": {"title": 3}}, "encoder.title: must be a text"),
        ({"tasks": {"PpcPC": record(1.0, "good")}}, "tasks.PpcPC.data: "),
    ],
)
def test_a_damaged_one_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: dict[str, object], message: str
) -> None:
    folder = make_evaluation(tmp_path, {"PpcPC": record(70.0)})
    folder.summary.write_text(json.dumps({**read_json(folder.summary), **change}), encoding="utf-8")
    with caplog.at_level(logging.WARNING, logger="mtl"):
        assert find_evaluations(tmp_path) == []
    assert message in caplog.text
    folder.summary.unlink()
    assert find_evaluations(tmp_path) == [] and "not finished, left out" in caplog.text


@pytest.mark.slow
def test_evaluations_below_a_folder_are_found_whatever_a_summary_holds(tmp_path: Path) -> None:
    folder = make_evaluation(tmp_path / "runs", {"PpcPC": record(70.0), "CBD": record(60.0, "reduced")})
    make_evaluation(tmp_path / "runs", {"PpcPC": record(65.0)}, HashedEncoder(pooling="max", name="a"))
    found, other = find_evaluations(tmp_path / "runs")
    assert (found.summary["encoder"]["title"], found.scores) == ("Hashed words, max", {"PpcPC": 65.0})
    assert other.is_comparable("PpcPC") and not other.is_comparable("CBD")
    for _, damaged in mutated_json(read_json(folder.summary), 8):
        folder.summary.write_bytes(damaged)
        assert find_boards(tmp_path / "runs")


def test_a_record_counts_for_these_versions_rows_and_metric_alone(tmp_path: Path, benchmark: Benchmark) -> None:
    folder, versions = EvaluationFolder(tmp_path), {"mtl": "1", "mteb": "2"}
    key, read = record_key(benchmark, "PpcPC", versions), partial(folder.read_record, "PpcPC")
    made = record(40.0, "reduced", **key, revision="r1")
    write_json(folder.record("PpcPC"), made)
    assert read(key) is None  # without mteb's own file
    folder.result("PpcPC").touch()
    assert read(key) == read({**key, "revision": "r1"}) == made
    others = [record_key(benchmark, "CDSC-R", versions), record_key(benchmark, "PpcPC", {**versions, "mtl": "2"})]
    for other in (*others, {**key, "split": "validation"}, {**key, "revision": "r2"}):
        assert read(other) is None
    folder.record("PpcPC").write_text("[1", encoding="utf-8")
    assert read(key) is None
