import codecs
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from data_files import read_json, write_lines
from rows_suite import read

from mtl.api.cli import main

Check = Callable[..., tuple[int, list[str], str]]
Rows = list[str]
Entry = dict[str, Any]


@pytest.fixture
def check(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """A copy of the run's submission is in tmp_path/copy. Returns the check's exit status, its lines, and its error."""
    shutil.copytree(made / "run/seed-1/submission", tmp_path / "copy")

    def checked(path: Path = tmp_path / "copy") -> tuple[int, list[str], str]:
        capsys.readouterr()
        status = main(["check-submission", str(path), f"suite={made / 'rader.yaml'}", f"data_dir={made / 'data'}"])
        printed = capsys.readouterr()
        return status, [line.replace(f"{path}/", "") for line in printed.out.splitlines()], printed.err

    return checked


def test_a_run_s_submission_is_valid(check: Check, made: Path, tmp_path: Path) -> None:
    status, lines, _ = check()
    assert status == 0
    assert lines[0] == "rows without labels: grad test, val test, par test"
    assert lines[-1] == f"{tmp_path / 'copy'}: valid for the rows in {made / 'data'}, which are not the official ones"


def test_data_of_another_checksum(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite, data = tmp_path / "rader.yaml", tmp_path / "official"
    shutil.copytree(made / "official", data)
    text = (made / "rader.yaml").read_text(encoding="utf-8")
    digest = hashlib.sha256((data / "grad/dev.jsonl").read_bytes()).hexdigest()
    text = text.replace("tasks:", "source: {url: 'https://example.org/{folder}/{file}'}\ntasks:", 1)
    suite.write_text(text.replace("folder: grad", f"folder: grad\n    checksums: {{dev: 'sha256:{digest}'}}"))
    settings = [f"suite={suite}", f"data_dir={data}"]
    line = "changed, by the checksums of the suite: grad dev"
    for changed, out in ((False, "one"), (True, "other")):
        if changed:
            rows = read(data / "grad/dev.jsonl")
            write_lines(data / "grad/dev.jsonl", [row.replace('"label": 1.0', '"label": 4.0') for row in rows])
        joined = ["rejoin", str(made / "run/seed-1/submission"), *settings, "--out", str(tmp_path / out)]
        assert main(joined) == 0
        assert (line in capsys.readouterr().out) == changed
        assert main(["check-submission", str(tmp_path / out), *settings]) == 0
        printed = capsys.readouterr().out.splitlines()
        assert (line in printed) == changed and ("the leaderboard" in printed[-1]) != changed
    entry = read_json(tmp_path / "other/Majority or mean.json")
    assert entry["tasks"]["grad"]["dev"]["alpha"] is None


def test_the_order_of_keys_and_white_space_do_not_count_and_a_zip_is_the_same(check: Check, tmp_path: Path) -> None:
    file = tmp_path / "copy/grad/dev.jsonl"
    write_lines(file, [json.dumps(json.loads(line), sort_keys=True) for line in read(file)])
    assert check(Path(shutil.make_archive(str(tmp_path / "s"), "zip", tmp_path / "copy")))[0] == 0
    assert check()[0] == 0


def replaced(place: int, pattern: str, new: str) -> Callable[[Rows], None]:
    def edit(rows: Rows) -> None:
        rows[place], count = re.subn(pattern, new, rows[place])
        assert count == 1

    return edit


def test_numbers_outside_the_range_are_valid_and_counted(check: Check, made: Path, tmp_path: Path) -> None:
    file = tmp_path / "copy/grad/test.jsonl"
    rows = read(file)
    for place, number in ((0, "5.03"), (2, "-0.01")):
        replaced(place, '"prediction": .*}', f'"prediction": {number}}}')(rows)
    write_lines(file, rows)
    status, lines, _ = check()
    assert status == 0 and lines[0] == "grad/test.jsonl: 2 of 4 predictions are outside 0 to 5"
    assert lines[-1].endswith("which are not the official ones")


@pytest.mark.parametrize(
    ("name", "edit", "problem"),
    [
        ("grad/dev", lambda rows: rows.pop(1), ":2: row 2 of DATA/grad/dev.jsonl is missing"),
        ("grad/dev", lambda rows: rows.insert(2, rows[0]), ":3: is none of the rows of DATA/grad/dev.jsonl, or stands here"),
        ("grad/dev", lambda rows: rows.insert(0, rows.pop(1)), ":2: row 1 of DATA/grad/dev.jsonl stands here; the rows must"),
        ("grad/dev", replaced(0, "1e-5", "1e-4"), ":1: key 'meta.weight' is 0.0001, and in the data's row 1e-05"),
        ("grad/dev", replaced(0, "\x85", " "), ':1: key \'text\' is "å ö 1", and in the data\'s row "\\u00e5\\u0085\\u00f6 1"'),
        ("grad/dev", replaced(1, '"a":2', '"a":2,"c":3'), ":2: key 'meta.c' is not in the data's row"),
        ("grad/dev", replaced(1, ',"a":2', ""), ":2: key 'meta.a' of the data's row is missing"),
        ("grad/test", replaced(1, "null", "2.0"), ":2: key 'label' is 2.0, and in the data's row null"),
        ("grad/dev", replaced(2, '"prediction": .*}', '"prediction": "3"}'), ':3: prediction "3" must be a number'),
        ("grad/dev", replaced(2, '"prediction": .*}', '"prediction": 1e101}'), ":3: prediction: target 1e+101 is not finite"),
        ("grad/dev", replaced(2, '"prediction": .*}', '"prediction": NaN}'), ":3: not a row: NaN is not a JSON number"),
        ("grad/dev", replaced(2, ', "prediction": .*}', "}"), ":3: no key 'prediction'"),
        ("grad/dev", lambda rows: rows.insert(1, ""), ":2: not a row: the line is empty; one JSON object a line"),
        ("val/test", replaced(3, '"prediction": 0', '"prediction": 0.0'), ":4: prediction 0.0 must be an integer"),
        ("val/test", replaced(3, '"prediction": 0', '"prediction": 2'), ":4: prediction: target 2 is not the index of one of the row's 2"),
        ("par/test", replaced(0, '"ja"}', '"Ja"}'), ":1: prediction: unknown label 'Ja', expected one of ja, nej"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_one_line_with_file_and_line(
    name: str, edit: Callable[[Rows], None], problem: str, check: Check, made: Path, tmp_path: Path
) -> None:
    file = tmp_path / f"copy/{name}.jsonl"
    rows = read(file)
    edit(rows)
    write_lines(file, rows)
    status, lines, error = check()
    assert status == 2 and len(lines) == 1 and "(1 problem)" in error
    assert lines[0].startswith(f"{name}.jsonl{problem.replace('DATA', str(made / 'data'))}")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda copy: shutil.rmtree(copy / "val"), "val: the task is missing, and the entry does not say so under left_out"),
        (lambda copy: (copy / "grad/dev.jsonl").unlink(), "grad/dev.jsonl: is missing"),
        (lambda copy: shutil.copy(copy / "val/test.jsonl", copy / "val/dev.jsonl"), "val/dev.jsonl: "),
        (lambda copy: (copy / "val/train.jsonl").touch(), "val/train.jsonl: not a file of a submission of suite rader"),
        (lambda copy: next(copy.glob("*.json")).rename(copy / "x.json"), "x.json: is the entry of 'Majority or mean'"),
        (lambda copy: next(copy.glob("*.json")).unlink(), "COPY: no file of the form NAME.json"),
        (lambda copy: (copy / "y.json").write_text("{}"), "COPY: 2 files (Majority or mean.json, y.json) of the form"),
        (lambda copy: next(copy.glob("*.json")).write_text("[1]"), "Majority or mean.json: it must be keys and values"),
    ],
)  # fmt: skip
def test_a_file_that_is_missing_or_too_many_is_one_line(
    damage: Callable[[Path], object], problem: str, check: Check, tmp_path: Path
) -> None:
    damage(tmp_path / "copy")
    status, lines, _ = check()
    assert status == 2 and len(lines) == 1
    assert lines[0].startswith(problem.replace("COPY", str(tmp_path / "copy")))


def edited(*keys: str, value: object = None) -> Callable[[Entry], None]:
    """Puts a value at this place of an entry; without a value, takes the place out."""

    def edit(entry: Entry) -> None:
        for key in keys[:-1]:
            entry = entry[key]
        if value is None:
            del entry[keys[-1]]
        else:
            entry[keys[-1]] = value

    return edit


def edit_entry(folder: Path, edit: Callable[[Entry], None]) -> Path:
    (file,) = folder.glob("*.json")
    entry = read_json(file)
    edit(entry)
    file.write_text(json.dumps(entry), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (edited("tasks", "grad", "dev", "alpha", value=0.99), "tasks.grad.dev.alpha: is 0.99, but the predictions give 0.117647"),
        (edited("tasks", "grad", "dev", "N", value=5), "tasks.grad.dev.N: is 5, but the predictions give 4"),
        (edited("tasks", "grad", "dev", "alpha", value="0.3"), 'tasks.grad.dev.alpha: "0.3" must be a number or null'),
        (edited("tasks", "val", "test", "N", value=float("nan")), "not JSON: JSON is malformed: invalid character"),
        (edited("tasks", "val", "tset", value={}), "tasks.val.tset: unknown split, expected dev or test"),
        (edited("tasks", "ny", value={}), "tasks.ny: unknown task"),
        (edited("tasks", "grad"), "tasks.grad: is missing, though the submission has the task's files"),
        (edited("tasks", "grad", "dev"), "tasks.grad.dev: is missing, or no object"),
        (edited("tasks", "grad", "dev", "alpha"), "tasks.grad.dev.alpha: is missing"),
        (edited("extra", value=1), "extra: unknown key; the template has link, model, tasks"),
        (edited("link", value={"a": 1}), "link: must be a single value"),
        (edited("model", "colour", value="red"), "model.colour: unknown key"),
        (edited("model", "name"), "model.name: must be the system's name"),
        (edited("left_out", value=["borta", "val"]), "left_out: val is not left out: the submission has its files"),
        (edited("left_out", value=["borta", "ny"]), "left_out: suite rader has no task ny"),
    ],
)  # fmt: skip
def test_what_the_template_or_the_files_contradict_is_one_line(
    edit: Callable[[Entry], None], problem: str, check: Check, tmp_path: Path
) -> None:
    file = edit_entry(tmp_path / "copy", edit)
    status, lines, _ = check()
    assert status == 2 and len(lines) == 1
    assert lines[0].startswith(f"{file.name}: {problem}")


def test_a_rounded_figure_and_what_template_or_entry_leave_out_are_no_problems(check: Check, tmp_path: Path) -> None:
    def edit(entry: Entry) -> None:
        entry["tasks"]["grad"]["dev"]["alpha"] = round(entry["tasks"]["grad"]["dev"]["alpha"], 3)
        entry |= {"link": "https://example.org", "left_out": []}

    edit_entry(tmp_path / "copy", edit)
    assert check()[0] == 0
    next((tmp_path / "copy").glob("*.json")).unlink()
    shutil.rmtree(tmp_path / "copy/val")
    assert len(check()[1]) == 1


def test_a_byte_order_mark_is_one_line(check: Check, tmp_path: Path) -> None:
    names = ["Majority or mean.json", "grad/dev.jsonl"]
    for file in (tmp_path / "copy" / name for name in names):
        file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    problem = "begins with a byte order mark; save the file as UTF-8 without one"
    assert check()[:2] == (2, [f"{name}:1: {problem}" for name in names])


def test_a_file_with_many_problems_lists_ten(check: Check, tmp_path: Path) -> None:
    write_lines(tmp_path / "copy/grad/dev.jsonl", ["{}"] * 12)
    lines = check()[1]
    assert len(lines) == 11 and lines[-1].startswith("grad/dev.jsonl: ") and "further problems" in lines[-1]


def test_data_without_a_file_is_one_line(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-submission", str(tmp_path), f"suite={made / 'rader.yaml'}", f"data_dir={tmp_path}"]) == 2
    assert capsys.readouterr().err.endswith(f"{tmp_path}: has no files of suite rader to compare with; set data_dir=\n")
