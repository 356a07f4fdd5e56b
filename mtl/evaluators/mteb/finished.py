"""Find the evaluations below a folder. Needs no mteb."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import Benchmark, load_benchmark
from mtl.evaluators.mteb.folder import EvaluationFolder
from mtl.evaluators.mteb.records import Evaluated
from mtl.evaluators.mteb.summary import is_comparable
from mtl.untrusted import Amount, check_plain_folder, read_json

logger = logging.getLogger("mtl")


class EncoderDescription(TypedDict):
    """`mtl.encoders.kind.Description`, as far as tables read it."""

    title: str
    family: str
    seed: int | None


class Choice(TypedDict):
    """What `mtl.evaluators.mteb.summary.choice_note` reads of a choice of settings."""

    split: str
    tasks: list[str]
    tried: list[dict[str, Any]]
    chosen: dict[str, Any]


class EvaluationSummary(TypedDict):
    """The content of an evaluation's summary.json (`mtl.evaluators.mteb.summary.summarize` explains the keys)."""

    benchmark: str
    encoder: EncoderDescription
    fingerprint: str
    settings: dict[str, Any]
    tasks: dict[str, Evaluated]
    seen: dict[str, list[str]]
    cost: dict[str, Amount | None]
    command: str
    choice: NotRequired[Choice | None]


@dataclass(frozen=True)
class Evaluation:
    """An encoder's scores on a benchmark. name: of its folder."""

    name: str
    folder: EvaluationFolder
    summary: EvaluationSummary
    benchmark: Benchmark

    @property
    def title(self) -> str:
        return self.summary["encoder"]["title"]

    @property
    def seed(self) -> int | None:
        """Of the run; None for an encoder that is not trained."""
        return self.summary["encoder"]["seed"]

    def score(self, task: str) -> float:
        """The score × 100 on a task that was evaluated."""
        score = self.summary["tasks"][task]["score"]
        assert score is not None  # as `_read` checked
        return float(score)

    @property
    def path(self) -> Path:
        """The folder of the evaluation. Evaluations of one encoder in several folders have the same name."""
        return self.folder.path

    def is_comparable(self, task: str) -> bool:
        """Whether the score may stand beside published ones."""
        return is_comparable(self.benchmark, task, self.summary["tasks"][task]["data"])


def find_evaluations(runs_dir: Path) -> list[Evaluation]:
    """Every evaluation in a folder and below, in order of path; one that is damaged or without a score is left out with a warning."""
    found = []
    for file in sorted(runs_dir.rglob("benchmark.yaml")):
        folder = EvaluationFolder(file.parent)
        if not folder.summary.exists():
            logger.warning("%s: has no scores yet, left out", folder.path)
            continue
        try:
            found.append(_read(folder))
        except (InputError, UnicodeDecodeError) as error:
            logger.warning("%s; %s is left out", error, folder.path)
        except OSError as error:
            logger.warning("%s: %s; %s is left out", error.filename or folder.path, error.strerror, folder.path)
    return found


def _read(folder: EvaluationFolder) -> Evaluation:
    """The evaluation in a folder. Raises InputError if it is damaged."""
    check_plain_folder(folder.path)
    summary = read_json(folder.summary, EvaluationSummary, "remove the folder and evaluate again")
    benchmark = load_benchmark(folder.benchmark)
    for name, evaluated in summary["tasks"].items():
        if name not in benchmark.tasks:
            raise InputError(f"{folder.summary}: tasks.{name}: not a task of the benchmark")
        if evaluated["score"] is None:
            raise InputError(f"{folder.summary}: tasks.{name}: has no score")
    return Evaluation(folder.path.name, folder, summary, benchmark)
