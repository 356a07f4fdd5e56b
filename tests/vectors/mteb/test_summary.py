"""The summary and the table of an evaluation."""

import pytest
from mteb_folders import HashedEncoder, record

from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import REDUCED
from mtl.vectors.mteb.summary import render_table, summarize

KLEJ = HashedEncoder(trained_on=("klej/cbd", "klej/cdsc-r", "klej/polemo2.0-in", "klej/dyk"))


def test_summary(benchmark: Benchmark) -> None:
    records = {"CDSC-R": record(30.0), "CBD": record(60.0, REDUCED, seconds=6.0, sentences=500), "PAC": record(50.0)}
    summary = summarize(benchmark, KLEJ, {"pooling": "mean"}, records)
    assert list(summary["tasks"]) == ["CBD", "PAC", "CDSC-R"]
    assert summary["by_type"] == {"classification": 55.0, "sts": 30.0}
    assert summary["average"] == pytest.approx(140 / 3) and summary["average_by_type"] == 42.5
    assert summary["partial"] and len(summary["missing"]) == 25
    assert summary["seen"] == {"CBD": ["klej/cbd"], "CDSC-R": ["klej/cdsc-r"]}
    sizes = {"parameters": 1200, "parameters_without_embeddings": 200, "memory": 4_000_000, "dim": 32}
    assert summary["cost"] == {"seconds_per_task": 10 / 3, "sentences_per_second": 700 / 3, **sizes}


def test_table(benchmark: Benchmark) -> None:
    records = {"CBD": record(60.0, REDUCED), "PlscClusteringS2S": record(9.5), "CDSC-R": record(30.25)}
    text = render_table(benchmark, summarize(benchmark, KLEJ, {}, records))
    lines = {cells[0]: cells[1:] for line in text.splitlines() if (cells := [c.strip() for c in line.split("|")[1:-1]])}
    assert lines["CBD"] == ["accuracy", "reduced", "60.00†‡", "2.0", "100"]
    assert lines["PlscClusteringS2S"] == ["V-measure", "exact", "9.50", "2.0", "100"]
    assert lines["CDSC-R"][2] == "30.25‡" and lines["STS, mean"][2] == "30.25*‡"
    assert lines["AVG, tasks"][2] == "33.25*†‡" and "Retrieval, mean" not in lines
    assert "- † CBD: reduced data (test: few); not comparable with published scores." in text
    assert "- PlscClusteringS2S: not comparable with published scores: mteb draws other samples" in text
    assert "- ‡ CDSC-R: the encoder was trained on its training rows (klej/cdsc-r)." in text
    complete = {name: record(50.0) for name in benchmark.tasks}
    summary = summarize(benchmark, KLEJ, {}, records)
    summary["encoder"]["settings"] = "seed 2 (the best on dev), pooling max, not centred"
    text = render_table(benchmark, summary)
    assert "- Seed 2 (the best on dev), pooling max, not centred.\n" in text
    summary = summarize(benchmark, HashedEncoder(), {}, complete)
    text = render_table(benchmark, summary)
    assert "*" not in text and "4 MB, 2 s a task.\n" in text
    text = render_table(benchmark, summarize(benchmark, HashedEncoder(), {}, {}))
    assert "- 32 dimensions, 1,200 parameters (200 without embeddings), 4 MB.\n" in text
