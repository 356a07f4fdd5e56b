"""`mtl import` with `rows=`: predictions of a whole split, in every form, are scored on the rows of a sample; and keys that fit no data."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from annotate_parts import read_key_of, write_forms_of
from data_files import read_column
from input_errors import raises_input_error
from kinds_suite import write_kinds_suite
from rows_suite import write

from mtl.api.cli import main
from mtl.data.loading import load_dataset
from mtl.data.sampled import read_key
from mtl.jobs.job import load_job


@pytest.fixture
def home(rows_home: Path) -> Path:
    """A folder with a suite whose task of numbers with ids has 4 dev rows, of which 2 are sampled."""
    write_forms_of(rows_home, suite="rader.yaml", task="grad", rows=2)
    return rows_home


def imported(name: str, *words: str) -> list[float]:
    """The predictions of the run."""
    words = ("import", name, "theirs", "suite=rader.yaml", "data_dir=data", "rows=forms/key.json", *words)
    assert main([*words]) == 0
    path = Path(f"runs/rader/{name}/seed-1/predictions/dev_pred_grad.tsv")
    return [float(line) for line in read_column(path)]


def positions() -> list[int]:
    """The numbers of the sampled rows, from 0. In a file of JSON Lines, row 0 is line 1."""
    return [line - 1 for line in read_key_of(Path("forms"))["tasks"]["grad"]["lines"]]


@pytest.mark.parametrize("form", ["tsv", "lines", "sampled ids", "answers", "sampled answers"])
def test_each_form_of_predictions(form: str, home: Path) -> None:
    numbers = [4.0, 3.0, 2.0, 1.0]
    words: tuple[str, ...] = ()
    if form == "tsv":
        write("dev_pred_grad.tsv", "label", *map(str, numbers))
    elif form == "lines":
        write("dev_pred_grad.jsonl", *({"prediction": number} for number in numbers))
    elif form == "sampled ids":
        rows: Sequence[int] = positions()
        write("dev_pred_grad.jsonl", *({"id": f"g{row}", "prediction": numbers[row]} for row in reversed(rows)))
    else:
        rows = positions() if form == "sampled answers" else range(4)
        write("dev_pred_grad.tsv", "label", *(f" {numbers[row]}" for row in rows))
        (home / "labels.yaml").write_text("grad: {}\n", encoding="utf-8")
        words = ("labels=labels.yaml",)
    assert imported("theirs", *words) == [numbers[row] for row in positions()]


def test_a_candidate_that_a_row_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_kinds_suite(tmp_path)
    key = read_key_of(write_forms_of(tmp_path, suite="kinds.yaml", task="answer", rows=12))["tasks"]["answer"]
    job = load_job({"suite": "kinds.yaml", "data_dir": "data"})
    sizes = load_dataset(job.suite, [job.suite.tasks["answer"]], Path("data"), 0.1).splits["answer"]["dev"].sizes
    assert sizes is not None
    words = ["import", "theirs", "theirs", "suite=kinds.yaml", "data_dir=data", "rows=forms/key.json"]
    sampled = key["lines"][5]
    other = next(line for line in range(1, 25) if line not in key["lines"])
    answers = ["0"] * 24
    answers[sampled - 1], answers[other - 1] = str(sizes[sampled - 1]), "9"
    write("dev_pred_answer.tsv", "label", *answers)
    assert main(words) == 2
    assert f"dev_pred_answer.tsv:{sampled + 1}: target" in capsys.readouterr().err.splitlines()[-1]
    answers[sampled - 1] = "1"
    write("dev_pred_answer.tsv", "label", *answers)
    assert main(words) == 0  # nothing is known of the rows that are not in the sample


def test_a_key_that_does_not_fit_and_lines_that_are_no_rows(tmp_path: Path) -> None:
    forms = write_forms_of(tmp_path, task=["kansla", "samma"], rows=4)
    suite = load_job({"suite": str(tmp_path / "liten.yaml")}).suite

    def write(**changes: Any) -> Path:
        """The key with changes of the task kansla."""
        key: Any = read_key_of(forms)
        key["tasks"]["kansla"] |= changes
        (tmp_path / "key.json").write_text(json.dumps(key), encoding="utf-8")
        return tmp_path / "key.json"

    changes = (
        ({"sha256": "0" * 64}, "tasks.kansla.sha256"),
        ({"split": "test"}, "tasks.kansla.split"),
        ({"lines": []}, None),
    )
    for change, key in changes:
        with raises_input_error(file="key.json", key=key):
            read_key(write(**change), suite, tmp_path / "data")
    path, other = write(), tmp_path / "other.json"
    for old, new, key in (('"liten"', '"stor"', "suite"), ('"samma"', '"borta"', "tasks.borta")):
        other.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        with raises_input_error(file="other.json", key=key):
            read_key(other, suite, tmp_path / "data")
    for key_file, folder, file in ((tmp_path / "none.json", "data", "none.json"), (path, "forms", "dev.tsv")):
        with raises_input_error(file=file):
            read_key(key_file, suite, tmp_path / folder)
    for lines in ([2, 2], [999], list[int]()):
        with raises_input_error(key="imported.rows.kansla"):
            load_dataset(suite, [suite.tasks["kansla"]], tmp_path / "data", 0.1, {"kansla": lines})
