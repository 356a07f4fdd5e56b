"""Choosing an encoder's settings on validation rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from input_errors import raises_input_error
from mteb_folders import HashedEncoder

from mtl.vectors.encoders import encoder_kind, open_encoder
from mtl.vectors.encoders.encoder import SentenceEncoder
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.run import choose, combinations, validation_tasks

CHOICES: dict[str, tuple[Any, ...]] = {"pooling": ("max", "mean"), "centre": (False, True)}
SCORES = {
    **{("max", False): (10.0, 40.0), ("max", True): (30.0, 30.0)},
    **{("mean", False): (50.0, 20.0), ("mean", True): (70.0, 0.0)},
}


def chosen(scores: Mapping[tuple[str, bool], tuple[float | None, float]], **settings: Any) -> tuple[Any, Any, Any]:
    """What is chosen if the encoders have these scores on two tasks."""

    def validate(encoder: SentenceEncoder, tasks: Sequence[str]) -> dict[str, float | None]:
        assert isinstance(encoder, HashedEncoder)
        return dict(zip(tasks, scores[encoder.pooling, encoder.centre], strict=True))

    settings = {"pooling": "choose", "centre": "choose", **settings}
    return choose(settings, CHOICES, ["A", "B"], lambda settings: HashedEncoder(**settings), validate)


def test_the_best_mean_wins_the_first_of_equals_and_never_one_that_is_not_finite() -> None:
    encoder, settings, record = chosen(SCORES, name="x")
    assert (encoder.pooling, encoder.centre, encoder.name) == ("mean", False, "x")
    assert settings == {"pooling": "mean", "centre": False, "name": "x"}
    assert record["chosen"] == {"pooling": "mean", "centre": False}
    assert [tuple(tried["settings"].values()) for tried in record["tried"]] == list(SCORES)
    assert [tried["mean"] for tried in record["tried"]] == [25.0, 30.0, 35.0, 35.0]
    assert record["tried"][2]["fingerprint"] == encoder.fingerprint and record["tasks"] == ["A", "B"]
    scores: dict[tuple[str, bool], tuple[float | None, float]] = {**SCORES}
    scores |= {("max", False): (None, 90.0), ("mean", True): (None, 99.0)}
    _, settings, record = chosen(scores)
    assert settings == {"pooling": "mean", "centre": False}
    assert [tried["mean"] for tried in record["tried"]] == [None, 30.0, 35.0, None]
    scores["mean", False] = (None, 1.0)
    with raises_input_error():
        chosen(scores, pooling="mean")


def test_only_some_settings_can_be_chosen_and_a_run_reads_its_data_only_for_centring(tmp_path: Path) -> None:
    found = combinations({"centre": "choose", "seed": 1}, CHOICES)
    assert [values for values, _ in found] == [{"centre": False}, {"centre": True}]
    with raises_input_error():
        combinations({"layer": "choose"}, CHOICES)
    found = combinations({"centre": "choose", "suite_data_dir": "data"}, encoder_kind(str(tmp_path)).choices)
    assert [dict(settings) for _, settings in found] == [{"centre": False}, {"centre": True, "suite_data_dir": "data"}]


def test_every_combination_of_an_average_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("solen skiner\nregnet faller\nsolen faller\n", encoding="utf-8")
    common = {"embeddings": "random", "embeddings.dim": 4, "language": "sv", "texts": str(tmp_path / "texts.txt")}
    choices = encoder_kind("average").choices
    found = combinations({**common, "centre": "choose", "pooling": "choose"}, choices)
    dims = [open_encoder("average", settings).description.dim for _, settings in found]
    assert len(dims) == 6 and set(dims) == {4, 8}


def test_tasks_with_validation_rows(tmp_path: Path, benchmark: Benchmark) -> None:
    for name in ("SICK-R-PL", "PpcPC", "Other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "validation.jsonl").touch()
    (tmp_path / "CBD").mkdir()
    assert validation_tasks(benchmark, tmp_path) == ["PpcPC", "SICK-R-PL"]
    scored = replace(benchmark.tasks["PpcPC"], split="validation")
    # A choice must not read the scored rows.
    with patch.dict(benchmark.types["pair_classification"].tasks, {"PpcPC": scored}):
        assert validation_tasks(benchmark, tmp_path) == ["SICK-R-PL"]
    for folder in (None, tmp_path / "CBD"):
        with raises_input_error():
            validation_tasks(benchmark, folder)
