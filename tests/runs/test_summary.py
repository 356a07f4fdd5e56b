import sys
from subprocess import run
from typing import Any

from mtl.config.load import load_config
from mtl.runs.summary import below_constant, summarize


def done(seed: int, **scores: float) -> dict[str, Any]:
    """What a seed's scores.json says."""
    cost = {"parameters": 10, "pretrain_seconds": 100.0 * seed, "peak_memory": 7 - seed, "sentences_per_second": None}
    return {"scores": scores, "cost": cost, "versions": {"mtl": "1"}, "machine": "CPU" if seed < 3 else "GPU"}


def test_medians_and_their_mean() -> None:
    config, suite = load_config(["suite=klej"])
    tasks = suite.choose(["cbd", "ar"])
    seeds = {1: done(1, cbd=10.0, ar=80.0), 2: done(2, cbd=30.0, ar=81.0), 3: done(3, cbd=20.0, ar=90.0)}
    rows = {"cbd": {"train": 10041, "test": 1000}, "ar": {"train": 702, "dev": 150, "test": 150}}
    summary = summarize(suite, tasks, config, seeds, rows, {"cbd": 15.0, "ar": 70.0})
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


def test_what_a_seed_cost_and_where_it_ran() -> None:
    config, suite = load_config(["suite=klej", "tasks=[cbd]"])
    summary = summarize(
        suite,
        suite.choose(["cbd"]),
        config,
        {n: done(n, cbd=1.0) for n in (1, 2, 3)},
        {"cbd": {"train": 1}},
        {"cbd": 0.0},
    )
    assert summary["cost"] == {
        "parameters": 10,
        "pretrain_seconds": 200.0,
        "peak_memory": 6,
        "sentences_per_second": None,
    }
    assert (summary["versions"], summary["machine"]) == ([{"mtl": "1"}], ["CPU", "GPU"])


def test_a_floor_has_no_embeddings() -> None:
    config, suite = load_config(["suite=klej", "method=svm"])
    summary = summarize(
        suite, suite.choose(["cbd"]), config, {1: done(1, cbd=1.0)}, {"cbd": {"train": 1}}, {"cbd": 0.0}
    )
    assert [summary[key] for key in ("method", "embeddings", "variant")] == ["svm", None, None]


def test_tasks_that_do_not_stand_above_their_best_constant_answer() -> None:
    config, suite = load_config(["suite=klej", "tasks=[cdsc-e,cbd,dyk]"])
    seeds = {n: done(n, **{"cdsc-e": 74.0 + n, "cbd": 15.0, "dyk": 10.0 * n}) for n in (1, 2, 3)}
    rows = {id: {"train": 1} for id in ("cdsc-e", "cbd", "dyk")}
    constants = {"cdsc-e": 74.1, "cbd": 15.0, "dyk": 27.4}
    summary = summarize(suite, suite.choose(rows), config, seeds, rows, constants)
    assert {id: of["constant"] for id, of in summary["tasks"].items()} == constants
    assert summary["not_above_constant"] == ["cbd", "dyk"]  # an equal score is not above
    assert below_constant(summary) == "cbd 15.0 (constant 15.0), dyk 20.0 (constant 27.4)"
    assert below_constant({**summary, "method": "constant"}) == ""  # it is the constant answer
    del summary["not_above_constant"]
    assert below_constant(summary) == ""  # a run from before constants were kept


def test_results_never_import_torch() -> None:
    modules = "mtl.runs.folder, mtl.runs.submission, mtl.runs.summary, mtl.runs.table"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0
