"""A suite in JSON Lines with every target kind, from its data to the report."""

import re
import shutil
from pathlib import Path

import pytest
from command_line import job
from data_files import read_column, read_json, write_jsonl
from input_errors import refused
from kinds_suite import kinds_job, write_kinds_suite

from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline
from mtl.runs.folder import RunFolder

METHODS = {
    "random-frozen": ["embeddings=random", "embeddings.dim=12", "seeds=[1,2]"],
    "svm": ["method=svm", "seeds=[1]"],
    "constant": ["method=constant", "seeds=[1]"],
    "overlap": ["method=overlap", "seeds=[1]"],
}
SPLITS = {"mood": "dev", "stars": "dev", "answer": "dev", "opposite": "test", "mood-elsewhere": "test"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the suite, and a finished run of each method in `runs`."""
    path = tmp_path_factory.mktemp("kinds")
    write_kinds_suite(path)
    for name, settings in METHODS.items():
        run_baseline(kinds_job(path, f"runs/kinds/{name}", *settings))
    return path


def run(folder: Path, method: str) -> RunFolder:
    return RunFolder(folder / "runs" / "kinds" / method)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_each_task_is_scored_on_its_split(folder: Path, method: str) -> None:
    made = run(folder, method)
    summary = read_json(made.summary)
    assert {id: task["split"] for id, task in summary["tasks"].items()} == SPLITS
    assert set(summary["held_out"]) == {"stars", "opposite"}
    for task, split in SPLITS.items():
        predicted = made.predictions(1, split, task).read_text(encoding="utf-8").splitlines()
        assert len(predicted) == len(made.gold(split, task).read_text(encoding="utf-8").splitlines())


def test_an_svm_learns_what_one_word_decides_and_a_constant_answer_of_each_kind(folder: Path) -> None:
    tasks = read_json(run(folder, "svm").summary)["tasks"]
    assert {id: tasks[id]["median"] for id in SPLITS if id != "stars"} == {id: 100 for id in SPLITS if id != "stars"}
    tasks = read_json(run(folder, "constant").summary)["tasks"]
    # Half of the moods are good: F1 is 2/3 for one label and 0 for the other. Six words are equally frequent.
    assert [tasks[id]["median"] for id in ("mood", "stars", "mood-elsewhere")] == [pytest.approx(100 / 3), 0, 50]
    assert tasks["opposite"]["median"] == pytest.approx(100 / 6)
    gold = read_column(run(folder, "constant").gold("dev", "answer"))
    assert tasks["answer"]["median"] == pytest.approx(100 * max(gold.count(str(i)) for i in range(4)) / len(gold))
    made = read_json(run(folder, "constant").summary)["tasks"]
    assert all(task["median"] == pytest.approx(task["constant"]) for task in made.values())
    other = read_json(run(folder, "svm").summary)["tasks"]
    assert made["mood-elsewhere"]["constant"] == other["mood-elsewhere"]["constant"]


@pytest.mark.parametrize("gold", ["data", "runs/kinds/random-frozen/gold"])
def test_score_repeats_the_summary(folder: Path, gold: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = run(folder, "random-frozen")
    predictions = str(made.predictions(1, "dev", "mood").parent)
    assert main(["score", predictions, "--gold", str(folder / gold), f"suite={folder}/kinds.yaml"]) == 0
    shown = capsys.readouterr().out
    for id, scores in read_json(made.summary)["tasks"].items():
        assert f"| {id} | {SPLITS[id]} |" in shown and f"| {scores['scores']['1']:.1f} |" in shown


def test_a_task_without_the_one_that_answers_it_and_too_many_candidates_are_one_line(
    folder: Path, tmp_path: Path
) -> None:
    constant = ["method=constant", f"suite={folder}/kinds.yaml", f"run_dir={tmp_path}/run"]
    alone = job([*constant, f"data_dir={folder}/data", "tasks=[stars,mood-elsewhere]"])
    refused(lambda: run_baseline(alone), key="tasks")
    shutil.copytree(folder / "data", tmp_path / "data")
    row = {"question": "which?", "candidates": ["a"] * 1001, "label": 0}
    write_jsonl(tmp_path / "data/answer/dev.jsonl", [row])
    refused(lambda: run_baseline(job([*constant, f"data_dir={tmp_path}/data"])), file="dev.jsonl", line=1)


def write_suite(folder: Path) -> Path:
    """The suite with a task of each kind, whose first task has another metric, a further one and a breakdown."""
    path = write_kinds_suite(folder)
    text = path.read_text(encoding="utf-8").replace("name: kinds", "name: kinds\nscale: 1")
    further = "metric: alpha_nominal\n    also: [macro_f1, accuracy]\n    breakdown: [review.writer]"
    path.write_text(text.replace("metric: macro_f1", further), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [["method=random"], ["embeddings=random", "embeddings.dim=12"]], ids=["random", "lstm"]
)
def test_a_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], method: list[str]
) -> None:
    folders = [f"suite={write_suite(tmp_path)}", f"data_dir={tmp_path}/data", f"cache_dir={tmp_path}/c"]
    folder = RunFolder(tmp_path / "runs/a")
    assert main(["baseline", *folders, f"run_dir={folder.path}", "seeds=[1,2]", *method]) == 0
    shown = capsys.readouterr()
    of = read_json(folder.summary)["tasks"]["mood"]
    for seed in (1, 2):
        done = read_json(folder.scores(seed))
        assert {id: list(found) for id, found in done["also"].items()} == {"mood": ["macro_f1", "accuracy"]}
        for metric, score in done["also"]["mood"].items():
            assert of["also"][metric]["scores"][str(seed)] == score
        line = next(line for line in caplog.messages if line.startswith(f"seed {seed} ({seed}/2)"))
        assert f"mood {done['scores']['mood'] / 100:.3f}, " in line
        assert line.endswith(f"average {done['average'] / 100:.3f}")
    lines = [*caplog.messages, *shown.err.splitlines()]
    assert [line for line in lines if re.search(r"(average|after stage 1|·) -?\d+\.\d(?!\d)", line)] == []
    stages = [line for line in lines if re.search(r" · stage 1 · finished: average -?\d\.\d{3} · ", line)]
    assert len(stages) == (0 if "method=random" in method else 2)
    assert f"**{of['median'] / 100:.3f}**" in shown.out and "| macro F1" in shown.out
    values = read_json(folder.scored_rows)["mood"]["columns"]["review.writer"]
    assert values == [f"w{row // 3}" for row in range(24)]
    assert main(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "report")]) == 0
    assert "### mood by review.writer" in (tmp_path / "report/report.md").read_text(encoding="utf-8")
    assert main(["score", f"{folder.path}/seed-1/predictions", "--gold", f"{tmp_path}/data", *folders[:2]]) == 0
    accuracy = read_json(folder.scores(1))["also"]["mood"]["accuracy"]
    assert f"| | | accuracy | | {accuracy / 100:.3f} |" in capsys.readouterr().out
