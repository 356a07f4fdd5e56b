"""Tasks with marked spans, from their files to predictions for new rows."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import job
from data_files import read_column
from input_errors import refused
from lstm_parts import rounded_inputs
from spans_suite import write_spans_suite

import mtl
from mtl.api.cli import main
from mtl.data.examples import read_examples
from mtl.jobs.baseline import run_baseline
from mtl.runs.folder import RunFolder


def settings(folder: Path, *more: str) -> list[str]:
    """Write the suite to a folder; return the settings of a run on it, whose results are in `run`."""
    suite = write_spans_suite(folder)
    common = [f"suite={suite}", f"data_dir={folder}/data", f"run_dir={folder}/run", f"cache_dir={folder}/cache"]
    return [*common, "embeddings.dim=8", "seeds=[1]", *more]


def predicted(folder: Path, task: str, split: str) -> list[str]:
    return read_column(RunFolder(folder / "run").predictions(1, split, task))


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        "variant=frozen",
        "variant=frozen boundary_words=true finetune.threshold=dev",
        "variant=frozen head.projection=5 encoder.join_input=true head.overlap=true",
        "variant=finetune head.projection=5 boundary_words=true",
        "variant=attention",
        "variant=frozen head.linear=true boundary_words=true max_length=9",
        "variant=frozen max_length=1",
    ],
)
def test_what_a_run_saved_predicts_what_it_predicted(tmp_path: Path, given: str) -> None:
    run_baseline(job(settings(tmp_path, *given.split())))
    for task in ("sense", "refers"):
        for split in ("dev", "test"):
            out = tmp_path / f"{task}-{split}.tsv"
            file = tmp_path / "data" / task / f"{split}.jsonl"
            assert main(["predict", str(tmp_path / "run"), str(file), "--task", task, "--out", str(out)]) == 0
            assert read_column(out) == predicted(tmp_path, task, split)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spans")
    run_baseline(job(settings(path, "finetune.token_outputs=float16")))
    return path


@pytest.mark.slow
def test_token_outputs_are_rounded_as_in_the_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = rounded_inputs(monkeypatch)
    run = mtl.load(folder / "run")
    for task in ("refers", "sense"):
        examples = read_examples(run.suite.tasks[task], folder / f"data/{task}/dev.jsonl", targets=False)
        run.predict(task, [example.row for example in examples])
    assert given and all(given)


def test_rows_in_python(folder: Path) -> None:
    run = mtl.load(folder / "run")
    rows, file = [], folder / "data/refers/dev.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        ends = [(row[name]["location"]["start"], row[name]["location"]["stop"]) for name in ("pronoun", "candidate")]
        rows.append([row["text"], *ends])
    together = run.predict("refers", rows)
    assert together == [run.predict("refers", [row])[0] for row in rows]
    assert set(together) <= {"yes", "no"} and run.predict("refers", []) == []


@pytest.mark.parametrize(
    ("task", "rows"),
    [
        ("refers", [["a text"], "a text", ["a text", [0, 1], [2, 9]], ["a text", [0, 1], 2]]),
        ("sense", [["a", "b"], ["a", [0, 1], "b", [0, 1]]]),
    ],
)
def test_texts_without_spans_are_told_how(folder: Path, task: str, rows: list[Any]) -> None:
    for row in rows:
        refused(mtl.load(folder / "run").predict, task, [row])


def test_a_file_without_spans(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["predict", str(folder / "run"), "--task", "refers"]
    (tmp_path / "x.tsv").write_text("text\na text\n", encoding="utf-8")
    assert main([*arguments, str(tmp_path / "x.tsv")]) == 2
    assert "x.tsv:1: no column 'pronoun.location.start' in the header; it has text" in capsys.readouterr().err
    header = "text\tpronoun.location.start\tpronoun.location.stop\tcandidate.location.start\tcandidate.location.stop"
    (tmp_path / "x.tsv").write_text(f"{header}\nAnna sov när hon kom\t13\t16\t0\t4\n", encoding="utf-8")
    assert main([*arguments, str(tmp_path / "x.tsv")]) == 0
    (found,) = mtl.load(folder / "run").predict("refers", [("Anna sov när hon kom", (13, 16), (0, 4))])
    assert capsys.readouterr().out == f"label\n{found}\n"


@pytest.mark.parametrize("method", ["svm", "overlap", "constant"])
def test_floors_read_the_texts_of_tasks_with_spans(tmp_path: Path, method: str) -> None:
    given = [setting for setting in settings(tmp_path, f"method={method}") if ".dim" not in setting]
    summary = run_baseline(job(given))
    assert set(summary["tasks"]) == {"sense", "refers"}


@pytest.mark.wings
def test_an_audit_knows_rows_by_text_and_spans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = settings(tmp_path)
    file = tmp_path / "data/refers/train.jsonl"
    assert main(["audit", *given]) == 0
    shown = capsys.readouterr().out
    assert "repeat" not in shown and "different targets" not in shown
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("".join(f"{line}\n" for line in [*lines, lines[0]]), encoding="utf-8")
    assert main(["audit", *given]) == 0
    assert "1 of 33 rows repeats an earlier row" in capsys.readouterr().out
