import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from data_files import read_json, write_lines
from rows_suite import GRAD_DEV, GRAD_TEST, PAR_TEST, VAL_TEST, read

from mtl.api.cli import main

Rejoin = Callable[..., tuple[int, str, str]]


@pytest.fixture
def rejoin(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Rejoin:
    """Put the submission in tmp_path/copy to the official files in tmp_path/official; each row there predicts something else."""
    copy, official = tmp_path / "copy", tmp_path / "official"
    shutil.copytree(made / "run/seed-1/submission", copy)
    shutil.copytree(made / "official", official)
    for task, values in {"grad": [0.5, 1.5, 2.5, 3.5], "val": [0, 1, 1, 0], "par": ["ja", "nej", "nej", "ja"]}.items():
        for split in ("dev", "test"):
            if (file := copy / task / f"{split}.jsonl").exists():
                rows = zip(map(json.loads, read(file)), values, strict=False)
                write_lines(file, [json.dumps(row | {"prediction": value}) for row, value in rows])

    def rejoined(*further: str) -> tuple[int, str, str]:
        capsys.readouterr()
        settings = [f"suite={made / 'rader.yaml'}", f"data_dir={official}", "--out", str(tmp_path / "out")]
        status = main(["rejoin", str(copy), *settings, *further])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return rejoined


def predicted(path: Path) -> list[object]:
    return [json.loads(line)["prediction"] for line in read(path)]


def test_predictions_are_put_to_the_official_rows_by_id_and_by_text(
    rejoin: Rejoin, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    official, out = tmp_path / "official", tmp_path / "out"
    write_lines(official / "grad/test.jsonl", [GRAD_TEST[i] for i in (2, 0, 3, 1)])
    status, printed, _ = rejoin("--name", "KB/min")
    assert status == 0 and printed == f"{out}\n"
    assert predicted(out / "grad/test.jsonl") == [2.5, 0.5, 3.5, 1.5]
    assert predicted(out / "grad/dev.jsonl") == [0.5, 1.5, 2.5, 3.5]
    assert predicted(out / "val/test.jsonl") == [0, 1, 1, 0]
    # Official row 4 is the first of dev here, row 0 the second; 1, 2, 3 and 5 are test.
    assert predicted(out / "par/test.jsonl") == ["nej", "ja", "nej", "nej", "ja", "ja"]
    assert not (out / "par/dev.jsonl").exists()
    assert read(out / "grad/dev.jsonl")[0] == f'{GRAD_DEV[0][:-1]}, "prediction": 0.5}}'
    assert main(["check-submission", str(out), f"suite={made / 'rader.yaml'}", f"data_dir={official}"]) == 0
    assert capsys.readouterr().out == f"{out}: the leaderboard of suite rader can take it\n"
    entry = read_json(out / "KB-min.json")
    assert entry["model"]["name"] == "KB/min" and entry["left_out"] == ["borta"]
    # Labels of val: 0 1 0 1; of par: nej ja ja nej ja ja.
    assert entry["tasks"]["val"]["test"] == {"N": 4, "accuracy": 0.5}
    assert entry["tasks"]["par"]["test"] == {"N": 6, "accuracy": pytest.approx(5 / 6), "f1": None}


def test_rows_with_the_same_texts_and_different_predictions_are_refused(rejoin: Rejoin, tmp_path: Path) -> None:
    official, copy = tmp_path / "official", tmp_path / "copy"
    rows = read(copy / "par/test.jsonl")
    write_lines(copy / "par/test.jsonl", [*rows, rows[0].replace('"ja"', '"nej"')])
    status, printed, error = rejoin()
    assert status == 2 and not (tmp_path / "out").exists()
    place = f"{copy}/par/dev.jsonl, {copy}/par/test.jsonl, row 7"
    assert printed.startswith(f"{place}: rows with the same first.text, second have")
    assert len(printed.splitlines()) == 1 and f"the rows of {official}/par/test.jsonl" in printed
    assert len(error.splitlines()) == 1 and "nothing is written; tasks=[…] names the tasks" in error
    assert rejoin("tasks=[grad,val]")[0] == 0
    entry = read_json(tmp_path / "out/Majority or mean.json")
    assert entry["left_out"] == ["par", "borta"] and not (tmp_path / "out/par").exists()


def test_the_same_rows_in_the_same_order_are_not_ambiguous(rejoin: Rejoin, tmp_path: Path) -> None:
    write_lines(tmp_path / "official/par/test.jsonl", [PAR_TEST[1]] * 2)
    rows = [f'{PAR_TEST[1][:-1]}, "prediction": "{value}"}}' for value in ("ja", "nej")]
    write_lines(tmp_path / "copy/par/test.jsonl", rows)
    assert rejoin()[0] == 0
    assert predicted(tmp_path / "out/par/test.jsonl") == ["ja", "nej"]


@pytest.mark.parametrize(
    ("row", "values"),
    [
        (VAL_TEST[0].replace('"idx": 0', '"idx": 7'), '["vad 0", ["a", "b"], 7]'),
        (VAL_TEST[0].replace('"idx": 0, ', "").replace("vad 0", "vad?"), '["vad?", ["a", "b"], null]'),
    ],
)
def test_an_official_row_without_prediction(row: str, values: str, rejoin: Rejoin, tmp_path: Path) -> None:
    file = tmp_path / "official/val/test.jsonl"
    write_lines(file, [*VAL_TEST[1:], row])
    status, printed, _ = rejoin()
    problem = f"the row on line 4 of {file}, with question, answers[], idx {values}, is not here; "
    assert status == 2 and printed.startswith(f"{tmp_path}/copy/val/test.jsonl:4: {problem}")
    assert len(printed.splitlines()) == 1


def test_a_wrong_prediction_and_a_folder_that_exists_are_one_line(rejoin: Rejoin, tmp_path: Path) -> None:
    file = tmp_path / "copy/val/test.jsonl"
    write_lines(file, [line.replace('"prediction": 1', '"prediction": "1"') for line in read(file)])
    assert rejoin()[2].endswith(f'{file}:2: prediction "1" must be an integer\n')
    write_lines(tmp_path / "out/there", [])
    assert rejoin()[2].endswith("out: is not empty; name a new folder\n")


def test_tasks_that_the_official_folder_lacks_are_named(rejoin: Rejoin, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "official/val")
    status, printed, _ = rejoin()
    assert status == 0
    assert printed.splitlines()[0] == f"left out, since {tmp_path / 'official'} has no dev or test file of them: val"
