"""`mtl import` of JSON Lines, with and without ids, and of the answers of language models."""

import hashlib
import json
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_files import read_column, read_json, write_jsonl
from input_errors import refused
from rows_suite import write

from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline
from mtl.jobs.imports import import_job
from mtl.jobs.job import parse_settings
from mtl.runs.finished import find_runs
from mtl.submissions.answers import answer_targets
from mtl.submissions.files import PredictionFile
from mtl.submissions.forms import read_table
from mtl.tasks.suite import load_suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

Line = dict[str, Any]
GRAD = [{"id": f"g{i}", "prediction": i} for i in (2, 0, 3, 1)]  # of the rows g0 to g3 of dev
PAR = ["ja", "nej"]  # the targets of dev


def imported(*settings: str) -> int:
    return main(["import", "theirs", "theirs", "suite=rader.yaml", "data_dir=data", *settings])


def bad(*settings: str, **where: Any) -> None:
    """The import is refused, and writes nothing."""
    given = parse_settings(["suite=rader.yaml", "data_dir=data", *settings])
    refused(lambda: run_baseline(import_job("theirs", [Path("theirs")], given)), **where)
    assert not [path for path in Path("runs").rglob("*") if path.is_file() and path.name != ".lock"]


def predicted(split: str, task: str, seed: int = 1) -> list[str]:
    return read_column(Path(f"runs/rader/theirs/seed-{seed}/predictions/{split}_pred_{task}.tsv"))


def summary() -> dict[str, Any]:
    return read_json(Path("runs/rader/theirs/summary.json"))


def test_lines_with_ids_may_stand_in_any_order(rows_home: Path) -> None:
    write("dev_pred_grad.jsonl", *GRAD)
    write("test_pred_grad.jsonl", *({"id": f"t{i}", "prediction": i / 2} for i in (3, 2, 1, 0)))
    write("dev_pred_par.jsonl", *({"prediction": label} for label in PAR))
    assert imported() == 0
    assert predicted("dev", "grad") == ["0.0", "1.0", "2.0", "3.0"]
    assert predicted("test", "grad") == ["0.0", "0.5", "1.0", "1.5"]
    assert predicted("dev", "par") == PAR and summary()["tasks"]["par"]["median"] == 100
    write("dev_pred_grad.jsonl", *({**line, "prediction": 3 * line["prediction"]} for line in GRAD))
    assert imported("run_dir=outside", "tasks=[grad]") == 0
    note = "grad dev, seed 1: 2 of 4 predictions are outside 0 to 5."
    assert note in read_json(Path("outside/summary.json"))["notes"]
    assert note in Path("outside/table.md").read_text(encoding="utf-8")


def test_held_out_rows_have_the_ids_of_the_training_file(rows_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "suite=rader.yaml", "data_dir=data", "method=majority", "tasks=[val]", "seeds=[1]"]) == 0
    lines = read_json(Path("runs/rader/majority/held_out.json"))["val"]
    write("dev_pred_val.jsonl", *({"id": line - 1, "prediction": 1} for line in reversed(lines)))
    assert imported() == 0
    assert predicted("dev", "val") == ["1"] * len(lines)
    trained = min({*range(12)} - {line - 1 for line in lines})
    write("dev_pred_val.jsonl", {"id": trained, "prediction": 1})
    assert imported("run_dir=other") == 2
    rows = (
        f"the {len(lines)} rows of data/val/train.jsonl that are held out as dev (mtl data --write-splits writes them)"
    )
    assert f"dev_pred_val.jsonl:1: id {trained} is not among {rows}; is this another file's?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "lines",
    [
        *([*GRAD[:3], GRAD[0]], [*GRAD[:3], {"id": "t1", "prediction": 1}], GRAD[:2], [*GRAD[:3], {"prediction": 1}]),
        *([{"prediction": 1}, *GRAD[1:]], [GRAD[0], {"id": "g0", "answer": 1}], [{**GRAD[0], "id": None}, *GRAD[1:]]),
        *([*GRAD[:3], '{"id": "g1", "prediction": NaN}'], [*GRAD[:3], {"id": "g1", "prediction": "4"}], []),
        *([{**GRAD[0], "prediction": [[]]}], [{"prediction": 1}, {"prediction": 2}]),
    ],
)
def test_bad_lines(lines: list[Line | str], rows_home: Path) -> None:
    write("dev_pred_grad.jsonl", *lines)
    bad(file="dev_pred_grad.jsonl")
    assert not Path("runs").exists()


@pytest.mark.parametrize("file", ["dev_pred_grad.tsv", "dev_pred_grad.jsonl", "grad/dev.jsonl"])
def test_lines_are_counted_before_they_take_memory(file: str, rows_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.submissions.row_predictions.MORE_LINES", 10)
    write("dev_pred_par.tsv", "target", *PAR)
    write(file, *["1"] * 15)
    bad(file=Path(file).name)


def test_what_fits_neither_the_rows_nor_another_file_is_refused(rows_home: Path) -> None:
    write("dev_pred_par.jsonl", {"prediction": "ja"}, {"prediction": "Nej"})
    bad(file="dev_pred_par.jsonl", line=2)
    write("dev_pred_par.jsonl", {"id": 1, "prediction": "ja"}, {"id": 2, "prediction": "nej"})
    bad(file="dev_pred_par.jsonl", line=1)  # the data has no ids
    write("dev_pred_par.jsonl", *({"prediction": label} for label in PAR))
    write("dev_pred_par.tsv", "label", *PAR)
    bad(file="dev_pred_par.tsv")
    shutil.rmtree("theirs")
    write("dev_pred_grad.jsonl", *GRAD)
    write("test_pred_val.jsonl", *({"id": i, "prediction": i} for i in range(4)))
    write("dev_pred_val.tsv", "label", "1")
    bad(file="test_pred_val.jsonl", line=3)
    shutil.rmtree("theirs")
    file = rows_home / "data/grad/dev.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace('"g3"', '"g0"'), encoding="utf-8")
    write("dev_pred_grad.jsonl", *GRAD)
    bad(file="dev.jsonl", line=4)


def test_answers_are_read_as_labels_and_those_that_fit_none_count_as_wrong(rows_home: Path) -> None:
    labels = "par: {yes: ja, no: nej, 'NO, never': nej}\ngrad: {four: 4}\n"
    (rows_home / "labels.yaml").write_text(labels, encoding="utf-8")
    for seed, (first, second) in enumerate([(" YES", "no, NEVER"), ("Ja", "perhaps")], start=1):
        write("dev_pred_par.tsv", "label", first, second)
        grad = ["Four", "2.5", "nan", 7]
        write("dev_pred_grad.jsonl", *({"id": f"g{i}", "prediction": answer} for i, answer in enumerate(grad)))
        test = [*["1"] * 3, "no idea"]
        write("test_pred_grad.jsonl", *({"id": f"t{i}", "prediction": answer} for i, answer in enumerate(test)))
        Path("theirs").rename(f"seed-{seed}")
    paths = ["seed-1", "seed-2"]
    assert main(["import", "theirs", *paths, "suite=rader.yaml", "data_dir=data", "labels=labels.yaml"]) == 0
    assert predicted("dev", "par") == ["ja", "nej"]
    assert predicted("dev", "par", seed=2) == ["ja", "ja"]  # the second row's target is nej
    # The gold targets are 3, 2, 1 and 0.5 of a range of 0 to 5; those of test are not known.
    assert predicted("dev", "grad") == ["4.0", "2.5", "5.0", "5.0"]
    assert predicted("test", "grad") == ["1.0", "1.0", "1.0", "0.0"]
    done, sha256 = summary(), hashlib.sha256(labels.encode()).hexdigest()
    assert done["tasks"]["par"]["scores"] == {"1": 100, "2": 50}
    assert done["config"]["imported.labels.par.yes"] == "ja" and done["config"]["imported.labels_sha256"] == sha256
    notes = [
        f"Answers were read as labels by the spellings in config.yaml (imported.labels), from a file with the SHA-256 sum {sha256}:"
        " grad, par.",
        "Answers that fit no label, counted as wrong: grad dev 2, 2 of 4 (seeds 1, 2); par dev 0, 1 of 2 (seeds 1, 2).",
        "Answers that fit no label, on rows whose targets are not known here, where the first label stands for them:"
        " grad test 1, 1 of 4 (seeds 1, 2).",
    ]
    assert done["notes"][2:] == notes
    table = Path("runs/rader/theirs/table.md").read_text(encoding="utf-8")
    assert all(note in table for note in notes)
    assert main(["report"]) == 0
    assert len(find_runs(Path("runs"))) == 1
    assert notes[1] in Path("report/report.md").read_text(encoding="utf-8")
    assert "counted as wrong: grad dev 2, 2 of 4" in Path("report/index.html").read_text(encoding="utf-8")


def test_labels_may_stand_on_the_command_line(rows_home: Path) -> None:
    write("dev_pred_par.jsonl", {"prediction": 1}, {"prediction": "none"})
    labels = f'labels={{par: {{"1": ja, "2": nej, "{"a long answer " * 30}": ja}}}}'
    assert imported(labels) == 0
    assert predicted("dev", "par") == ["ja", "ja"]
    notes = ["Answers were read as labels by the spellings in config.yaml (imported.labels): par."]
    notes += ["Answers that fit no label, counted as wrong: par dev 1 of 2."]
    assert summary()["notes"][2:] == notes
    assert imported(labels) == 0  # it is finished
    assert imported('labels={par: {"1": ja, "2": ja}}') == 2


@pytest.mark.parametrize(
    "content",
    [
        *(
            "humor: {yes: ja}",
            "par: {yes: yes}",
            "grad: {six: 6}",
            "val: {A: a}",
            "par: {yes: ja, Yes: nej}",
            "par: yes",
        ),
        *("par:\n  yes: ja\n  yes: nej", "par: {[a]: ja}", "par: {", 'par: {"a\\nb": ja}'),
        "par: {" + ", ".join(f"s{i}: ja" for i in range(5001)) + "}",
    ],
    ids=count(),
)
def test_bad_labels_are_refused(content: str, rows_home: Path) -> None:
    (rows_home / "labels.yaml").write_text(f"{content}\n", encoding="utf-8")
    write("dev_pred_par.tsv", "label", *PAR)
    bad("labels=labels.yaml", file="labels.yaml")


def test_bad_labels_of_a_command(rows_home: Path) -> None:
    write("dev_pred_par.tsv", "label", *PAR)
    for labels in ("{par: {yes: ja}}", "{par: 3}", "3", "none.yaml"):
        bad(f"labels={labels}")
    bad("imported.labels.par=3")


def test_answers_are_still_predictions_of_all_rows(rows_home: Path) -> None:
    labels = 'labels={par: {"yes": ja}}'
    write("dev_pred_par.tsv", "label", "yes")
    bad(labels, file="dev_pred_par.tsv", line=2)
    Path("theirs/dev_pred_par.tsv").unlink()
    write("dev_pred_par.jsonl", {"prediction": "yes"}, {"prediction": None})
    bad(labels, file="dev_pred_par.jsonl", line=2)
    Path("theirs/dev_pred_par.jsonl").unlink()
    rows = [json.loads(line) for line in (rows_home / "data/par/dev.jsonl").read_text(encoding="utf-8").splitlines()]
    write("par/dev.jsonl", *({**row, "prediction": "yes"} for row in rows))
    assert imported(labels) == 0
    assert predicted("dev", "par") == ["ja", "ja"]


def test_rows_of_a_dev_file_that_the_data_lacks_are_left_out(rows_home: Path) -> None:
    rows = [
        json.loads(line) for line in (rows_home / "official/par/test.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for split, some in (("dev", rows[:2]), ("test", rows)):
        write(f"par/{split}.jsonl", *({**row, "prediction": row["label"]} for row in some))
    assert imported("data_dir=official") == 0
    assert summary()["tasks"]["par"]["median"] == 100
    assert not Path("runs/rader/theirs/seed-1/predictions/dev_pred_par.tsv").exists()


def test_what_answers_mean(rows_home: Path) -> None:
    tasks = load_suite(Path("rader.yaml")).tasks
    gold = np.array([0.0, 1.0, np.nan])
    for id, spellings, answers, targets, unfit in (
        ("par", {"nej": "ja"}, ["NEJ ", "neither", ""], [0, 0, 0], 2),  # the map comes before a label's own spelling
        ("val", {"a": "0", "c": "2"}, ["c", "1", "B"], [1, 1, 0], 2),
        ("grad", {}, ["-1", "x", "inf"], [5, 5, 0], 3),
    ):
        candidates = np.array([2, 2, 1]) if id == "val" else None
        read, count = answer_targets(tasks[id], spellings, answers, gold, candidates)
        assert (read.tolist(), count) == (targets, unfit), id
    assert target_kind(tasks["val"]).wrong(0.0, 1) == 0  # a row with one candidate has no other

    # Labels that differ in letter case alone are told apart.
    task = tasks["par"]
    task.labels = ["Org", "org", "Per"]
    read, count = answer_targets(task, {}, ["org", "Org", "ORG", "per"], np.array([2.0] * 4), None)
    assert (read.tolist(), count) == ([1, 0, 0, 2], 1)


def test_words_and_texts_have_no_labels(rows_home: Path) -> None:
    suite = rows_home / "rader.yaml"
    text = suite.read_text(encoding="utf-8").replace('labels: ["ja", "nej"]', "kind: word")
    suite.write_text(text.replace("    also: [macro_f1]\n", ""), encoding="utf-8")
    write("dev_pred_par.tsv", "label", *PAR)
    settings = {"suite": "rader.yaml", "data_dir": "data"}
    labels = {"labels": {"par": {"yes": "ja"}}}
    refused(lambda: import_job("theirs", [Path("theirs")], {**settings, **labels}), key="labels.par")
    assert run_baseline(import_job("theirs", [Path("theirs")], settings))["tasks"]["par"]["median"] == 100


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        ("csv", ["id,prediction", "g3,3", "g0,0", '"g1",1.0', "g2,2"]),
        ("csv", ["Prediction,ID", "3,g3", "2,g2", "1,g1", "0,g0"]),
        ("tsv", ["id\ty_pred", "g0\t0", "g1\t1", "g3\t3", "g2\t2"]),
        ("csv", [",prediction", "0,0", "1,1", "2,2", "3,3"]),  # as pandas writes a Series
        ("csv", ["index,score of mine", "1,0", "2,1", "3,2", "4,3"]),  # numbers from 1
        ("csv", [",prediction", "3,3", "0,0", "2,2", "1,1"]),
        ("csv", ["index,prediction", "2,1", "1,0", "3,2", "4,3"]),
        ("csv", ["prediction", "0", "1", "2", "3", ""]),
        ("csv", ["label,prediction", "9,0", "9,1", "9,2", "9,3"]),  # a whole frame
        ("csv", [",note,id,prediction", "7,a,g1,1", "8,b,g0,0", "9,c,g3,3", "4,d,g2,2"]),  # ids before numbers
        ("tsv", ["predictions", "0", "1", "2", "3"]),
        ("tsv", ["label", "0", "1", "2", "3"]),
    ],
)
def test_tables_whose_header_is_plain(file: str, lines: list[str], rows_home: Path) -> None:
    write(f"dev_pred_grad.{file}", *lines)
    assert imported() == 0
    assert predicted("dev", "grad") == ["0.0", "1.0", "2.0", "3.0"]


QUOTED = ["id,prediction", 'g0,"0', '"', "", "g1,1", "g2,2", "g3,x"]  # a mark that begins a cell of several lines


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        *(("csv", ["a,b", "g0,0"]), ("csv", ["id,index", "g0,0"]), ("csv", ["label,pred", "0,0"]), ("csv", [])),
        *(("csv", ["id,text,pred", "g0,a,0"]), ("tsv", ["0", "1", "2", "3"]), ("csv", ["id,prediction", "g0,0", "g1"])),
        *(("csv", ["id,prediction", 'g0,"0']), ("csv", QUOTED), ("csv", ["id,prediction", "g0,0", "g0,1"])),
        ("csv", ["index,prediction", "0,1", "0,0"]),
        *(("csv", [",prediction", "12,1", "13,0", "14,2", "15,3"]), ("csv", ["id,prediction", "g0,0", "g1,1", "g2,2", "g3,x"])),
    ],
)  # fmt: skip
def test_tables_that_are_not_plain_are_refused(file: str, lines: list[str], rows_home: Path) -> None:
    write(f"dev_pred_grad.{file}", *lines)
    bad(file=f"dev_pred_grad.{file}")


@pytest.mark.parametrize("ids", ["[id]", "[idx]", "[Idx, idx]"])
def test_numbers_are_ids_if_the_suite_says_so_and_else_asked_about_where_they_may_be(ids: str, rows_home: Path) -> None:
    """Dev rows of `par` with the column `idx`, which is not in order, in a suite with these columns of ids."""
    suite, file = rows_home / "rader.yaml", rows_home / "data/par/dev.jsonl"
    suite.write_text(suite.read_text(encoding="utf-8").replace("ids: [id, idx]", f"ids: {ids}"), encoding="utf-8")

    def write_data(*order: int) -> None:
        rows = zip(("ja", "nej", "ja"), order, strict=True)
        write_jsonl(file, [{"first": {"text": "a"}, "second": "b", "label": label, "idx": i} for label, i in rows])

    write_data(2, 0, 1)
    if ids == "[idx]":  # of other rows
        write("dev_pred_par.csv", "index,label", "1,ja", "0,nej", "2,nej")
        bad(file="dev_pred_par.csv", line=3)
        return
    write("dev_pred_par.csv", "Idx,label", "0,nej", "1,ja", "2,nej")
    if ids == "[id]":
        bad(file="dev_pred_par.csv", line=2)
        write_data(0, 1, 2)
    assert imported() == 0
    assert predicted("dev", "par") == (["nej", "ja", "nej"] if ids == "[id]" else ["nej", "nej", "ja"])


def test_a_target_may_have_the_name_of_a_column_of_ids(rows_home: Path) -> None:
    for path in (rows_home / "rader.yaml", *(rows_home / "data/par").iterdir()):
        path.write_text(path.read_text(encoding="utf-8").replace("label", "idx"), encoding="utf-8")
    suite = rows_home / "rader.yaml"
    suite.write_text(suite.read_text(encoding="utf-8").replace("idxs:", "labels:"), encoding="utf-8")
    write("dev_pred_par.csv", "idx", *PAR)
    assert imported("tasks=[par]") == 0
    assert predicted("dev", "par") == PAR


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        ("csv", ["prediction", "3 \\times 4", "C:\\dir"]),
        ("csv", ["prediction,id", "3 \\times 4,b", "C:\\dir,a"]),
        ("tsv", ["prediction", "3 \\\\times 4", "C:\\\\dir"]),
        ("tsv", ["index\tprediction", "0\t3 \\\\times 4", "1\tC:\\\\dir"]),
    ],
)
def test_only_cells_of_tsv_have_escapes(file: str, lines: list[str]) -> None:
    task = Task(id="par", kind="text", text=["text"], target="summary", metric="chrf")
    content = "".join(f"{line}\n" for line in lines).encode()
    targets, errors = read_table(PredictionFile(task, f"dev_pred_par.{file}", content, [], 10)).targets(task)
    assert targets.tolist() == ["3 \\times 4", "C:\\dir"] and not errors


def test_rows_that_the_system_may_have_trained_on_are_marked(rows_home: Path) -> None:
    assert main(["data", "rader.yaml", "data_dir=data", "--write-splits", "splits"]) == 0
    dev = [json.loads(line) for line in Path("splits/val/dev.jsonl").read_text(encoding="utf-8").splitlines()]
    write("dev_pred_val.csv", "idx,prediction", *(f"{row['idx']},{row['label']}" for row in reversed(dev)))
    assert imported() == 0
    assert summary()["maybe_trained_on"] == ["val"] and summary()["tasks"]["val"]["median"] == 100
    table = Path("runs/rader/theirs/table.md").read_text(encoding="utf-8")
    assert "val‡" in table and "‡ scored on rows of the training file that mtl holds out: val." in table
    Path("system.yaml").write_text("held_out_unseen: true\n", encoding="utf-8")
    assert imported("system=system.yaml", "run_dir=unseen") == 0
    assert "maybe_trained_on" not in read_json(Path("unseen/summary.json"))
    assert "‡" not in Path("unseen/table.md").read_text(encoding="utf-8")
