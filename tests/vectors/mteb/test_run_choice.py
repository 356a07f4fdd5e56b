"""Choosing an encoder's settings on validation rows."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from hashed_encoder import HashedEncoder
from input_errors import raises_input_error

from mtl.vectors.encoders import encoder_kind, open_encoder
from mtl.vectors.encoders.encoder import Choices, SentenceEncoder
from mtl.vectors.mteb.benchmark import find_benchmark, load_benchmark
from mtl.vectors.mteb.run import choose, combinations, validation_tasks

CHOICES = Choices({"pooling": ("max", "mean"), "centre": (False, True)})
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

    encoder, settings, record = choose(
        {"pooling": "choose", "centre": "choose", "name": "x"},
        CHOICES,
        ["A", "B"],
        lambda of: HashedEncoder(**of),
        validate,
    )
    assert tried == list(SCORES)
    assert isinstance(encoder, HashedEncoder) and (encoder.pooling, encoder.centre) == ("mean", False)
    assert settings == {"pooling": "mean", "centre": False, "name": "x"}
    assert record["chosen"] == {"pooling": "mean", "centre": False} and encoder.name == "x"
    assert [one["mean"] for one in record["tried"]] == [25.0, 30.0, 35.0, 35.0]
    assert record["tried"][2]["fingerprint"] == encoder.fingerprint() and record["tasks"] == ["A", "B"]


def test_a_score_that_is_not_finite_never_wins() -> None:
    scores: dict[tuple[str, bool], tuple[float | None, float]] = {
        **{("max", False): (None, 90.0), ("max", True): (10.0, 20.0)},
        **{("mean", False): (30.0, 20.0), ("mean", True): (None, 99.0)},
    }

    def validate(encoder: SentenceEncoder, tasks: Sequence[str]) -> dict[str, float | None]:
        assert isinstance(encoder, HashedEncoder)
        return dict(zip(tasks, scores[encoder.pooling, encoder.centre], strict=True))

    given = {"pooling": "choose", "centre": "choose"}
    _, settings, record = choose(given, CHOICES, ["A", "B"], lambda of: HashedEncoder(**of), validate)
    assert settings == {"pooling": "mean", "centre": False}
    assert [one["mean"] for one in record["tried"]] == [None, 15.0, 25.0, None]
    given = {"pooling": "mean", "centre": "choose"}
    scores["mean", False] = (None, 1.0)
    with raises_input_error():
        choose(given, CHOICES, ["A", "B"], lambda of: HashedEncoder(**of), validate)


def test_only_some_settings_can_be_chosen() -> None:
    found = combinations({"centre": "choose", "seed": 1}, CHOICES)
    assert [values for values, _ in found] == [{"centre": False}, {"centre": True}]
    with raises_input_error():
        combinations({"layer": "choose"}, CHOICES)


def test_every_combination_of_an_average_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("solen skiner\nregnet faller\nsolen faller\n", encoding="utf-8")
    common = {"embeddings": "random", "embeddings.dim": 4, "language": "sv", "texts": str(tmp_path / "texts.txt")}
    choices = encoder_kind("average").choices()
    for given, count in (
        ({"centre": "choose", "pooling": "choose"}, 6),
        ({"weighting": "sif", "pooling": "choose"}, 2),
    ):
        found = combinations({**common, **given}, choices)
        dims = [open_encoder("average", settings).description.dim for _, settings in found]
        assert len(dims) == count and set(dims) == {4, 8}
    with raises_input_error():
        combinations({**common, "weighting": "sif", "pooling": "max", "centre": "choose"}, choices)
    with raises_input_error():
        combinations({**common, "texts": None, "centre": "choose"}, choices)


def test_a_run_reads_its_data_only_for_centring(tmp_path: Path) -> None:
    found = combinations({"centre": "choose", "data_dir": "data"}, encoder_kind(str(tmp_path)).choices())
    assert [dict(settings) for _, settings in found] == [{"centre": False}, {"centre": True, "data_dir": "data"}]


def test_tasks_with_validation_rows(tmp_path: Path) -> None:
    benchmark = load_benchmark(find_benchmark("pl-mteb"))
    for name in ("SICK-R-PL", "PpcPC", "Other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "validation.jsonl").touch()
    (tmp_path / "CBD").mkdir()
    assert validation_tasks(benchmark, tmp_path) == ["PpcPC", "SICK-R-PL"]
    scored = replace(benchmark.tasks["PpcPC"], split="validation")
    with patch.dict(
        benchmark.types["pair_classification"].tasks, {"PpcPC": scored}
    ):  # a choice must not read the scored rows
        assert validation_tasks(benchmark, tmp_path) == ["SICK-R-PL"]
    for folder in (None, tmp_path / "CBD"):
        with raises_input_error():
            validation_tasks(benchmark, folder)
