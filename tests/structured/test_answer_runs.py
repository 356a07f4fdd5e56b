"""Whole runs on answers in passages, beside a task with labels: floors, an LSTM, new rows, predictions of others, bad files."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from command_line import job
from data_files import read_json, write_jsonl
from input_errors import raises_input_error

import mtl
from mtl.data.dataset import load_dataset
from mtl.jobs.baseline import run_baseline
from mtl.jobs.imports import import_job
from mtl.methods.floors import features
from mtl.structured.passages import unit_features, units_of
from mtl.submissions.scores import score_predictions
from mtl.tasks.suite import load_suite

SUITE = """\
name: passages
language: en
files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
config:
  trainer: {threads: 1}
  encoder: {hidden_size: 8}
  head: {hidden_size: 16, attention_size: 8}
  pretrain: {max_steps: 20, validate_every: 10, batch_size: 16, learning_rate: 0.02, final_learning_rate: 0.002}
  finetune: {max_epochs: 1, batch_size: 16, learning_rate: 0.02, final_learning_rate: 0.002}
tasks:
  facts:
    folder: facts
    kind: answer
    text: [question, context]
    target: "answers.text[]"
    starts: "answers.answer_start[]"
    metric: squad_f1
    also: [squad_exact]
    group: context
  asks:
    folder: asks
    text: [question]
    target: label
    labels: [When, Where]
    metric: accuracy
"""
NAMES, CITIES = ["Anna", "Jan", "Ewa", "Piotr", "Olga", "Leon"], ["Warsaw", "New York", "Lviv", "Brno"]


def fact_rows(split: str, count: int) -> list[dict[str, Any]]:
    """Two questions on each passage: when and where someone moved. Every third row has no answer."""
    chance, rows = random.Random(split), list[dict[str, Any]]()
    while len(rows) < count:
        names = chance.sample(NAMES, 4)
        told = {name: (str(chance.randint(1800, 1999)), chance.choice(CITIES)) for name in names[:3]}
        passage = " ".join(f"In {year}, {name} moved to {city}." for name, (year, city) in told.items())
        for place, word in enumerate(("When", "Where")):
            name = names[3] if len(rows) % 3 == 2 else chance.choice(names[:3])
            answers: dict[str, list[Any]] = {"text": [], "answer_start": []}
            if name in told:
                answer = told[name][place]
                begin = passage.index(f"In {told[name][0]}, {name}")
                answers = {"text": [answer], "answer_start": [passage.index(answer, begin)]}
            question = f"{word} did {name} move?"
            rows.append({"id": f"{split}{len(rows)}", "context": passage, "question": question, "answers": answers})
    return rows


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for split, count in (("train", 60), ("dev", 24), ("test", 12)):
        rows = fact_rows(split, count)
        write_jsonl(tmp_path / "data/facts" / f"{split}.jsonl", rows)
        asked = [{"question": row["question"], "label": row["question"].split()[0]} for row in rows]
        write_jsonl(tmp_path / "data/asks" / f"{split}.jsonl", asked)
    path = tmp_path / "passages.yaml"
    path.write_text(SUITE, encoding="utf-8")
    return path


def settings(suite: Path, *further: str) -> list[str]:
    folder = suite.parent
    folders = [f"{name}_dir={folder / name}" for name in ("data", "cache", "runs")]
    return [f"suite={suite}", *folders, "seeds=[1]", *further]


@pytest.mark.slow
def test_floors_answer_predict_new_rows_and_are_scored_alike(suite: Path) -> None:
    made = {}
    for method in ("constant", "random", "majority"):
        made[method] = run_baseline(job(settings(suite, f"method={method}")))["tasks"]["facts"]
    assert made["constant"]["median"] == pytest.approx(100 / 3, abs=9)  # the share of rows without an answer
    floor = job(settings(suite, "method=logistic", "floor.keep=true", "floor.grid.C=[10]"))
    median = run_baseline(floor)["tasks"]["facts"]["median"]
    assert median > made["constant"]["median"]
    predictions = floor.folder.predictions(1, "test", "facts").read_text(encoding="utf-8").split("\n")[1:-1]
    rows = [[row["question"], row["context"]] for row in fact_rows("test", 12)]
    assert mtl.load(floor.folder.path).predict("facts", rows) == predictions
    suite_content = load_suite(suite)
    kept = floor.folder.seed(1) / "models/facts.ckpt"
    content = torch.load(kept, weights_only=True)
    numbers = {name: torch.cat([part] * 3) for name, part in content["numbers"].items()}
    torch.save({**content, "classes": [0, 1, 2], "numbers": numbers}, kept)
    with raises_input_error(file="facts.ckpt"):
        mtl.load(floor.folder.path)
    gold = floor.folder.path / "gold"
    table = score_predictions(
        floor.folder.predictions(1, "dev", "facts").parent, suite_content, [suite_content.tasks["facts"]], gold, 0.1
    )
    assert f"| facts | dev | squad_f1 | 24 | {median:.1f} |" in table and "| | | squad_exact |" in table


def test_linear_models_learn_from_a_bounded_number_of_words(
    suite: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sizes = [len(units_of(row["context"])) for row in fact_rows("train", 60)]
    bound = sum(sizes) // 3
    rows = bound * 60 // sum(sizes)
    fitted = []
    monkeypatch.setattr(features, "MOST_UNITS", bound)
    fit = features.UnitFeatures.fit
    monkeypatch.setattr(
        features.UnitFeatures,
        "fit",
        lambda self, units: fitted.append([unit[0].tokens for unit in units]) or fit(self, units),
    )
    run_baseline(job(settings(suite, "method=naive_bayes", "tasks=[facts]")))
    spread = [fact_rows("train", 60)[place * 60 // rows] for place in range(rows)]
    assert fitted == [[unit for row in spread for unit in unit_features(row["question"], row["context"])]]
    assert f"learns from {len(fitted[0])} of {sum(sizes)} words" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["frozen", "attention"])
def test_an_lstm_learns_answers_beside_labels(suite: Path, variant: str, caplog: pytest.LogCaptureFixture) -> None:
    run = job(settings(suite, f"variant={variant}", "embeddings.dim=8", "max_length=14"))
    made = run_baseline(run)
    assert set(made["tasks"]) == {"facts", "asks"} and 0 <= made["tasks"]["facts"]["median"] <= 100
    assert "max_length cuts the targets of" in caplog.text and "training rows, which are not learnt from" in caplog.text
    predictor, rows = mtl.load(run.folder.path), fact_rows("test", 12)
    file = write_jsonl(suite.parent / "new.jsonl", rows)
    predictor.predict_file("facts", file, suite.parent / "out.tsv")
    written = run.folder.predictions(1, "test", "facts").read_text(encoding="utf-8")
    assert (suite.parent / "out.tsv").read_text(encoding="utf-8").split("\n")[1:] == written.split("\n")[1:]
    assert all(line in row["context"] for line, row in zip(written.split("\n")[1:-1], rows, strict=True))
    (suite.parent / "data/facts/train.jsonl").write_text(
        "".join(
            f"{json.dumps({**row, 'context': '. ' * 20 + 'end', 'answers': {'text': ['end'], 'answer_start': [40]}})}\n"
            for row in rows
        )
    )
    with raises_input_error():
        run_baseline(job(settings(suite, "embeddings.dim=8", "max_length=14", f"run_dir={suite.parent / 'cut'}")))


@pytest.mark.slow
def test_predictions_by_id_are_imported(suite: Path) -> None:
    rows = fact_rows("dev", 24)
    right = {row["id"]: (row["answers"]["text"] or [""])[0] for row in rows}
    folder = suite.parent / "theirs"
    folder.mkdir()
    given = {"suite": str(suite), "data_dir": str(suite.parent / "data"), "runs_dir": str(suite.parent / "runs")}

    def imported(content: Any, name: str) -> Any:
        (folder / "dev_pred_facts.json").write_text(json.dumps(content), encoding="utf-8")
        return run_baseline(import_job(name, [folder], given))

    assert imported(dict(reversed(right.items())), "perfect")["tasks"]["facts"]["median"] == 100
    first = rows[0]["id"]
    for number, content in enumerate(
        ({**right, first: 3}, {**right, first: ["a"]}, {"x": "y", **right}, {first: "a"}, [1])
    ):
        with raises_input_error():
            imported(content, f"bad{number}")
    assert read_json(suite.parent / "runs/passages/perfect/scored_rows.json")["facts"]["groups"][:4] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "answers",
    [
        {"text": ["Krakow"], "answer_start": [3]},
        {"text": ["In"], "answer_start": [1]},
        {"text": ["In"], "answer_start": []},
        {"text": ["In"]},
        {"text": [{}], "answer_start": [0]},
        {"text": "In", "answer_start": 0},
    ],
)
def test_a_file_with_an_answer_that_is_none(suite: Path, answers: dict[str, Any]) -> None:
    rows = fact_rows("train", 60)
    rows[2]["answers"] = answers
    write_jsonl(suite.parent / "data/facts/train.jsonl", rows)
    loaded = load_suite(suite)
    with raises_input_error(file="train.jsonl", line=3):
        load_dataset(loaded, list(loaded.tasks.values()), suite.parent / "data", 0.1)


def test_targets_of_a_table_are_located(suite: Path) -> None:
    table = suite.parent / "data/facts/train.tsv"
    lines = ["question\tcontext\tanswers.text[]\tanswers.answer_start[]", "Who?\tAnna and Anna\tAnna\t9", "Who?\tx\t\t"]
    table.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    text = SUITE.replace("group: context", "files: {train: train.tsv}")
    suite.write_text(text, encoding="utf-8")
    loaded = load_suite(suite)
    dataset = load_dataset(loaded, [loaded.tasks["facts"]], suite.parent / "data", 0.1)
    targets = [json.loads(target) for target in dataset.splits["facts"]["train"].targets]
    assert [target["answer_start"] for target in targets] == [[9], []] and np.shape(targets) == (2,)
    suite.write_text(text.replace("kind: answer", "labels: [a, b]"), encoding="utf-8")
    with raises_input_error(file="passages.yaml"):
        load_suite(suite)
