"""Find the evaluations below a folder. Needs no mteb."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import Benchmark, load_benchmark
from mtl.evaluators.mteb.folder import EvaluationFolder
from mtl.evaluators.mteb.records import is_list_of_strings, is_number, record_problem
from mtl.evaluators.mteb.summary import is_comparable
from mtl.files import read_json

logger = logging.getLogger("mtl")

# What the summary of an evaluation has, with the types of the values.
FORM: dict[str, type] = {
    **dict.fromkeys(("encoder", "settings", "tasks", "seen", "cost"), dict),
    **dict.fromkeys(("benchmark", "fingerprint", "command"), str),
}


@dataclass(frozen=True)
class Evaluation:
    """An encoder's scores on a benchmark. name: of its folder."""

    name: str
    folder: EvaluationFolder
    summary: Mapping[str, Any]
    benchmark: Benchmark

    @property
    def title(self) -> str:
        return str(self.summary["encoder"]["title"])

    @property
    def seed(self) -> int | None:
        """Of the run; None for an encoder that is not trained."""
        seed: int | None = self.summary["encoder"].get("seed")
        return seed

    def score(self, task: str) -> float:
        """The score × 100 on a task that was evaluated."""
        return float(self.summary["tasks"][task]["score"])

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
            logger.warning("%s; %s is left out; remove it and evaluate again", error, folder.path)
    return found


def _read(folder: EvaluationFolder) -> Evaluation:
    """The evaluation in a folder. Raises InputError if it is damaged."""
    summary, benchmark = read_json(folder.summary), load_benchmark(folder.benchmark)
    if not isinstance(summary, dict):
        raise InputError(f"{folder.summary}: not keys and values")
    if wrong := [key for key, kind in FORM.items() if not isinstance(summary.get(key), kind)]:
        raise InputError(f"{folder.summary}: {wrong[0]}: missing or of another type")
    for name, of in summary["tasks"].items():
        problem = record_problem(of) or ("has no score" if of["score"] is None else None)
        if name not in benchmark.tasks:
            problem = "not a task of the benchmark"
        if problem:
            raise InputError(f"{folder.summary}: tasks.{name}: {problem}")
    if not all(value is None or is_number(value) for value in summary["cost"].values()):
        raise InputError(f"{folder.summary}: cost: its values are not numbers")
    if not all(map(is_list_of_strings, summary["seen"].values())):
        raise InputError(f"{folder.summary}: seen: not lists of tasks")
    if summary.get("choice") is not None and not _is_choice(summary["choice"]):
        raise InputError(f"{folder.summary}: choice: not the record of a choice")
    if not isinstance(summary["encoder"].get("title"), str) or not isinstance(summary["encoder"].get("family"), str):
        raise InputError(f"{folder.summary}: encoder: has no title or family")
    return Evaluation(folder.path.name, folder, summary, benchmark)


def _is_choice(value: object) -> bool:
    """Whether it has what `mtl.evaluators.mteb.summary.choice_note` reads."""
    if not isinstance(value, dict) or not isinstance(value.get("chosen"), dict):
        return False
    return isinstance(value.get("tried"), list) and is_list_of_strings(value.get("tasks")) and "split" in value
