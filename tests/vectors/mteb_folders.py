"""Small local folders of mteb's tasks, and finished evaluations without mteb."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hashed_encoder import HashedEncoder

from mtl.base.files import write_json, write_text
from mtl.vectors.mteb.benchmark import find_benchmark, load_benchmark
from mtl.vectors.mteb.results import EXACT, EvaluationFolder, summarize

WORDS = re.findall(r"\w+", "kot pies dom las góra ptak ryba chleb woda dzień noc wiatr śnieg deszcz")

SWEDISH = """
name: sv-test
title: Two Swedish tasks
languages: [swe]
model_languages: {sv: swe-Latn}
types:
  classification:
    title: Classification
    metric: accuracy
    metric_title: accuracy
    tasks:
      SweRecClassification: {}
      DalajClassification: {}
"""


def stay_offline(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Within a test, mteb and datasets do not read the hub, and write only below a folder."""
    import datasets

    monkeypatch.setenv("MTEB_CACHE", str(folder / "mteb"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder / "datasets")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def write_rows(folder: Path, split: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows of a split of a task as JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def pairs(count: int, target: str, seed: int = 0) -> list[dict[str, Any]]:
    """Pairs of texts of four random words each, at least one of which differs, so that rounding cannot break ties between cosines. The
    more words a pair shares, the higher its target, which is "labels" (0, 1) or "score" (1 to 4)."""
    rng, rows = random.Random(seed), []
    for _ in range(count):
        one = rng.sample(WORDS, 4)
        kept = rng.randrange(4)
        other = one[:kept] + rng.sample([word for word in WORDS if word not in one], 4 - kept)
        value = int(kept > 1) if target == "labels" else 1.0 + kept
        rows.append({"sentence1": " ".join(one), "sentence2": " ".join(other), target: value})
    return rows


def labelled(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Texts of random words, of which a half has the label 1 and a word of its own."""
    rng = random.Random(seed)
    return [
        {"text": " ".join([*rng.sample(WORDS, 4), "dobrze" if label else "źle"]), "label": label}
        for label in (number % 2 for number in range(count))
    ]


def record(score: float, data: str = EXACT, /, **changes: Any) -> dict[str, Any]:
    """What is recorded of an evaluation of a task."""
    return {
        **{"versions": {"mteb": "2"}, "revision": "r1", "split": "test", "type": "", "metric": "m", "score": score},
        **{
            "main_metric": "m",
            "main_score": score,
            "data": data,
            "differences": [] if data == EXACT else ["test: few"],
        },
        **{"seconds": 2.0, "encoding_seconds": 1.0, "sentences": 100, **changes},
    }


def make_evaluation(
    runs_dir: Path,
    records: Mapping[str, Mapping[str, Any]],
    encoder: HashedEncoder | None = None,
    choice: Mapping[str, Any] | None = None,
) -> EvaluationFolder:
    """A finished evaluation on PL-MTEB."""
    encoder = encoder or HashedEncoder()
    path = find_benchmark("pl-mteb")
    benchmark = load_benchmark(path)
    folder = EvaluationFolder.of(str(runs_dir), benchmark.name, encoder)
    write_text(folder.benchmark, path.read_text(encoding="utf-8"))
    description = replace(encoder.description, parameters=1200, parameters_without_embeddings=200, memory=4_000_000)
    summary = summarize(benchmark, description, encoder.fingerprint(), {}, records, choice)
    write_json(folder.summary, {**summary, "command": "mtl mteb x"})
    return folder
