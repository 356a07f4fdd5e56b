import sys
from subprocess import run

from mtl.config import load_config
from mtl.results.summary import summarize


def test_medians_and_their_mean() -> None:
    _, suite = load_config(["suite=klej"])
    tasks = suite.choose(["cbd", "ar"])
    scores = {"cbd": {1: 10.0, 2: 30.0, 3: 20.0}, "ar": {1: 80.0, 2: 81.0, 3: 90.0}}
    rows = {"cbd": {"train": 10041, "test": 1000}, "ar": {"train": 702, "dev": 150, "test": 150}}
    summary = summarize(suite, tasks, "random", "frozen", scores, rows)
    assert summary["tasks"]["cbd"]["median"] == 20
    assert (summary["tasks"]["ar"]["min"], summary["tasks"]["ar"]["median"], summary["tasks"]["ar"]["max"]) == (
        80,
        81,
        90,
    )
    assert summary["tasks"]["ar"]["scores"] == {"1": 80.0, "2": 81.0, "3": 90.0}
    assert summary["average"] == 50.5
    assert (summary["partial"], summary["reduced"], summary["seeds"]) == (True, ["ar"], [1, 2, 3])
    assert len(summary["missing"]) == 7
    assert (summary["suite"], summary["embeddings"], summary["variant"], summary["split"]) == (
        "klej",
        "random",
        "frozen",
        "dev",
    )


def test_results_never_import_torch() -> None:
    modules = "mtl.results.run_folder, mtl.results.submission, mtl.results.summary, mtl.results.table"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0
