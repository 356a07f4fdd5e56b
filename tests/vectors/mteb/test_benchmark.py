"""The files of benchmarks, and the settings of `mtl mteb`."""

from pathlib import Path
from statistics import fmean

import pytest
import yaml
from input_errors import raises_input_error
from mteb_folders import SWEDISH

from mtl.vectors.mteb.benchmark import Benchmark, find_benchmark, load_benchmark, read_settings

PUBLISHED = {"model": "m", "family": "f", "source": "s"}
TYPE = {"title": "A", "metric": "m", "metric_title": "m"}


def test_pl_mteb_has_the_tasks_of_the_paper(benchmark: Benchmark) -> None:
    assert {name: len(of.tasks) for name, of in benchmark.types.items()} == {
        **{"classification": 7, "clustering": 3, "pair_classification": 4, "retrieval": 11, "sts": 3}
    }
    assert benchmark.metric("PpcPC") == "cosine_ap" and benchmark.type_of("STS22") == "sts"
    assert benchmark.tasks["MSMARCO-PL"].split == "dev" and benchmark.tasks["CBD"].split == "test"
    never = {name for name, task in benchmark.tasks.items() if task.not_comparable}
    assert never == {"PlscClusteringP2P", "PlscClusteringS2S", "MSMARCO-PL"}


def test_the_printed_averages_are_those_of_the_scores(benchmark: Benchmark) -> None:
    printed = [row for row in benchmark.published if row.average is not None]
    assert len(benchmark.published) == 19 and len(printed) == 17
    for row in printed:
        assert benchmark.missing(row.scores) == []
        assert row.average == pytest.approx(fmean(row.scores.values()), abs=0.01)
        types = [fmean(row.scores[task] for task in of.tasks) for of in benchmark.types.values()]
        assert row.average_by_type == pytest.approx(fmean(types), abs=0.01)
        assert list(benchmark.type_means(row.scores).values()) == pytest.approx(types)
    assert benchmark.published[14].scores["CBD"] > benchmark.published[0].scores["CBD"]


def test_choosing_tasks_and_another_benchmark_is_another_file(benchmark: Benchmark, tmp_path: Path) -> None:
    assert benchmark.choose(["SICK-R-PL", "CBD"]) == ["CBD", "SICK-R-PL"]
    assert len(benchmark.choose(None)) == 28
    for names in (["XYZ"], ["ppcpc"], []):
        with raises_input_error(key="tasks"):
            benchmark.choose(names)
    path = tmp_path / "sv.yaml"
    path.write_text(SWEDISH, encoding="utf-8")
    swedish = load_benchmark(find_benchmark(str(path)))
    assert list(swedish.tasks) == ["SweRecClassification", "DalajClassification"] and swedish.published == []
    with raises_input_error():
        find_benchmark("nope")


@pytest.mark.parametrize(
    "change",
    [
        *({"name": "../x"}, {"colour": 1}, {"types": 3}, {"languages": []}),
        {"types": {"a": {**TYPE, "tasks": {"x/y": {}}}}},
        {"types": {name: {**TYPE, "tasks": {"x": {}}} for name in "ab"}},
        {"published": [{**PUBLISHED, "scores": {"Nope": 1.0}}]},
        {"published": [{**PUBLISHED, "average": float("nan")}]},
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(SWEDISH), **change}), encoding="utf-8")
    with raises_input_error(file="bad.yaml"):
        load_benchmark(path)


def test_other_keys_are_the_encoder_s() -> None:
    of_encoder = {"pooling": "mean", "embeddings.path": "x", "suite_data_dir": "k"}
    settings, encoder = read_settings({"tasks": ["CBD"], **of_encoder})
    assert (settings.tasks, settings.benchmark, settings.data_dir) == (["CBD"], "pl-mteb", None)
    assert encoder == of_encoder
    with raises_input_error(key="tasks"):
        read_settings({"tasks": "CBD"})
