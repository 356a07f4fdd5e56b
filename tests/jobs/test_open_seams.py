"""A metric, a target kind, an embedder and a method that are defined in this file alone take part in whole runs."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from data_files import read_json
from input_errors import refused
from kinds_suite import SUITE, write_kinds_suite
from torch import Tensor, nn

import mtl
from mtl.base.settings.schema import Config, EmbedderOptions
from mtl.data.text import TokenizedTexts
from mtl.embedders import EMBEDDERS
from mtl.embedders.interface import Coverage, EmbedderKind, EmbeddingsRequest, RunReaderRequest, count_coverage
from mtl.jobs.baseline import run_baseline
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.methods.method_kind import MethodKind
from mtl.model.sequences import ArraySequences
from mtl.reports.report import write_report
from mtl.tasks.kinds.labels import LabelHead, Labels
from mtl.tasks.metrics import METRICS, Metric
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import ScoredRows, Task

DIM = 6


def within_writers(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """A metric that reads a column: the mean over the column's values of the share of rows that are right."""
    names, groups = np.unique(rows.columns["review.writer"], return_inverse=True)
    of_writer = np.eye(len(names))[groups]
    counts = weights @ of_writer
    shares = (weights * (predicted == rows.targets)) @ of_writer / np.maximum(counts, 1)
    return shares.sum(axis=1) / (counts > 0).sum(axis=1)


class OrderedHead(LabelHead):
    """What is new in a target kind of its own: labels in an order, predicted by their expected place."""

    def loss(self, outputs: Tensor, codes: Tensor, sizes: Tensor | None) -> Tensor:
        errors = (self._place(outputs) - codes).square()
        weights = torch.ones_like(errors) if self.weights is None else errors.new_tensor(self.weights)[codes.long()]
        return (weights * errors).sum() / weights.sum()

    def predict(self, outputs: Tensor, sizes: Tensor | None) -> Tensor:
        return self._place(outputs).round()

    def _place(self, outputs: Tensor) -> Tensor:
        return outputs.softmax(dim=1) @ torch.arange(len(self.labels), dtype=outputs.dtype, device=outputs.device)


class Ordered(Labels):
    """The kind itself."""

    head_type = OrderedHead
    derived_from = "labels"


@dataclass
class LengthOptions(EmbedderOptions):
    """The options of an embedder of its own."""

    dropout: float = 0.0
    scale: float = 1.0


class LengthEmbedder(nn.Module):
    """A word's vector is its number of letters on a few scales; nothing is trained."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.register_buffer("scales", scale / torch.arange(1.0, DIM + 1))

    def for_task(self) -> "LengthEmbedder":
        return self

    def forward(self, lengths: Tensor) -> Tensor:
        scales = self.scales
        assert isinstance(scales, Tensor)
        return (lengths.float()[..., None] * scales).sin()


class LengthEmbeddings:
    """`mtl.embedders.interface.Embeddings` and `Reader` at once: it keeps nothing of the texts."""

    dim = DIM

    def __init__(self, scale: float, texts: TokenizedTexts | None = None) -> None:
        self.scale = scale
        self.embedder = lambda: LengthEmbedder(scale)
        self.coverage: Coverage | None = None
        if texts is not None:
            self.coverage = count_coverage(texts, np.ones(len(texts.types), dtype=bool))

    def fingerprint(self) -> str:
        return f"lengths × {self.scale}"

    def sequences(self, texts: TokenizedTexts) -> ArraySequences:
        lengths = np.array([len(word) for word in texts.types])
        return ArraySequences(lengths[texts.tokens], texts.starts[:-1], texts.lengths)

    uncached_sequences = sequences

    def parameters(self) -> int:
        return 0

    def to(self, device: torch.device) -> None:
        pass

    def save(self, folder: Path) -> None:
        pass


class LengthReader(LengthEmbeddings):
    """The same for a finished run."""

    def __init__(self, scale: float) -> None:
        super().__init__(scale)
        self.embedder = LengthEmbedder(scale)  # type: ignore[assignment]

    def have_vectors(self, texts: TokenizedTexts) -> np.ndarray:
        return np.ones(len(texts.types), dtype=bool)


def build_lengths(request: EmbeddingsRequest) -> LengthEmbeddings:
    return LengthEmbeddings(request.options.scale, request.texts)


def load_lengths(request: RunReaderRequest) -> LengthReader:
    assert request.fingerprint == f"lengths × {request.options.scale}"
    return LengthReader(request.options.scale)


class FirstRow(Method):
    """A method of its own: the target of the first training row, for every row."""

    def __init__(self, request: BuildRequest) -> None:
        super().__init__(request)
        self.facts["first_rows"] = len(self.dataset.trained_tasks)

    def save(self, folder: Path) -> None:
        (folder / "first.txt").write_text("1", encoding="utf-8")

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.trained_tasks:
            first = self.dataset.splits[task.id]["train"].targets[:1]
            for answered in self.dataset.answered(task):
                yield answered, {name: first.repeat(len(split)) for name, split in self.to_predict(answered).items()}

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        keys = ("parameters", "parameters_without_embeddings", "pretrain_seconds", "finetune_seconds", "peak_memory")
        return {**dict.fromkeys(keys), "sentences_per_second": None}


class FirstRowKind(MethodKind):
    """What such a method says of itself."""

    family = "rule"

    def title(self, config: Config) -> str:
        return "First training row"

    def folder(self, config: Config) -> str:
        return "first"

    def answers(self, task: Task) -> bool:
        return True

    def build(self, request: BuildRequest) -> Method:
        return FirstRow(request)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry in each registry, and nothing else."""
    lengths = EmbedderKind("word lengths", LengthOptions, build_lengths, load_lengths)
    monkeypatch.setitem(METRICS, "within", Metric("within writers", ("ordered",), within_writers))
    monkeypatch.setitem(TARGET_KINDS, "ordered", Ordered)
    monkeypatch.setitem(EMBEDDERS, "lengths", lengths)
    monkeypatch.setitem(METHODS, "first-row", FirstRowKind())


@pytest.fixture
def suite(tmp_path: Path, registered: None) -> Path:
    """The suite of all target kinds, whose task mood has the new kind and the new metric."""
    path = write_kinds_suite(tmp_path)
    old = "labels: [bad, good]\n    metric: macro_f1"
    assert old in SUITE
    new = "kind: ordered\n    labels: [bad, good]\n    metric: within\n    columns: [review.writer]"
    path.write_text(SUITE.replace(old, new), encoding="utf-8")
    return path


def job_of(suite: Path, **settings: Any) -> Job:
    folders = {f"{name}_dir": str(suite.parent / name) for name in ("data", "runs", "cache")}
    return load_job({"suite": str(suite), **folders, "seeds": [1, 2], **settings})


@pytest.mark.slow
def test_entries_of_this_file_take_part_in_runs_tables_and_reports(suite: Path, tmp_path: Path) -> None:
    lstm, first = job_of(suite, embeddings="lengths", **{"embeddings.scale": 0.5}), job_of(suite, method="first-row")
    made = run_baseline(lstm)
    run_baseline(first)
    assert [job.folder.path.name for job in (lstm, first)] == ["lengths-frozen", "first"]
    assert made["title"] == "LSTM, word lengths, frozen, changed" and made["config"]["embeddings.scale"] == 0.5
    assert made["tasks"]["mood"]["metric"] == "within" and made["tasks"]["mood-elsewhere"]["split"] == "test"
    assert "**First training row**, median of 2" in first.folder.table.read_text(encoding="utf-8")
    summary = read_json(first.folder.summary)
    assert (summary["family"], summary["first_rows"]) == ("rule", 4)
    # The first training row of mood has the label good, as half the rows have.
    assert summary["tasks"]["mood"]["median"] == 50

    predictor = mtl.load(lstm.folder.path, seed=2)
    rows = [[f"the film number {i} was {word}"] for i, word in enumerate(["fine", "awful", "bright"])]
    dev = [["the film number 0 was fine"]]
    written = lstm.folder.predictions(2, "dev", "mood").read_text(encoding="utf-8").split("\n")
    assert predictor.predict("mood", [*dev, *rows])[0] == written[1]

    page = write_report(tmp_path / "runs", tmp_path / "report", "mtl report").read_text(encoding="utf-8")
    assert "within writers" in page and "First training row" in page and '"title":"rule"' in page
    with (tmp_path / "report/scores.csv").open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["task"] == "mood"]
    assert {(line["family"], line["metric"]) for line in lines} == {("lstm", "within"), ("rule", "within")}
    assert all(float(line["interval_low"]) <= float(line["interval_high"]) for line in lines)


def test_settings_that_a_new_embedder_or_method_does_not_have_are_refused(suite: Path) -> None:
    refused(lambda: job_of(suite, embeddings="lengths", **{"embeddings.scales": 2}))
    refused(lambda: job_of(suite, method="first-row", **{"encoder.hidden_size": 3}), key="encoder.hidden_size")
