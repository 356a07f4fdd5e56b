import pytest
from kinds_suite import write_kinds_suite
from run_folders import make_run, right

from mtl.reports.leaderboard import Leaderboard, leaderboard
from mtl.runs.finished import find_runs


@pytest.fixture(scope="session")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    """A suite with a task of each target kind, some of them scored on test."""
    path = tmp_path_factory.mktemp("kinds")
    suite = write_kinds_suite(path)
    make_run(path / "runs/lstm", right(0.8), [f"suite={suite}"])
    make_run(path / "runs/svm", right(0.4), [f"suite={suite}", "method=svm"])
    make_run(path / "runs/words", right(0.4), [f"suite={suite}", "method=tree"], tasks=["answer", "opposite"])
    return leaderboard(find_runs(path / "runs"))
