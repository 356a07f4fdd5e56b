"""Finding evaluations."""

import json
import logging
from pathlib import Path

import pytest
from hashed_encoder import HashedEncoder
from mteb_folders import make_evaluation, record

from mtl.evaluators.mteb.finished import find_evaluations


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
        ({"tasks": {"PpcPC": record(float("nan"))}}, "tasks.PpcPC: its scores and costs are not numbers"),
        ({"tasks": {"PpcPC": record(10**400)}}, "tasks.PpcPC: its scores and costs are not numbers"),
        ({"tasks": {"PpcPC": {**record(1.0), "score": None}}}, "tasks.PpcPC: has no score"),
        ({"tasks": {"PpcPC": record(1.0, revision=["a"])}}, "tasks.PpcPC: not a record"),
        ({"tasks": {"PpcPC": 3}}, "tasks.PpcPC: not a record"),
        ({"cost": {"dim": 10**400}}, "cost: its values are not numbers"),
        ({"cost": None}, "cost: missing"),
        ({"encoder": {"title": 3}}, "encoder: has no title"),
        ({"tasks": {"PpcPC": {**record(1.0), "data": "good"}}}, "tasks.PpcPC: does not say how its data differs"),
        ({"tasks": {"PpcPC": {**record(1.0), "differences": None}}}, "tasks.PpcPC: does not say how its data differs"),
        ({"cost": {"dim": "x"}}, "cost: its values are not numbers"),
        ({"seen": {"PpcPC": 3}}, "seen: not lists of tasks"),
        ({"choice": {"a": 1}}, "choice: not the record of a choice"),
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
    assert find_evaluations(tmp_path) == [] and "has no scores yet" in caplog.text
