from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from alpha_suite import write_alpha_suite
from kinds_suite import write_kinds_suite
from run_folders import summary_of

from mtl.jobs.job import load_job, parse_settings
from mtl.runs.table import render
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


def klej(
    ids: list[str] | None = None, settings: Sequence[str] = ("embeddings=fasttext",), **rows: dict[str, int]
) -> tuple[dict[str, Any], Suite]:
    job = load_job({"suite": "klej", **parse_settings(settings)})
    tasks = job.suite.choose(ids)
    return summary_of(job, seeds(tasks, 60.0, 50.0, 70.0), tasks, rows), job.suite


def seeds(tasks: Sequence[Task], *scores: float) -> dict[int, dict[str, Any]]:
    """What the seeds' scores.json say: the same score in every task."""
    facts = {"cost": {}, "versions": {}, "machine": "CPU", "same_answer": []}
    return {seed: {"scores": {task.id: score for task in tasks}, **facts} for seed, score in enumerate(scores, start=1)}


def cells(table: str) -> dict[str, list[str]]:
    lines = [line for line in table.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows}


def test_medians_stand_beside_the_published_rows_with_differences() -> None:
    rows = cells(render(*klej()))
    assert rows[""] == ["AVG", "NKJP-NER", "CDSC-E", "CDSC-R", "CBD", "PolEmo-IN", "PolEmo-OUT", "DYK", "PSC", "AR"]
    assert rows["**LSTM, fastText, frozen**, median of 3"] == ["**60.0**"] * 10
    assert rows["min"] == ["", *["50.0"] * 9] and rows["max"] == ["", *["70.0"] * 9]
    assert rows["LSTM + fastText (published)"][:2] == ["67.7", "67.3"]
    assert rows["ours − LSTM + fastText"][:3] == ["-7.7", "-7.3", "-27.8"]
    assert rows["ours − HerBERT"][0] == "-20.5"
    assert "ours − LSTM" not in rows  # another row's embeddings
    assert rows["metric"][:4] == ["mean", "accuracy", "accuracy", "Spearman"]
    assert rows["mean ± standard deviation"] == ["60.0 ± 10.0"] * 10
    assert rows["Best constant"] == ["0.0"] * 10
    assert len(rows) == 2 + 1 + 5 + 10 + 5


def test_published_rows_need_a_score_in_the_run_s_tasks_and_a_run_without_the_average_shows_none() -> None:
    published = [name for name in superlim("constant", "sweanalogy") if "(published" in name]
    assert published[:2] == ["Random guess (published, test)", "Static word vectors (published, test)"]
    assert len(published) == 6
    rows = superlim("random", "supersim-superlim-similarity")
    assert rows["**Random targets**, one seed"] == ["–", "**0.600**"]
    assert rows["Static word vectors (published, test)"] == ["–", "-0.109"]
    assert rows["ours − Static word vectors, test"] == ["–", "+0.709"]


@pytest.mark.slow
def test_a_floor_stands_beside_the_published_floor() -> None:
    rows = cells(render(*klej(settings=["method=random"])))
    assert rows["**Random targets**, median of 3"] == ["**60.0**"] * 10
    assert rows["ours − Random guess"][0] == "+31.7" and "ours − LSTM" not in rows
    svm = render(*klej(settings=["method=svm"]))
    assert cells(svm)["ours − Random guess"][0] == "+31.7" and "chose their settings on dev" in svm
    assert "ours − Random guess" not in cells(render(*klej()))


def test_partial_and_reduced_averages_are_marked_and_not_compared() -> None:
    table = render(*klej(["cbd", "ar"]))
    rows = cells(table)
    assert rows[""] == ["AVG*", "CBD", "AR"]
    assert rows["LSTM + fastText (published)"] == ["–", "32.8", "81.4"]
    assert rows["ours − HerBERT"] == ["–", "+9.7", "-24.5"]
    assert "AVG is partial: 2 of 9 tasks, without nkjp-ner" in table
    assert "Not above" not in table and "The same prediction" not in table
    table = render(*klej(ar={"train": 702, "dev": 150, "test": 150}))
    rows = cells(table)
    assert rows[""][0] == "AVG†" and rows[""][-1] == "AR†"
    assert rows["ours − LSTM + fastText"][0] == rows["ours − LSTM + fastText"][-1] == "–"
    assert "ar 702/150/150 of 9577/1002/1006). Nor is an average with such a task." in table


def test_the_sample_never_stands_beside_published_rows() -> None:
    job = load_job({"suite": "klej-sample"})
    summary = summary_of(job, seeds(job.tasks, 60.0), rows={id: {"train": 1} for id in job.suite.tasks})
    table = render(summary, job.suite)
    assert "BERT" not in table and "published" not in table.lower()
    assert "embedded sample" in table
    assert not summary["partial"] and summary["reduced"] == []


def test_a_task_with_a_changed_file_is_marked_and_not_compared() -> None:
    summary, suite = klej(["cdsc-e", "dyk"])
    plain = cells(render(summary, suite))
    summary["reduced"], summary["changed"] = ["dyk"], {"dyk": ["train", "dev"]}
    text = render(summary, suite)
    assert "(train/dev/test rows: dyk changed, as the checksum of train and dev says)" in text
    differences = [name for name in plain if name.startswith("ours")]
    assert differences and plain[differences[0]][-1] != "–"
    assert all(cells(text)[name][-1] == "–" for name in differences)


def test_the_note_names_the_splits_that_scores_are_on(tmp_path: Path) -> None:
    job = load_job({"suite": str(write_kinds_suite(tmp_path)), "method": "svm"})

    def note(*ids: str) -> str:
        tasks = job.suite.choose(ids)
        return render(summary_of(job, seeds(tasks, 60.0), tasks), job.suite)

    assert "Scores × 100 on dev, test: seed 1;" in note(*job.suite.tasks)
    assert "Scores × 100 on test: " in note("opposite") and "Scores × 100 on dev: " in note("stars")


def test_scores_on_the_scale_of_the_suite_and_further_metrics_below(tmp_path: Path) -> None:
    job = load_job({"suite": str(write_alpha_suite(tmp_path)), "method": "svm"})
    tasks = job.suite.choose(None)
    done = seeds(tasks, 28.64, -4.16, 30.0)
    for number, content in done.items():
        also = {task.id: dict.fromkeys(task.also or (), 10.0 * number) for task in tasks}
        content["same_answer"] = ["stance"] if number == 2 else []
        content["also"] = also if number > 1 else {**also, "rating": {}}
    text = render(summary_of(job, done, tasks, constants=dict.fromkeys(job.suite.tasks, 28.64)), job.suite)
    found = cells(text)
    assert found["**TF-IDF + linear SVM**, median of 3"] == ["**0.286**"] * 5
    assert found["min"] == ["", *["-0.042"] * 4] and found["max"] == ["", *["0.300"] * 4]
    assert found["printed (published)"] == ["0.400", "0.555", "0.400", "0.410", "0.235"]
    assert found["ours − printed"] == ["-0.114", "-0.269", "-0.114", "-0.124", "+0.051"]
    assert "The same prediction for every row: stance (seed 2)." in text
    assert (
        "Not above the best constant answer: stance 0.286 (constant 0.286)" in text
        and "Scores on dev: the median" in text
        and "× 100" not in text
    )
    # The first seed of rating lacks further metrics, as if trained before the task had them.
    assert found["further metrics"] == ["Stance", "Answer", "Entailment"]
    assert found["accuracy"] == ["0.200", "0.200", "–"] and found["gender parity"] == ["–", "–", "0.200"]


def test_the_table_is_well_formed_and_its_note_says_why_a_task_is_reduced() -> None:
    summary, suite = klej()
    suite.tasks["ar"].title = "A|R"
    lines = [line for line in render(summary, suite).splitlines() if line.startswith("|")]
    assert len({line.replace(r"A\|R", "AR").count("|") for line in lines}) == 1 and len(set(map(len, lines))) == 1
    assert r"A\|R" in lines[0]
    job = load_job({"suite": "superlim", "method": "constant", "data_dir": "/nowhere"})
    tasks = job.suite.choose(["swenli", "swediagnostics"])
    rows = {"swenli": {**job.suite.tasks["swenli"].rows, "train": 15_001}}
    summary = summary_of(job, seeds(tasks, 60.0), tasks, rows)
    note = "(train/dev/test rows: swenli 15001/9815/305 of 392702/9815/305; swediagnostics answered by swenli)"
    assert note in render(summary, job.suite)


def superlim(method: str, *ids: str, **rows: dict[str, int]) -> dict[str, list[str]]:
    """The table of a run on the official data of these tasks, with the score 60 on each; without ids, of all that the method answers.

    rows: by task id, other numbers of rows than the published ones.
    """
    job = load_job({"suite": "superlim", "method": method, "data_dir": "/nowhere", "tasks": list(ids) or None})
    return cells(render(summary_of(job, seeds(job.run_tasks, 60.0), job.run_tasks, rows), job.suite))


def test_differences_are_to_published_rows_on_the_same_split() -> None:
    rows = superlim("svm")
    titles = rows[""]
    assert titles[0] == "AVG" and len(titles) == 12  # eight tasks on dev; two diagnostics and synonyms on test
    diagnostics = titles.index("SweDiagnostics")
    assert rows["split"][diagnostics] == "test" and rows["split"].count("dev") == 8
    assert "split" not in superlim("svm", "swewic")
    assert rows["SVM (published, dev)"][:2] == ["0.277", "0.336"]
    assert rows["SVM (published, test)"][:2] == ["0.192", "0.286"]
    dev, test = rows["ours − SVM, dev"], rows["ours − SVM, test"]
    assert dev[:2] == ["+0.323", "+0.264"] and dev[diagnostics] == "–"
    assert test[:2] == ["–", "–"] and test[diagnostics] == "+0.574"
    assert "Random guess (published, dev)" in rows and "MaxFreq/Avg (published, dev)" in rows
    # Nothing in the run is compared with the row on test.
    absabank = superlim("svm", "absabank-imm")
    assert "ours − SVM, test" not in absabank and "SVM (published, test)" in absabank
    # Tasks beside the average do not mark it.
    assert superlim("svm", swediagnostics={"dev": 340, "test": 764})[""][0] == "AVG"
