"""Finding evaluations."""

import json
import logging
from pathlib import Path

import pytest
from hashed_encoder import HashedEncoder
from mteb_folders import make_evaluation, record
from mutations import mutated_json

from mtl.vectors.boards import encoder_leaderboards
from mtl.vectors.mteb.results import find_evaluations


@pytest.mark.slow
def test_evaluations_below_a_folder(tmp_path: Path) -> None:
    make_evaluation(tmp_path, {"PpcPC": record(70.0), "CBD": record(60.0, "reduced")})
    make_evaluation(tmp_path, {"PpcPC": record(65.0)}, HashedEncoder(pooling="max", name="a"))
    one, other = find_evaluations(tmp_path)
    assert (one.name, one.title, one.score("PpcPC")) == (one.folder.path.name, "Hashed words, max", 65.0)
    assert other.is_comparable("PpcPC") and not other.is_comparable("CBD")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": {"Nope": record(1.0)}}, "tasks.Nope: not a task of the benchmark"),
        ({"tasks": {"PpcPC": record(float("nan"))}}, "summary.json: not JSON"),
        ({"tasks": {"PpcPC": record(10**400)}}, "tasks.PpcPC.score: Number out of range"),
        ({"tasks": {"PpcPC": {**record(1.0), "score": None}}}, "tasks.PpcPC: has no score"),
        ({"tasks": {"PpcPC": record(1.0, revision=["a"])}}, "tasks.PpcPC.revision: must be a text"),
        ({"tasks": {"PpcPC": 3}}, "tasks.PpcPC: must be keys and values"),
        ({"cost": {"dim": 10**400}}, "cost.dim: "),
        ({"cost": None}, "cost: must be keys and values"),
        ({"encoder": {"title": 3}}, "encoder.title: must be a text"),
        ({"tasks": {"PpcPC": {**record(1.0), "data": "good"}}}, "tasks.PpcPC.data: "),
        ({"tasks": {"PpcPC": {**record(1.0), "differences": None}}}, "tasks.PpcPC.differences: must be a list"),
        ({"cost": {"dim": "x"}}, "cost.dim: "),
        ({"seen": {"PpcPC": 3}}, "seen.PpcPC: must be a list"),
        ({"choice": {"a": 1}}, "choice: has no split"),
    ],
)
def test_a_damaged_one_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: dict[str, object], message: str
) -> None:
    folder = make_evaluation(tmp_path, {"PpcPC": record(70.0)})
    summary = json.loads(folder.summary.read_text(encoding="utf-8"))
    folder.summary.write_text(json.dumps({**summary, **change}), encoding="utf-8")
    with caplog.at_level(logging.WARNING, logger="mtl"):
        assert find_evaluations(tmp_path) == []
    assert message in caplog.text
    folder.summary.unlink()
    assert find_evaluations(tmp_path) == [] and "not finished, left out" in caplog.text


@pytest.mark.slow
def test_whatever_a_summary_holds_the_report_goes_on(tmp_path: Path) -> None:
    folder = make_evaluation(tmp_path / "runs", {"PpcPC": record(70.0), "CBD": record(60.0, "reduced")})
    make_evaluation(tmp_path / "runs", {"PpcPC": record(65.0)}, HashedEncoder(pooling="max", name="a"))
    whole = json.loads(folder.summary.read_text(encoding="utf-8"))
    for _, damaged in mutated_json(whole, 8):
        folder.summary.write_bytes(damaged)
        assert encoder_leaderboards(find_evaluations(tmp_path / "runs"))
