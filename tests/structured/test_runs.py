"""Runs on all kinds of structured targets: what they save, floors, ensembles, imports, submissions, reports, and files that are damaged."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
import yaml
from command_line import content
from data_files import read_column, read_json, write_jsonl, write_lines
from input_errors import raises_input_error
from structured_suite import LABELS, SUITE, fact_rows, label_rows, sentences, suite_job, write_suite

import mtl
from mtl.api.cli import main
from mtl.benchmark_making.leaderboard.scoring import read_labelled_rows, read_public_rows
from mtl.jobs.baseline import run_baseline
from mtl.jobs.ensemble import ensemble_job
from mtl.methods.floors import features, inputs
from mtl.reports.leaderboard import leaderboard
from mtl.runs.finished import find_runs
from mtl.runs.folder import RunFolder
from mtl.structured.passages import units_of
from mtl.structured.unit_features import passage_features
from mtl.submissions.files import PredictionFile
from mtl.submissions.row_predictions import READERS, row_targets
from mtl.submissions.scores import score_predictions
from mtl.tasks.suite import load_suite
from mtl.tasks.targets import target_kind

pytestmark = pytest.mark.slow
RUNS = {
    "frozen": "embeddings.dim=8 variant=frozen",
    "crf": "embeddings.dim=8 variant=frozen head.crf=true boundary_words=true head.projection=5",
    "cut": "embeddings.dim=8 variant=finetune head.overlap=true encoder.join_input=true head.crf=true max_length=14",
    "attention": "embeddings.dim=8 variant=attention head.crf=true head.linear=true",
    "logistic": "method=logistic floor.keep=true floor.grid.C=[10] floor.grid.class_weight=[null]",
    "naive_bayes": "method=naive_bayes floor.keep=true floor.features=joined",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the suite, in which runs are made once."""
    path = tmp_path_factory.mktemp("several")
    write_suite(path)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Such a folder for one test, which changes it."""
    write_suite(tmp_path)
    return tmp_path


def made(folder: Path, name: str, *settings: str) -> RunFolder:
    run = suite_job(folder, name, *(settings or RUNS[name].split()))
    if not run.folder.summary.exists():
        run_baseline(run)
    return run.folder


def scores(run: RunFolder) -> dict[str, float]:
    return {id: task["median"] for id, task in read_json(run.summary)["tasks"].items()}


@pytest.mark.parametrize("name", RUNS)
def test_what_a_run_saved_predicts_what_it_predicted(folder: Path, name: str) -> None:
    run, suite = made(folder, name), load_suite(folder / "several.yaml")
    assert set(scores(run)) == set(suite.tasks)
    for id, task in suite.tasks.items():
        for split in ("dev", "test") if id != "flags" else ("test",):
            out = folder / f"{id}-{split}.tsv"
            file = task.path(split, folder / "data")
            assert main(["predict", str(run.path), str(file), "--task", id, "--out", str(out)]) == 0
            assert read_column(out) == read_column(run.predictions(1, split, id))
    if name == "cut":
        answers = read_column(run.predictions(1, "test", "facts"))
        assert all(answer in row["context"] for answer, row in zip(answers, fact_rows("test"), strict=True))
    tokens, (column,) = [["where", "to", "?"], ["Oslo"]], suite.tasks["names"].text
    frames = [pd.DataFrame({name: tokens}) for name in (column, column.removesuffix("[]"))]
    forms = [["where to ?", "Oslo"], tokens, list(map(tuple, tokens)), *frames]
    answers = [mtl.load(run.path).predict("names", form) for form in forms]
    assert answers == answers[:1] * 5 and [len(labels) for labels in answers[0]] == [3, 1]
    for bad in (["where to ?", 2], [None], frames[0].rename(columns={column: "x"})):
        with raises_input_error():
            mtl.load(run.path).predict("names", bad)
    with raises_input_error(key="task"):
        mtl.open(run.path).confusion_matrix("slots")


@pytest.mark.parametrize("method", ["constant", "majority", "random", "uniform", "svm", "tree", "forest"])
def test_floors_predict_a_target_of_the_kind_for_each_row(folder: Path, method: str) -> None:
    run, suite = made(folder, method, f"method={method}"), load_suite(folder / "several.yaml")
    for id, task in suite.tasks.items():
        for line in read_column(run.predictions(1, "test", id)):
            target_kind(task).parse_prediction(line)
    rows = [row.split() for row in read_column(run.predictions(1, "dev", "names"))]
    assert [len(row) for row in rows] == [len(row) for row in sentences("dev")]
    if method == "majority":  # the numbers of rows are words that no training row has
        usual = {token: tag for row in sentences("train") for token, tag in row}
        assert rows == [[usual.get(token, "O") for token, _ in row] for row in sentences("dev")]
    if method == "constant":
        learnt = scores(made(folder, "logistic"))
        assert all(learnt[id] > score for id, score in scores(run).items())


def test_an_interrupted_run_and_its_continuation_are_one(folder: Path, own: Path) -> None:
    whole, run = made(folder, "attention"), suite_job(own, "attention", *RUNS["attention"].split())
    run_baseline(run)
    for path in (run.folder.summary, run.folder.scores(1)):
        path.unlink()
    run_baseline(run)
    assert content(whole.path) == content(run.folder.path)


def test_an_ensemble_averages_probabilities_and_chooses_a_threshold(folder: Path) -> None:
    members = [str(made(folder, name).path) for name in ("frozen", "logistic")]
    summary = run_baseline(ensemble_job(members, {"run_dir": str(folder / "both"), "cache_dir": str(folder / "cache")}))
    assert "The decision threshold was chosen on dev: lists, flags." in summary["notes"]


def test_a_transformer_predicts_sets_and_reads_them_again(folder: Path) -> None:
    pytest.importorskip("transformers")
    from tiny_transformers import write_bert

    write_bert(folder / "bert", [row["text"] for row in label_rows("train")])
    paths = ["method=transformer", f"transformer.path={folder}/bert"]
    run = suite_job(folder, "transformer", *paths, "transformer.epochs=1", "tasks=[lists]")
    first = run_baseline(run)
    run.folder.scores(1).unlink()
    assert run_baseline(run)["tasks"]["lists"]["scores"] == first["tasks"]["lists"]["scores"]


def test_predictions_of_other_systems(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, system, suite = made(folder, "logistic"), folder / "system", load_suite(folder / "several.yaml")
    for task, split in (("lists", "dev"), ("flags", "test"), ("travels", "dev")):
        lines = read_column(run.predictions(1, split, task))
        values = lines if task == "travels" else [line.split(";") if line else [] for line in lines]
        write_jsonl(system / f"{split}_pred_{task}.jsonl", [{"prediction": value} for value in values])
    gold = [[LABELS.index(tag) for _, tag in row] for row in sentences("dev")]
    write_jsonl(system / "dev_pred_names.jsonl", [{"prediction": row} for row in gold])
    write_lines(system / "dev_pred_slots.tsv", ["slots", *(" ".join("O" for _ in row) for row in gold)])
    right = {row["id"]: (row["answers"]["text"] or [""])[0] for row in fact_rows("dev")}
    facts = system / "dev_pred_facts.json"
    facts.write_text(json.dumps(dict(reversed(right.items()))), encoding="utf-8")
    places = [f"suite={folder}/several.yaml", f"data_dir={folder}/data", f"run_dir={folder}/runs/several/system"]
    assert main(["import", "system", str(system), *places, "seed=1"]) == 0
    imported, first = scores(RunFolder(folder / "runs/several/system")), next(iter(right))
    assert (imported["names"], imported["slots"], imported["facts"]) == (100, 0, 100)
    assert all(imported[id] == scores(run)[id] for id in ("lists", "flags", "travels"))

    def refused(name: str, text: str, **place: Any) -> None:
        before = (system / name).read_text(encoding="utf-8")
        (system / name).write_text(text, encoding="utf-8")
        with raises_input_error(**place):
            score_predictions(system, suite, list(suite.tasks.values()), folder / "data", 0.1)
        (system / name).write_text(before, encoding="utf-8")

    for name, line in (
        *(
            ("dev_pred_names.jsonl", json.dumps({"prediction": p}))
            for p in (["O"], ["O", "B-ORG", "O"], ["O", "", "O"], 3)
        ),
        ("dev_pred_slots.tsv", "O O"),
    ):
        lines = (system / name).read_text(encoding="utf-8").splitlines()
        refused(name, "\n".join([*lines[:2], line, *lines[3:], ""]), file=name, line=3)
    for bad in ({**right, first: 3}, {**right, first: ["a"]}, {"x": "y", **right}, {first: "a"}, [1]):
        refused(facts.name, json.dumps(bad))
    capsys.readouterr()


def test_the_rows_of_a_submission_have_lists(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, path = yaml.safe_load(SUITE), own / "several.yaml"
    content["tasks"] = {id: content["tasks"][id] for id in ("lists", "flags")}
    path.write_text(yaml.safe_dump({**content, "submission": {"format": "rows"}}), encoding="utf-8")
    submission = made(own, "uniform", "method=uniform").submission_folder(1)
    for task in content["tasks"]:
        lines = (submission / task / "test.jsonl").read_text(encoding="utf-8").splitlines()
        assert all(isinstance(json.loads(line)["prediction"], list) for line in lines) and len(lines) == 12
    main(["check-submission", str(submission), f"suite={path}", f"data_dir={own}/data"])
    assert "prediction" not in capsys.readouterr().out


def test_a_report_has_every_kind(folder: Path) -> None:
    run = made(folder, "frozen")
    assert main(["report", str(folder / "runs"), "--out", str(folder / "report")]) == 0
    page = (folder / "report/index.html").read_text(encoding="utf-8")
    assert all(name in page for name in ("macro F1 of all labels", '"source"', "span F1"))
    board = leaderboard(find_runs(folder / "runs"))
    (place,) = (place for place, row in enumerate(board.rows) if row.run and row.run.folder.path.name == "frozen")
    tables = [table for table in board.breakdowns if (table.task.id, table.column) == ("lists", "label")]
    (table,) = (table for table in tables if place in table.scores)
    by_part = table.scores[place]
    assert table.parts[0][0] == "all together" and len(table.parts) > 2
    assert by_part[0].median == pytest.approx(scores(run)["lists"])


def test_a_report_reads_long_rows_and_no_other_numbers_of_tags(own: Path) -> None:
    dev = own / "data/names/dev.jsonl"
    lines = dev.read_text(encoding="utf-8").splitlines()
    write_lines(dev, [*lines, json.dumps({"tokens": ["a"] * 1500, "tags": [0] * 1500})])
    made(own, "random", "method=random")
    (run,) = find_runs(own / "runs")
    assert len(run.rows(run.suite.tasks["names"]).targets[-1].split()) == 1500
    for path in (run.folder.predictions(1, "dev", "names"), run.folder.gold("dev", "names")):
        before = path.read_text(encoding="utf-8").split("\n")
        path.write_text("\n".join([*before[:3], "O " + before[3], *before[4:]]), encoding="utf-8")
        with raises_input_error(file=path.name, line=4):
            run.check()
        path.write_text("\n".join(before), encoding="utf-8")


def test_a_leaderboard_takes_a_tag_for_each_token_alone(folder: Path) -> None:
    suite = load_suite(folder / "several.yaml")
    tags = [" ".join("O" for _ in row) for row in sentences("test")]
    labelled = read_labelled_rows(suite, folder / "data", "test")["slots"].data
    for rows in (labelled, read_public_rows(suite, folder / "data", "test")["slots"]):
        for line, number in ((tags[2], None), (tags[2] + " O", 4)):
            content = "\n".join(["slots", *tags[:2], line, *tags[3:]]).encode()
            with nullcontext() if number is None else raises_input_error(file="x.tsv", line=number):
                row_targets(rows, READERS[".tsv"](PredictionFile(rows.task, "x.tsv", content, (), 100)), ())


def test_linear_models_learn_from_a_bounded_number_of_words(
    own: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rows = fact_rows("train")
    sizes = [len(units_of(row["context"])) for row in rows]
    bound = sum(sizes) // 3
    kept = bound * len(rows) // sum(sizes)
    fitted = []
    monkeypatch.setattr(inputs, "MOST_UNITS", bound)
    fit = features.CountedFeatures.fit

    def noted(self: features.CountedFeatures, units: Any) -> Any:
        read = list(units)
        fitted.append([unit[0].tokens for unit in read])
        return fit(self, read)

    monkeypatch.setattr(features.CountedFeatures, "fit", noted)
    made(own, "naive_bayes", "method=naive_bayes", "tasks=[facts]")
    spread = [rows[place * len(rows) // kept] for place in range(kept)]
    assert fitted == [[unit for row in spread for unit in passage_features(row["question"], row["context"])]]
    assert f"learns from {len(fitted[0])} of {sum(sizes)} words" in caplog.text


def test_targets_that_max_length_cuts_are_not_learnt(own: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = ("embeddings.dim=8", "max_length=14", "tasks=[facts]")
    made(own, "cut", *settings)
    assert "max_length cuts the targets of" in caplog.text and "training rows, which are not learnt from" in caplog.text
    end = {"context": ". " * 20 + "end", "answers": {"text": ["end"], "answer_start": [40]}}
    write_jsonl(own / "data/facts/train.jsonl", [{**row, **end} for row in fact_rows("train")])
    with raises_input_error():
        made(own, "all", *settings)


def test_a_kept_model_of_another_size_is_refused(own: Path) -> None:
    run = made(own, "kept", "method=logistic", "floor.keep=true", "floor.grid.C=[10]", "tasks=[facts]")
    kept = run.seed(1) / "models/facts.ckpt"
    saved = torch.load(kept, weights_only=True)
    numbers = {name: torch.cat([part] * 3) for name, part in saved["numbers"].items()}
    torch.save({**saved, "classes": [0, 1, 2], "numbers": numbers}, kept)
    with raises_input_error(file="facts.ckpt"):
        mtl.load(run.path)


def test_the_embedded_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["baseline", "suite=tasks-sample", "method=majority", "seeds=[1]"]) == 0
    assert set(read_json(next(tmp_path.glob("runs/tasks-sample/majority/summary.json")))["tasks"]) == {
        *("topic", "names", "feelings", "facts")
    }
