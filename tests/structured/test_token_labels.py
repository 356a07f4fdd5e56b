"""Tasks with a label for each token, from their files to predictions for new rows; and how their cells are read."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import content, job
from data_files import read_column, read_json, write_lines
from input_errors import raises_input_error
from token_suite import LABELS, sentence, write_token_suite

import mtl
from mtl.api.cli import main
from mtl.benchmark_making.leaderboard.submission import read_labelled_rows, read_public_rows
from mtl.data.examples import read_examples
from mtl.jobs.baseline import run_baseline
from mtl.runs.finished import find_runs
from mtl.runs.folder import RunFolder
from mtl.structured.token_labels import TokenLabels, shape
from mtl.submissions.lines import read_tsv
from mtl.submissions.scores import score_predictions
from mtl.tasks.suite import load_suite, suite_from
from mtl.tasks.target_kind import PAST
from mtl.tasks.task import Task

TASK = Task("t", kind="token_labels", text=["tokens[]"], target="tags[]", labels=LABELS, metric="span_f1")


def settings(folder: Path, *more: str) -> list[str]:
    """Write the suite to a folder; return the settings of a run on it, whose results are in `run`."""
    suite = write_token_suite(folder)
    common = [f"suite={suite}", f"data_dir={folder}/data", f"run_dir={folder}/run", f"cache_dir={folder}/cache"]
    return [*common, "seeds=[1]", *more]


@pytest.mark.parametrize(
    "given",
    [
        "embeddings.dim=8 variant=frozen",
        "embeddings.dim=8 variant=frozen head.crf=true boundary_words=true head.projection=5",
        "embeddings.dim=8 variant=finetune head.overlap=true encoder.join_input=true head.crf=true max_length=2",
        "embeddings.dim=8 variant=attention head.crf=true finetune.token_outputs=recompute head.linear=true",
        "method=logistic floor.keep=true",
        "method=naive_bayes floor.keep=true floor.features=joined",
    ],
)
def test_what_a_run_saved_predicts_what_it_predicted(tmp_path: Path, given: str) -> None:
    summary = run_baseline(job(settings(tmp_path, *given.split())))
    assert set(summary["tasks"]) == {"names", "words", "slots", "travels"}
    suite, run = load_suite(tmp_path / "tags.yaml"), RunFolder(tmp_path / "run")
    for task in ("names", "words", "slots"):
        for split in ("dev", "test"):
            file = suite.tasks[task].path(split, tmp_path / "data")
            out = tmp_path / f"{task}-{split}.tsv"
            assert file is not None
            assert main(["predict", str(run.path), str(file), "--task", task, "--out", str(out)]) == 0
            assert read_column(out) == read_column(run.predictions(1, split, task))
    tags = [row.split() for row in read_column(run.predictions(1, "test", "names"))]
    assert [len(row) for row in tags] == [len(sentence(i)) for i in range(80, 88)]
    if "max_length=2" in given:  # what no model reads
        assert {tag for row in tags for tag in row[2:]} == {"O"}
    tokens, (column,) = [["where", "to", "?"], ["Oslo"]], suite.tasks["names"].text
    frames = [pd.DataFrame({name: tokens}) for name in (column, column.removesuffix("[]"))]
    forms = [["where to ?", "Oslo"], tokens, [tuple(of_row) for of_row in tokens], *frames]
    made = [mtl.load(run.path).predict("names", form) for form in forms]
    assert made == made[:1] * 5 and [len(labels) for labels in made[0]] == [3, 1]
    for bad in (["where to ?", 2], [None], frames[0].rename(columns={column: "x"})):
        with raises_input_error():
            mtl.load(run.path).predict("names", bad)
    with raises_input_error(key="task"):
        mtl.open(run.path).confusion_matrix("slots")


@pytest.mark.parametrize("method", ["constant", "majority", "random", "uniform", "svm", "tree", "forest", "overlap"])
def test_floors_predict_a_known_tag_for_each_token(tmp_path: Path, method: str) -> None:
    summary = run_baseline(job(settings(tmp_path, f"method={method}")))
    tokens = [[token for token, _ in sentence(i)] for i in range(50, 66)]
    if method == "overlap":
        assert set(summary["tasks"]) == {"travels"}
        return
    rows = [row.split() for row in read_column(RunFolder(tmp_path / "run").predictions(1, "dev", "names"))]
    assert [len(row) for row in rows] == [len(row) for row in tokens] and {tag for row in rows for tag in row} <= set(
        LABELS
    )
    if method == "majority":  # the numbers of rows are words that no training row has
        usual = {token: tag for i in range(40) for token, tag in sentence(i)}
        assert rows == [[usual.get(token, "O") for token in row] for row in tokens]


def test_predictions_of_other_systems(tmp_path: Path) -> None:
    folder, given = tmp_path / "other", settings(tmp_path)
    suite = load_suite(tmp_path / "tags.yaml")
    gold = [[tag for _, tag in sentence(i)] for i in range(50, 66)]
    write_lines(
        folder / "dev_pred_names.jsonl",
        [json.dumps({"prediction": [LABELS.index(tag) for tag in row]}) for row in gold],
    )
    write_lines(folder / "dev_pred_slots.tsv", ["slots", *(" ".join("O" for _ in row) for row in gold)])
    assert main(["import", "other", str(folder), *given[:2], f"run_dir={tmp_path}/imported"]) == 0
    summary = read_json(tmp_path / "imported/summary.json")
    assert summary["tasks"]["names"]["median"] == 100 and summary["tasks"]["slots"]["median"] == 0
    for name, line in (
        ("dev_pred_names.jsonl", '{"prediction": ["O"]}'),
        ("dev_pred_names.jsonl", '{"prediction": ["O", "B-ORG", "O"]}'),
        ("dev_pred_names.jsonl", '{"prediction": ["O", "", "O"]}'),
        ("dev_pred_names.jsonl", '{"prediction": 3}'),
        ("dev_pred_slots.tsv", "O O"),
    ):
        path = folder / name
        before = path.read_text(encoding="utf-8")
        lines = before.splitlines()
        lines[2] = line
        write_lines(path, lines)
        with raises_input_error(file=name, line=3):
            score_predictions(folder, suite, list(suite.tasks.values()), tmp_path / "data", 0.1)
        path.write_text(before, encoding="utf-8")


def test_an_interrupted_run_and_its_continuation_are_one(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    given = ("embeddings.dim=8", "variant=finetune", "head.crf=true")
    run_baseline(job(settings(whole, *given)))
    run = job(settings(cut, *given))
    run_baseline(run)
    for path in (run.folder.summary, run.folder.scores(1)):
        path.unlink()
    run_baseline(job(settings(cut, *given)))
    assert content(whole / "run") == content(cut / "run")


def test_a_report_reads_long_rows_and_no_other_numbers_of_tags(tmp_path: Path) -> None:
    given, dev = settings(tmp_path, "method=random"), tmp_path / "data/names/dev.jsonl"
    lines = dev.read_text(encoding="utf-8").splitlines()
    write_lines(dev, [*lines, json.dumps({"tokens": ["a"] * 1500, "tags": [0] * 1500})])
    run_baseline(job(given))
    (run,) = find_runs(tmp_path / "run")
    names = run.suite.tasks["names"]
    assert len(run.rows(names).targets[-1].split()) == 1500
    for path in (run.folder.predictions(1, "dev", "names"), run.folder.gold("dev", "names")):
        before = path.read_text(encoding="utf-8").split("\n")
        path.write_text("\n".join([*before[:3], "O " + before[3], *before[4:]]), encoding="utf-8")
        with raises_input_error(file=path.name, line=4):
            run.check()
        path.write_text("\n".join(before), encoding="utf-8")


def test_a_leaderboard_takes_a_tag_for_each_token_alone(tmp_path: Path) -> None:
    suite = load_suite(write_token_suite(tmp_path))
    for rows in (
        read_labelled_rows(suite, tmp_path / "data", "test")["slots"],
        read_public_rows(suite, tmp_path / "data", "test")["slots"],
    ):
        tags = [" ".join("O" for _ in sentence(i)) for i in range(80, 88)]
        for line, number in ((tags[2], None), (tags[2] + " O", 4)):
            content = "\n".join(["slots", *tags[:2], line, *tags[3:], ""]).encode()
            with nullcontext() if number is None else raises_input_error(file="x.tsv", line=number):
                rows.data.put(read_tsv(rows.task, content, "x.tsv"), (), None)


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ({"tokens": ["a", "b"], "tags": ["O"]}, 1),
        ({"tokens": ["a"], "tags": ["B-ORG"]}, 1),
        ({"tokens": ["a"], "tags": ["O O"]}, 1),
        ({"tokens": ["a"], "tags": "O"}, 1),
        ({"tokens": "a", "tags": ["O"]}, 1),
        ({"tokens": ["a"], "tags": [None]}, 1),
    ],
)
def test_rows_that_are_no_tokens_with_their_tags(tmp_path: Path, row: dict[str, object], line: int) -> None:
    path = write_lines(tmp_path / "x.jsonl", [json.dumps(row)])
    with raises_input_error(file="x.jsonl", line=line):
        read_examples(TASK, path)


def test_tokens_and_tags_of_a_row(tmp_path: Path) -> None:
    row = {"tokens": ["5 p.m.", " ", "\tx"], "tags": ["O", "B-LOC", "O"]}  # white space within a token, and a blank one
    read = read_examples(TASK, write_lines(tmp_path / "x.jsonl", [json.dumps(row)]))
    assert [(row.texts, row.target) for row in read] == [(("5\u00a0p.m. _ x",), "O B-LOC O")]
    (empty,) = read_examples(TASK, write_lines(tmp_path / "x.jsonl", [json.dumps({"tokens": [], "tags": []})]))
    assert (empty.texts, empty.target) == (("_",), "O")
    kind = TokenLabels(TASK)
    assert kind.size(read[0].inputs) == 3
    assert [read[0].texts[0][start:end] for start, end in kind.units(read[0].texts[0])] == ["5\u00a0p.m.", "_", "x"]
    codes = kind.head.encode(np.array(["O B-LOC O", "O", None], dtype=object), [])
    assert codes.tolist() == [[0, 3, 0], [0, PAST, PAST], [PAST] * 3]
    assert kind.head.decode(codes[:2, :2], [], ["a b c d", "e"]).tolist() == ["O B-LOC O O", "O"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("labels", ["O"]),
        ("labels", ["O", "B LOC"]),
        ("labels", ["O", "NOUN"]),
        ("indices", ["0", "1"]),
        ("indices", ["B-LOC", "1", "2", "3"]),
        ("metric", "accuracy"),
        ("text", ["tokens[]", "others[]", "third"]),
        ("candidates", ["c[]"]),
        ("kind", "labels"),
    ],
)
def test_declarations_that_are_wrong(tmp_path: Path, key: str, value: object) -> None:
    declared = {"text": ["tokens[]"], "kind": "token_labels", "target": "tags[]", "labels": LABELS, "metric": "span_f1"}
    with raises_input_error(key=None):
        suite_from({"name": "s", "tasks": {"t": {**declared, key: value}}}, tmp_path / "s.yaml")


def test_features_of_tokens() -> None:
    first, last = TokenLabels(TASK).unit_features(["In Zelburg"])
    assert {"0:in", "1:zelburg", "-1:<s>", "2:</s>", "word:In", "shape:Aa", "shape1:Aa+", "^1:i", "first"} <= set(first)
    assert {"-1,0:in|zelburg", "$4:burg", "^4:zelb", "last"} <= set(last) and "first" not in last
    assert shape("McX-12") == "AaA-0+"


def test_how_tags_are_described() -> None:
    kind = TokenLabels(TASK)
    targets = np.array(["O O I-PER", "B-LOC O O"], dtype=object)
    assert kind.distribution(targets) == "6 tokens: O 66.7%, I-PER 16.7%, B-LOC 16.7%; I- that continues no entity: 1"
    assert kind.absent(targets) == ["B-PER"]
    assert "1" in str(kind.remark(targets)) and kind.remark(targets[1:]) is None
