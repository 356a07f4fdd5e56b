"""A report as `mtl report` makes it: KLEJ with published rows, seven own runs, and markup where names may stand."""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from run_folders import Predict, make_run, right

from mtl.base.settings.layers import find_yaml
from mtl.reports.document import document
from mtl.reports.leaderboard import leaderboard
from mtl.runs.finished import find_runs
from mtl.tasks.task import Task

SEEDS = (1, 2, 3, 4, 5)
MARKUP = "<script>alert(1)</script>"
# By name: the settings, the share of right predictions, and whether it depends on the seed.
RUNS = {
    "random": (["method=random"], 0.2, True),
    "constant": (["method=constant"], 0.25, False),
    "svm": (["method=svm"], 0.62, False),
    "random-frozen": (["embeddings=random", "encoder.hidden_size=256"], 0.66, True),
    "fasttext-frozen": (["embeddings=fasttext"], 0.78, True),
    "elmo-finetune": (["embeddings=elmo", "variant=finetune"], 0.95, True),
    MARKUP: (["embeddings=random", "variant=attention", "encoder.hidden_size=256"], 0.6, True),
}
PARTIAL = "random-frozen"  # without psc
REDUCED = ("cbd", "ar")  # of the partial run
OTHER_ROWS = "random"  # is scored on other rows than the others, so that it compares with none


def report() -> dict[str, Any]:
    """The whole report; the same at every call, and the caller's own."""
    made: dict[str, Any] = json.loads(_report())
    return made


@cache
def _report() -> str:
    with tempfile.TemporaryDirectory() as name:
        suite = _write_suite(Path(name))
        tasks = [id for id in yaml.safe_load(suite.read_text(encoding="utf-8"))["tasks"] if id != "psc"]
        for run, (settings, share, by_seed) in RUNS.items():
            make_run(
                Path(name) / "runs/klej" / run,
                right(share) if by_seed else _without_seed(right(share)),
                [f"suite={suite}", *settings],
                tasks=tasks if run == PARTIAL else None,
                seeds=SEEDS,
                dev="other" if run == OTHER_ROWS else "dev",
                reduced=REDUCED if run == PARTIAL else (),
            )
        board = leaderboard(find_runs(Path(name) / "runs"))
        return json.dumps(document([board], "2026-11-21 10:00 UTC", "mtl report runs --out report"))


def _write_suite(folder: Path) -> Path:
    """KLEJ's suite file, with markup as labels of PSC."""
    suite = yaml.safe_load(find_yaml("suite", "klej").read_text(encoding="utf-8"))
    suite["tasks"]["psc"] |= {"labels": ["<b>0</b>", MARKUP], "positive": MARKUP, "same_source": MARKUP}
    path = folder / "klej.yaml"
    path.write_text(yaml.safe_dump(suite, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def _without_seed(predict: Predict) -> Predict:
    """Predictions that are the same for every seed."""

    def constant(task: Task, gold: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return predict(task, gold, np.random.default_rng(list(task.id.encode())))

    return constant
