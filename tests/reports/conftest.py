import numpy as np
import pytest
import yaml
from alpha_suite import write_alpha_suite
from kinds_suite import write_kinds_suite
from run_folders import make_run, right

from mtl.reports.leaderboard import Leaderboard, leaderboard
from mtl.runs.finished import find_runs


@pytest.fixture(scope="session")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    """A suite scored on dev and on test, with published rows; one run has only tasks that are scored on dev."""
    path = tmp_path_factory.mktemp("mixed")
    suite = write_kinds_suite(path)
    published = {"stars": 50.0, "opposite": 99.0, "mood-elsewhere": 1.0}
    row = {"model": "printed", "family": "transformer", "average": 50.0, "scores": published}
    content = yaml.safe_load(suite.read_text(encoding="utf-8"))
    suite.write_text(yaml.safe_dump({**content, "published": [row]}, sort_keys=False), encoding="utf-8")
    make_run(path / "runs/lstm", right(0.8), [f"suite={suite}"])
    make_run(path / "runs/svm", right(0.1), [f"suite={suite}", "method=svm"])
    make_run(path / "runs/some", right(0.9), [f"suite={suite}", "method=tree"], tasks=["mood", "stars", "answer"])
    return leaderboard(find_runs(path / "runs"))


@pytest.fixture(scope="session")
def alphas(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    """Two settings of a model and a floor, on a suite with further metrics, breakdowns, and scores that are not × 100."""
    path = tmp_path_factory.mktemp("alphas")
    suite = f"suite={write_alpha_suite(path)}"
    make_run(path / "runs/one", right(0.9), [suite])
    make_run(path / "runs/two", right(0.4), [suite, "pretrain.batch_size=7"])
    # Other answers than the right ones, so that α is below 0.
    make_run(path / "runs/wrong", lambda task, gold, rng: np.roll(gold, 1), [suite, "method=svm"])
    return leaderboard(find_runs(path / "runs"))
