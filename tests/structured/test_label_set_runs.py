"""Tasks with several labels of a row beside a task with one, from their data to runs, predictions, imports and the report."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import job
from data_files import read_json, write_jsonl

import mtl
from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline
from mtl.jobs.ensemble import ensemble_job
from mtl.jobs.job import Job
from mtl.methods.predictor import Predictor
from mtl.runs.folder import RunFolder

pytestmark = pytest.mark.slow
SUITE = """\
name: sets
language: en
config:
  trainer: {threads: 1}
  max_length: 16
  encoder: {hidden_size: 16}
  head: {hidden_size: 32}
  pretrain: {max_steps: 60, validate_every: 20, batch_size: 16, learning_rate: 0.02, final_learning_rate: 0.002}
  finetune: {max_epochs: 4, batch_size: 16, learning_rate: 0.02, final_learning_rate: 0.002, threshold: dev}
  loss: {class_weights: 0.5}
files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
submission: {format: rows}
tasks:
  lists:
    folder: lists
    kind: multi_label
    text: [text]
    target: labels[]
    labels: [joy, fear, rage]
    metric: micro_f1
    also: [samples_f1]
    breakdown: [source]
  flags:
    folder: flags
    kind: multi_label
    text: [text, other]
    target: joy + fear + rage
    labels: [joy, fear, rage]
    metric: multi_macro_f1
    files: {dev: null}
    scored: test
  mood:
    folder: lists
    text: [text]
    target: mood
    labels: [glad, sad]
    metric: accuracy
"""
WORDS = {"joy": "happy", "fear": "scared", "rage": "angry"}
METHODS: dict[str, list[str]] = {
    "lstm": ["embeddings=random", "embeddings.dim=12"],
    "logistic": ["method=logistic", "floor.keep=true", "floor.grid.C=[10]", "floor.grid.class_weight=[null]"],
    "naive_bayes": ["method=naive_bayes", "floor.keep=true"],
    "forest": ["method=forest"],
    "constant": ["method=constant"],
    "uniform": ["method=uniform"],
}


def rows(split: str, count: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(len(split))
    made = []
    for number in range(count):
        labels = [label for label in WORDS if rng.random() < 0.4]
        text = " ".join([*(WORDS[label] for label in labels), f"the walk of {split}", f"number {number}"])
        made.append(
            {"text": text, "labels": labels, "mood": "glad" if "joy" in labels else "sad", "source": "ab"[number % 2]}
        )
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the suite, and a finished run of each method in `runs/sets`."""
    path = tmp_path_factory.mktemp("sets")
    (path / "sets.yaml").write_text(SUITE, encoding="utf-8")
    for split, count in (("train", 90), ("dev", 30), ("test", 24)):
        made = rows(split, count)
        write_jsonl(path / "data/lists" / f"{split}.jsonl", made)
        flags = [{label: label in row["labels"] for label in WORDS} for row in made]
        of_pairs = [{"text": row["text"], "other": "a walk", **flag} for row, flag in zip(made, flags, strict=True)]
        write_jsonl(path / "data/flags" / f"{split}.jsonl", of_pairs)
    for name, settings in METHODS.items():
        run_baseline(sets_job(path, name, *settings))
    return path


def sets_job(folder: Path, run: str, *settings: str) -> Job:
    places = [
        f"suite={folder}/sets.yaml",
        f"data_dir={folder}/data",
        f"cache_dir={folder}/cache",
        f"run_dir={folder}/runs/sets/{run}",
    ]
    return job([*places, "seeds=[1,2]", *settings])


def scores(folder: Path, run: str) -> dict[str, float]:
    tasks = read_json(RunFolder(folder / "runs/sets" / run).summary)["tasks"]
    return {id: task["median"] for id, task in tasks.items()}


def test_models_learn_what_single_words_decide(folder: Path) -> None:
    constant = scores(folder, "constant")
    for name in ("lstm", "logistic", "naive_bayes", "forest"):
        assert all(score > constant[id] for id, score in scores(folder, name).items()), name
    logistic = RunFolder(folder / "runs/sets/logistic")
    lines = logistic.predictions(1, "dev", "lists").read_text(encoding="utf-8").split("\n")
    assert lines[0] == "labels[]" and {*lines[1:]} > {"joy", "", "joy;rage"}


@pytest.mark.parametrize("name", ["lstm", "logistic", "naive_bayes"])
def test_a_finished_run_predicts_the_same_sets_for_the_same_rows(name: str, folder: Path) -> None:
    made = RunFolder(folder / "runs/sets" / name)
    model = Predictor.load(made.path, 2)
    for task in ("lists", "flags"):
        split = "test" if task == "flags" else "dev"
        texts = [[row["text"], "a walk"][: 1 + (task == "flags")] for row in rows(split, 30 if split == "dev" else 24)]
        lines = made.predictions(2, split, task).read_text(encoding="utf-8").split("\n")[1:-1]
        assert model.predict(task, texts) == lines


def test_predictions_as_lists_are_imported_and_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, system = RunFolder(folder / "runs/sets/logistic"), folder / "system"
    for task, split in (("lists", "dev"), ("flags", "test"), ("mood", "dev")):
        lines = made.predictions(1, split, task).read_text(encoding="utf-8").split("\n")[1:-1]
        values = lines if task == "mood" else [line.split(";") if line else [] for line in lines]
        write_jsonl(system / f"{split}_pred_{task}.jsonl", [{"prediction": value} for value in values])
    settings = [f"suite={folder}/sets.yaml", f"data_dir={folder}/data", f"run_dir={folder}/runs/sets/system"]
    assert main(["import", "system", str(system), *settings, "seed=1"]) == 0
    assert scores(folder, "system") == scores(folder, "logistic")
    assert main(["report", str(folder / "runs"), "--out", str(folder / "report")]) == 0
    page = (folder / "report/index.html").read_text(encoding="utf-8")
    assert "macro F1 of all labels" in page and "samples F1" in page and '"source"' in page
    parts = mtl.compare(folder / "runs", cache_dir=None).parts.query(
        "task == 'lists' and run == 'logistic' and column == 'label'"
    )
    assert parts["part"].tolist()[0] == "all together" and len(parts) > 2
    assert parts["score"].iloc[0] == pytest.approx(scores(folder, "logistic")["lists"])
    capsys.readouterr()


def test_the_rows_of_a_submission_have_lists(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submission = RunFolder(folder / "runs/sets/lstm").submission_folder(1)
    for task in ("lists", "flags"):
        lines = (submission / task / "test.jsonl").read_text(encoding="utf-8").splitlines()
        predicted = [json.loads(line)["prediction"] for line in lines]
        assert len(lines) == 24 and all(isinstance(labels, list) for labels in predicted)
    main(["check-submission", str(submission), f"suite={folder}/sets.yaml", f"data_dir={folder}/data"])
    assert "prediction" not in capsys.readouterr().out


def test_an_ensemble_averages_probabilities_and_chooses_a_threshold(folder: Path) -> None:
    members = [str(folder / "runs/sets" / name) for name in ("lstm", "logistic")]
    both = ensemble_job(members, {"run_dir": str(folder / "both"), "cache_dir": str(folder / "cache")})
    summary = run_baseline(both)
    assert "The decision threshold was chosen on dev: lists, flags." in summary["notes"]
    constant = scores(folder, "constant")
    assert all(task["median"] > constant[id] for id, task in summary["tasks"].items())


def test_a_transformer_predicts_sets_and_reads_them_again(folder: Path) -> None:
    pytest.importorskip("transformers")
    from tiny_transformers import write_bert

    write_bert(folder / "bert", [row["text"] for row in rows("train", 90)])
    settings = [
        "method=transformer",
        f"transformer.path={folder}/bert",
        "transformer.epochs=1",
        "tasks=[lists]",
        "seeds=[1]",
    ]
    made = run_baseline(sets_job(folder, "transformer", *settings))
    RunFolder(folder / "runs/sets/transformer").scores(1).unlink()
    again = run_baseline(sets_job(folder, "transformer", *settings))
    assert again["tasks"]["lists"]["scores"] == made["tasks"]["lists"]["scores"]
