"""Choosing an encoder's settings on validation rows."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hashed_encoder import HashedEncoder

from mtl.encoders.kind import SentenceEncoder
from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import find_benchmark, load_benchmark
from mtl.evaluators.mteb.choice import choose, combinations, validation_tasks

CHOICES = {"pooling": ("max", "mean"), "centre": (False, True)}
SCORES = {
    ("max", False): (10.0, 40.0),
    ("max", True): (30.0, 30.0),
    ("mean", False): (50.0, 20.0),
    ("mean", True): (70.0, 0.0),
}


def test_the_best_mean_wins_and_the_first_of_equals() -> None:
    tried = []

    def validate(encoder: SentenceEncoder, tasks: Sequence[str]) -> dict[str, float]:
        assert isinstance(encoder, HashedEncoder)
        tried.append((encoder.pooling, encoder.centre))
        return dict(zip(tasks, SCORES[tried[-1]], strict=True))

    encoder, record = choose(
        {"pooling": "choose", "centre": "choose", "name": "x"},
        CHOICES,
        ["A", "B"],
        lambda of: HashedEncoder(**of),
        validate,
    )
    assert tried == list(SCORES)
    assert isinstance(encoder, HashedEncoder) and (encoder.pooling, encoder.centre) == ("mean", False)
    assert record["chosen"] == {"pooling": "mean", "centre": False} and encoder.name == "x"
    assert [one["mean"] for one in record["tried"]] == [25.0, 30.0, 35.0, 35.0]
    assert record["tried"][2]["fingerprint"] == encoder.fingerprint() and record["tasks"] == ["A", "B"]


def test_only_some_settings_can_be_chosen() -> None:
    assert combinations({"centre": "choose", "seed": 1}, CHOICES) == [{"centre": False}, {"centre": True}]
    with pytest.raises(InputError, match="layer=choose: only pooling and centre can be chosen"):
        combinations({"layer": "choose"}, CHOICES)


def test_tasks_with_validation_rows(tmp_path: Path) -> None:
    benchmark = load_benchmark(find_benchmark("pl-mteb"))
    for name in ("SICK-R-PL", "PpcPC", "Other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "validation.jsonl").touch()
    (tmp_path / "CBD").mkdir()
    assert validation_tasks(benchmark, tmp_path) == ["PpcPC", "SICK-R-PL"]
    for folder in (None, tmp_path / "CBD"):
        with pytest.raises(InputError, match="choose: no task has validation rows in .*TASK/validation.jsonl"):
            validation_tasks(benchmark, folder)
