"""Small local folders of mteb's tasks, an encoder for them, and finished evaluations without mteb."""

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.files import write_json, write_text
from mtl.vectors.encoders.encoder import Description, SentenceEncoder
from mtl.vectors.mteb.benchmark import find_benchmark, load_benchmark
from mtl.vectors.mteb.results import EXACT, EvaluationFolder
from mtl.vectors.mteb.summary import summarize

DIM = 32
WORDS = re.findall(r"\w+", "kot pies dom las góra ptak ryba chleb woda dzień noc wiatr śnieg deszcz")
SWEDISH = """
name: sv-test
title: Two Swedish tasks
languages: [swe]
model_languages: {sv: swe-Latn}
types:
  classification:
    {title: Classification, metric: accuracy, metric_title: accuracy,
     tasks: {SweRecClassification: {}, DalajClassification: {}}}
"""


@dataclass
class HashedEncoder(SentenceEncoder):
    """The mean of word vectors that are drawn from the words' hashes. It counts the texts that it encodes."""

    pooling: str = "mean"
    trained_on: tuple[str, ...] = ()
    name: str = "hashed"
    seed: int | None = None
    software: dict[str, str] = field(default_factory=lambda: {"mtl": "1"})
    encoded: int = field(default=0, init=False)

    @property
    def description(self) -> Description:  # type: ignore[override]
        sizes = (DIM, "pl", 1200, 200, 4_000_000, None)
        title = f"Hashed words, {self.pooling}"
        return Description(self.name, title, "average", *sizes, self.trained_on, self.seed)

    def encode(self, texts: Sequence[str], progress: bool = False, prompt: str | None = None) -> np.ndarray:
        self.encoded += len(texts)
        pool = {"mean": np.mean, "max": np.max}[self.pooling]
        vectors = [pool([_vector(word) for word in text.lower().split() or [""]], axis=0) for text in texts]
        return np.array(vectors, dtype=np.float32).reshape(len(texts), DIM)

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        parts = (self.pooling, self.trained_on, self.name, self.seed)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def versions(self) -> dict[str, str]:
        return self.software


def _vector(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(DIM)


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
    said = {"data": data, "differences": [] if data == EXACT else ["test: few"], "revision": "r1", "metric": "m"}
    return {"score": score, **said, "seconds": 2.0, "encoding_seconds": 1.0, "sentences": 100, **changes}


def make_evaluation(
    runs_dir: Path, records: Mapping[str, dict[str, Any]], encoder: HashedEncoder | None = None
) -> EvaluationFolder:
    """A finished evaluation on PL-MTEB."""
    encoder = encoder or HashedEncoder()
    path = find_benchmark("pl-mteb")
    benchmark = load_benchmark(path)
    folder = EvaluationFolder(runs_dir / "mteb" / benchmark.name / f"{encoder.description.name}-{encoder.revision}")
    write_text(folder.benchmark, path.read_text(encoding="utf-8"))
    summary = summarize(benchmark, encoder, {}, records)
    write_json(folder.summary, {**summary, "command": "mtl mteb x"})
    return folder
