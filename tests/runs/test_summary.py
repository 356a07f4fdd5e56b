import sys
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
from kinds_suite import write_kinds_suite
from run_folders import facts

from mtl.jobs.job import load_job
from mtl.runs.summary import below_constant, same_answers, splits_text, summarize
from mtl.tasks.suite import load_suite
from mtl.tasks.task import PERCENT, SCALES


def done(seed: int, **scores: float) -> dict[str, Any]:
    """What a seed's scores.json says."""
    cost = {"parameters": 10, "pretrain_seconds": 100.0 * seed, "peak_memory": 7 - seed, "sentences_per_second": None}
    machine = "CPU" if seed < 3 else "GPU"
    return {"scores": scores, "cost": cost, "versions": {"mtl": "1"}, "machine": machine, "same_answer": []}


def test_medians_and_their_mean() -> None:
    job = load_job({"suite": "klej", "tasks": ["cbd", "ar"]})
    seeds = {1: done(1, cbd=10.0, ar=80.0), 2: done(2, cbd=30.0, ar=81.0), 3: done(3, cbd=20.0, ar=90.0)}
    rows = {"cbd": {"train": 10041, "test": 1000}, "ar": {"train": 702, "dev": 150, "test": 150}}
    summary = summarize(
        job.suite, job.tasks, job.config, facts(job.config, job.suite), seeds, rows, {"cbd": 15.0, "ar": 70.0}
    )
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
    assert [summary[key] for key in ("suite", "method", "embeddings", "variant")] == [
        "klej",
        "lstm",
        "random",
        "frozen",
    ]
    assert [summary["tasks"][id]["split"] for id in ("cbd", "ar")] == ["dev", "dev"]


def test_further_metrics_stand_beside_the_main_one() -> None:
    job = load_job({"suite": "klej", "tasks": ["cbd", "ar"]})
    job.suite.tasks["cbd"].also = ["accuracy", "macro_f1"]
    seeds = {n: done(n, cbd=1.0, ar=2.0) | {"also": {"cbd": {"accuracy": 10.0 * n}}} for n in (1, 2, 4)}
    seeds[1]["also"]["cbd"]["macro_f1"] = 5.0
    rows = {"cbd": {"train": 1}, "ar": {"train": 1}}
    tasks = summarize(
        job.suite, job.tasks, job.config, facts(job.config, job.suite), seeds, rows, {"cbd": 0.0, "ar": 0.0}
    )["tasks"]
    expected = {"scores": {"1": 10.0, "2": 20.0, "4": 40.0}, "median": 20.0, "min": 10.0, "max": 40.0}
    assert tasks["cbd"]["also"] == {"accuracy": expected}  # two seeds lack macro F1, as if begun before the task had it
    assert "also" not in tasks["ar"]


def test_what_a_seed_cost_and_where_it_ran() -> None:
    job = load_job({"suite": "klej", "tasks": ["cbd"]})
    summary = summarize(
        job.suite,
        job.tasks,
        job.config,
        facts(job.config, job.suite),
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


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"method": "svm"}, ["svm", None, None, None, None, "floor", "TF-IDF + linear SVM", "svm", "settings"]),
        (
            {"embeddings": "elmo", "variant": "attention", "architecture": "jiant"},
            [
                *("lstm", "elmo", "attention", "jiant", "paper"),
                *("lstm", "LSTM, ELMo, attention, jiant", "elmo-attention-jiant", "checkpoints"),
            ],
        ),
    ],
)
def test_a_summary_describes_its_method(settings: dict[str, str], expected: list[str | None]) -> None:
    job = load_job({"suite": "klej", "tasks": ["cbd"], **settings})
    summary = summarize(
        job.suite,
        job.tasks,
        job.config,
        facts(job.config, job.suite),
        {1: done(1, cbd=1.0)},
        {"cbd": {"train": 1}},
        {"cbd": 0.0},
    )
    names = ("method", "embeddings", "variant", "architecture", "preset")
    keys = (*names, "family", "title", "folder", "chosen_on_dev")
    assert [summary[key] for key in keys] == expected


def test_each_task_names_the_split_that_it_is_scored_on(tmp_path: Path) -> None:
    suite = load_suite(write_kinds_suite(tmp_path))
    config = load_job({"suite": "klej", "method": "svm"}).config
    scores = dict.fromkeys(suite.tasks, 50.0)
    rows = {id: {"test": 1} for id in suite.tasks}
    summary = summarize(suite, suite.choose(None), config, facts(config, suite), {1: done(1, **scores)}, rows, scores)
    assert {id: task["split"] for id, task in summary["tasks"].items()} == {
        **{"mood": "dev", "stars": "dev", "answer": "dev", "opposite": "test", "mood-elsewhere": "test"}
    }
    assert splits_text(summary) == "dev, test" and summary["reduced"] == []
    del summary["tasks"]["opposite"], summary["tasks"]["mood-elsewhere"]
    assert splits_text(summary) == "dev"


def test_tasks_that_do_not_stand_above_their_best_constant_answer() -> None:
    job = load_job({"suite": "klej", "tasks": ["cdsc-e", "cbd", "dyk"]})
    seeds = {n: done(n, **{"cdsc-e": 74.0 + n, "cbd": 15.0, "dyk": 10.0 * n}) for n in (1, 2, 3)}
    rows = {id: {"train": 1} for id in ("cdsc-e", "cbd", "dyk")}
    constants = {"cdsc-e": 74.1, "cbd": 15.0, "dyk": 27.4}
    summary = summarize(job.suite, job.tasks, job.config, facts(job.config, job.suite), seeds, rows, constants)
    assert {id: of["constant"] for id, of in summary["tasks"].items()} == constants
    assert summary["not_above_constant"] == ["cbd", "dyk"]  # an equal score is not above
    assert below_constant(summary, PERCENT) == "cbd 15.0 (constant 15.0), dyk 20.0 (constant 27.4)"
    assert below_constant(summary, SCALES[1]) == "cbd 0.150 (constant 0.150), dyk 0.200 (constant 0.274)"
    assert below_constant({**summary, "is_constant": True}, PERCENT) == ""  # it is the constant answer


def test_seeds_with_the_same_prediction_for_every_row() -> None:
    job = load_job({"suite": "klej", "tasks": ["cdsc-r", "dyk"]})
    seeds = {n: done(n, **{"cdsc-r": 0.0}, dyk=1.0) | {"same_answer": ["cdsc-r", "dyk"][: n - 1]} for n in (3, 2)}
    seeds[1] = done(1, **{"cdsc-r": 80.0}, dyk=1.0)
    summary = summarize(
        job.suite,
        job.tasks,
        job.config,
        facts(job.config, job.suite),
        seeds,
        {"cdsc-r": {}, "dyk": {}},
        {"cdsc-r": 0.0, "dyk": 0.0},
    )
    assert summary["same_answer"] == {"cdsc-r": [2, 3], "dyk": [3]}
    assert same_answers(summary) == "cdsc-r (seeds 2, 3), dyk (seed 3)"
    assert same_answers({**summary, "is_constant": True}) == ""


def test_reading_runs_imports_neither_torch_nor_lightning() -> None:
    modules = "mtl.runs.finished, mtl.runs.folder, mtl.submissions.rejoin, mtl.submissions.format, mtl.runs.summary, mtl.runs.table"
    code = f"import sys, {modules}; sys.exit(bool({{'torch', 'pytorch_lightning'}} & set(sys.modules)))"
    assert run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_average_is_over_the_tasks_that_the_suite_names() -> None:
    job = load_job({"suite": "superlim", "method": "constant", "data_dir": "/nowhere", "seeds": [1]})
    tasks = job.suite.choose(["swenli", "swediagnostics", "sweparaphrase"])
    seeds = {1: done(1, swenli=10.0, swediagnostics=90.0, sweparaphrase=30.0)}
    rows, constants = {task.id: task.rows for task in tasks}, {task.id: 0.0 for task in tasks}
    summary = summarize(job.suite, tasks, job.config, facts(job.config, job.suite), seeds, rows, constants)
    assert (summary["average"], summary["partial"], summary["unanswered"]) == (20.0, True, [])
    complete = job.suite.choose(job.suite.averaged)
    seeds = {1: done(1, **dict.fromkeys(job.suite.averaged, 1.0))}
    rows, constants = {task.id: task.rows for task in complete}, {task.id: 0.0 for task in complete}
    summary = summarize(job.suite, complete, job.config, facts(job.config, job.suite), seeds, rows, constants)
    assert not summary["partial"] and len(summary["missing"]) == 7
    lstm = load_job({"suite": "superlim", "data_dir": "/nowhere"})
    words = ["supersim-superlim-relatedness", "supersim-superlim-similarity", "sweanalogy", "swedn"]
    assert (
        summarize(job.suite, complete, lstm.config, facts(lstm.config, job.suite), seeds, rows, constants)["unanswered"]
        == words
    )


def test_a_task_is_reduced_with_the_task_whose_head_answers_it() -> None:
    job = load_job({"suite": "superlim", "method": "constant", "data_dir": "/nowhere", "seeds": [1]})
    tasks = job.suite.choose(["swenli", "swediagnostics", "sweparaphrase"])
    seeds = {1: done(1, **{task.id: 1.0 for task in tasks})}
    rows = {task.id: dict(task.rows) for task in tasks}
    rows["swenli"]["train"] = 15_001
    summary = summarize(
        job.suite, tasks, job.config, facts(job.config, job.suite), seeds, rows, {task.id: 0.0 for task in tasks}
    )
    assert summary["reduced"] == ["swenli", "swediagnostics"]


def test_a_task_with_a_changed_file_is_reduced_and_changed() -> None:
    job = load_job({"suite": "superlim", "method": "constant", "data_dir": "/nowhere", "seeds": [1]})
    tasks = job.suite.choose(["swenli", "swediagnostics", "sweparaphrase", "swewic"])
    seeds = {1: done(1, **{task.id: 1.0 for task in tasks})}
    rows = {task.id: dict(task.rows) for task in tasks}
    rows["swewic"]["train"] = 7
    changed = {"swenli": ["dev"], "swewic": ["train"]}
    constants = {task.id: 0.0 for task in tasks}
    summary = summarize(job.suite, tasks, job.config, facts(job.config, job.suite), seeds, rows, constants, changed)
    assert summary["reduced"] == ["swenli", "swewic", "swediagnostics"]
    assert summary["changed"] == {"swenli": ["dev"]}
