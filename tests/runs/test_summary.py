from pathlib import Path
from typing import Any

from kinds_suite import write_kinds_suite
from run_folders import summary_of

from mtl.jobs.job import Job, load_job
from mtl.runs.notes import below_constant, same_answers, splits_text
from mtl.tasks.scale import PERCENT, SCALES


def done(seed: int, **scores: float) -> dict[str, Any]:
    """What a seed's scores.json says."""
    cost = {"parameters": 10, "pretrain_seconds": 100.0 * seed, "peak_memory": 7 - seed, "sentences_per_second": None}
    machine = "CPU" if seed < 3 else "GPU"
    return {"scores": scores, "cost": cost, "versions": {"mtl": "1"}, "machine": machine, "same_answer": []}


def klej(*tasks: str) -> Job:
    return load_job({"suite": "klej", "tasks": list(tasks)})


def superlim(method: str = "constant") -> Job:
    return load_job({"suite": "superlim", "method": method, "data_dir": "/nowhere", "seeds": [1]})


def test_medians_their_mean_further_metrics_and_the_method() -> None:
    seeds = {1: done(1, cbd=10.0, ar=80.0), 2: done(2, cbd=30.0, ar=81.0), 3: done(3, cbd=20.0, ar=90.0)}
    summary = summary_of(klej("cbd", "ar"), seeds, rows={"ar": {"train": 702, "dev": 150, "test": 150}})
    cbd, ar = summary["tasks"]["cbd"], summary["tasks"]["ar"]
    assert cbd["median"] == 20 and (ar["min"], ar["median"], ar["max"]) == (80, 81, 90)
    assert ar["scores"] == {"1": 80.0, "2": 81.0, "3": 90.0} and summary["average"] == 50.5
    assert (summary["partial"], summary["reduced"], summary["seeds"]) == (True, ["ar"], [1, 2, 3])
    assert len(summary["missing"]) == 7 and cbd["split"] == ar["split"] == "dev"
    facts = [summary[key] for key in ("suite", "method", "embeddings", "variant")]
    assert facts == ["klej", "lstm", "random", "frozen"]
    cost = {"parameters": 10, "pretrain_seconds": 200.0, "peak_memory": 6, "sentences_per_second": None}
    assert (summary["cost"], summary["versions"], summary["machine"]) == (cost, [{"mtl": "1"}], ["CPU", "GPU"])
    job = klej("cbd", "ar")
    job.suite.tasks["cbd"].also = ["accuracy", "macro_f1"]
    seeds = {n: done(n, cbd=1.0, ar=2.0) | {"also": {"cbd": {"accuracy": 10.0 * n}}} for n in (1, 2, 4)}
    seeds[1]["also"]["cbd"]["macro_f1"] = 5.0
    tasks = summary_of(job, seeds)["tasks"]
    expected = {"scores": {"1": 10.0, "2": 20.0, "4": 40.0}, "median": 20.0, "min": 10.0, "max": 40.0}
    assert tasks["cbd"]["also"] == {"accuracy": expected}  # two seeds lack macro F1, as if begun before the task had it
    assert "also" not in tasks["ar"]
    settings = {"embeddings": "elmo", "variant": "attention", "architecture": "jiant"}
    summary = summary_of(load_job({"suite": "klej", "tasks": ["cbd"], **settings}), {1: done(1, cbd=1.0)})
    names = ("method", "embeddings", "variant", "architecture", "preset", "family", "title", "folder", "chosen_on_dev")
    assert [summary[key] for key in names] == [
        *("lstm", "elmo", "attention", "jiant", "paper"),
        *("lstm", "LSTM, ELMo, attention, jiant", "elmo-attention-jiant", "checkpoints"),
    ]


def test_each_task_names_the_split_that_it_is_scored_on(tmp_path: Path) -> None:
    job = load_job({"suite": str(write_kinds_suite(tmp_path)), "method": "svm"})
    tasks = job.suite.choose(None)
    summary = summary_of(job, {1: done(1, **dict.fromkeys(job.suite.tasks, 50.0))}, tasks)
    splits = {"mood": "dev", "stars": "dev", "answer": "dev", "opposite": "test", "mood-elsewhere": "test"}
    assert {id: task["split"] for id, task in summary["tasks"].items()} == splits
    assert splits_text(summary) == "dev, test" and summary["reduced"] == []
    del summary["tasks"]["opposite"], summary["tasks"]["mood-elsewhere"]
    assert splits_text(summary) == "dev"


def test_tasks_not_above_their_best_constant_answer_and_seeds_with_one_prediction() -> None:
    seeds = {n: done(n, **{"cdsc-e": 74.0 + n, "cbd": 15.0, "dyk": 10.0 * n}) for n in (1, 2, 3)}
    constants = {"cdsc-e": 74.1, "cbd": 15.0, "dyk": 27.4}
    summary = summary_of(klej("cdsc-e", "cbd", "dyk"), seeds, constants=constants)
    assert {id: record["constant"] for id, record in summary["tasks"].items()} == constants
    assert summary["not_above_constant"] == ["cbd", "dyk"]  # an equal score is not above
    assert below_constant(summary, PERCENT) == "cbd 15.0 (constant 15.0), dyk 20.0 (constant 27.4)"
    assert below_constant(summary, SCALES[1]) == "cbd 0.150 (constant 0.150), dyk 0.200 (constant 0.274)"
    assert below_constant({**summary, "is_constant": True}, PERCENT) == ""  # it is the constant answer
    seeds = {n: done(n, **{"cdsc-r": 0.0}, dyk=1.0) | {"same_answer": ["cdsc-r", "dyk"][: n - 1]} for n in (3, 2, 1)}
    summary = summary_of(klej("cdsc-r", "dyk"), seeds)
    assert summary["same_answer"] == {"cdsc-r": [2, 3], "dyk": [3]}
    assert same_answers(summary) == "cdsc-r (seeds 2, 3), dyk (seed 3)"
    assert same_answers({**summary, "is_constant": True}) == ""


def test_the_suite_s_average_and_reduced_tasks() -> None:
    job, lstm = superlim(), superlim("lstm")
    tasks = job.suite.choose(["swenli", "swediagnostics", "sweparaphrase"])
    summary = summary_of(job, {1: done(1, swenli=10.0, swediagnostics=90.0, sweparaphrase=30.0)}, tasks)
    assert (summary["average"], summary["partial"], summary["unanswered"]) == (20.0, True, [])
    complete = job.suite.choose(job.suite.averaged)
    seeds = {1: done(1, **dict.fromkeys(job.suite.averaged, 1.0))}
    summary = summary_of(job, seeds, complete)
    assert not summary["partial"] and len(summary["missing"]) == 7
    words = ["supersim-superlim-relatedness", "supersim-superlim-similarity", "sweanalogy", "swedn"]
    assert summary_of(lstm, seeds, complete)["unanswered"] == words
    job = superlim()
    tasks = job.suite.choose(["swenli", "swediagnostics", "sweparaphrase", "swewic"])
    swewic = {"swewic": {**job.suite.tasks["swewic"].rows, "train": 7}}
    seeds = {1: done(1, **{task.id: 1.0 for task in tasks})}
    summary = summary_of(job, seeds, tasks, swewic, changed={"swenli": ["dev"], "swewic": ["train"]})
    assert summary["reduced"] == ["swenli", "swewic", "swediagnostics"]
    assert summary["changed"] == {"swenli": ["dev"]}
