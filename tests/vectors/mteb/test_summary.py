"""The summary and the table of an evaluation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mteb_folders import HashedEncoder, record

from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import REDUCED, Record
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


def table(benchmark: Benchmark, encoder: HashedEncoder, records: Mapping[str, Record], **about: Any) -> str:
    """The table of an evaluation; `about` replaces values of the encoder's description."""
    summary = summarize(benchmark, encoder, {}, records)
    return render_table(Path("hashed"), benchmark, {**summary, "encoder": {**summary["encoder"], **about}})


def test_table(benchmark: Benchmark) -> None:
    records = {"CBD": record(60.0, REDUCED), "PlscClusteringS2S": record(9.5), "CDSC-R": record(30.25)}
    text = table(benchmark, KLEJ, records)
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    means = dict(zip(lines[0], lines[3], strict=True))
    assert means["AVG, tasks"] == means["AVG, types"] == r"33.25\*†‡" and "Retrieval" not in means
    assert (means["Classification"], means["Clustering"], means["STS"]) == (r"60.00\*†‡", r"9.50\*", r"30.25\*‡")
    for name, type_title, score in (
        ("CBD", "Classification, accuracy", "60.00†‡"),
        ("PlscClusteringS2S", "Clustering, V-measure", "9.50"),
        ("CDSC-R", "STS, Spearman, cosine", "30.25‡"),
    ):
        header = lines.index(["", "split", name])
        assert lines[header + 2] == ["hashed", "test", score] and f"### {type_title}\n" in text
        assert f"{name} 2.0 s (100 sentences/s)" in text
    assert r"- \* partial; without scores: PolEmo2.0-IN, " in text
    assert "- † CBD: reduced data (test: few); not comparable with published scores." in text
    assert "- PlscClusteringS2S: not comparable with published scores: mteb draws other samples" in text
    assert "- ‡ CDSC-R: the encoder was trained on its training rows (klej/cdsc-r)." in text
    text = table(benchmark, KLEJ, records, settings="seed 2 (the best on dev), pooling max, not centred")
    assert "- Seed 2 (the best on dev), pooling max, not centred.\n" in text
    text = table(benchmark, HashedEncoder(), {name: record(50.0) for name in benchmark.tasks})
    assert "*" not in text and text.endswith(
        "| hashed |      1,200 |                200 |         100 |    2 s |   4 MB |  32 |\n"
    )
    text = table(benchmark, HashedEncoder(), {})
    assert text.endswith("| hashed |      1,200 |                200 |           – |      – |   4 MB |  32 |\n")
    assert "|          – |          – |\n" in text and "Scores by type" not in text
