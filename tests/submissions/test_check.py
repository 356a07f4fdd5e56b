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
from golden import check_golden
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
    assert read_json(tmp_path / "other/Majority or mean.json")["tasks"]["grad"]["dev"]["alpha"] is None


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
        predicting(place, number)(rows)
    write_lines(file, rows)
    status, lines, _ = check()
    assert status == 0 and lines[0] == "grad/test.jsonl: 2 of 4 predictions are outside 0 to 5"
    assert lines[-1].endswith("which are not the official ones")


Change = Callable[[Path], object]


def in_rows(name: str, edit: Callable[[Rows], object]) -> Change:
    def change(copy: Path) -> None:
        rows = read(copy / f"{name}.jsonl")
        edit(rows)
        write_lines(copy / f"{name}.jsonl", rows)

    return change


def predicting(place: int, prediction: str) -> Callable[[Rows], None]:
    return replaced(place, '"prediction": .*}', f'"prediction": {prediction}}}')


def in_entry(*keys: str, value: object = None) -> Change:
    """Puts a value at this place of an entry; without a value, takes the place out."""

    def edit(entry: Entry) -> None:
        for key in keys[:-1]:
            entry = entry[key]
        if value is None:
            del entry[keys[-1]]
        else:
            entry[keys[-1]] = value

    return lambda copy: edit_entry(copy, edit)


def edit_entry(folder: Path, edit: Callable[[Entry], None]) -> None:
    (file,) = folder.glob("*.json")
    entry = read_json(file)
    edit(entry)
    file.write_text(json.dumps(entry), encoding="utf-8")


ALPHA = ("tasks", "grad", "dev", "alpha")
PROBLEMS: list[Change] = [
    *(in_rows("grad/dev", lambda rows: rows.pop(1)), in_rows("grad/dev", lambda rows: rows.insert(2, rows[0]))),
    *(in_rows("grad/dev", lambda rows: rows.insert(0, rows.pop(1))), in_rows("grad/dev", lambda rows: rows.insert(1, ""))),
    *(in_rows("grad/dev", replaced(0, "1e-5", "1e-4")), in_rows("grad/dev", replaced(0, "\x85", " "))),
    *(in_rows("grad/dev", replaced(1, '"a":2', '"a":2,"c":3')), in_rows("grad/dev", replaced(1, ',"a":2', ""))),
    *(in_rows("grad/test", replaced(1, "null", "2.0")), in_rows("grad/dev", replaced(2, ', "prediction": .*}', "}"))),
    *(in_rows("grad/dev", predicting(2, prediction)) for prediction in ('"3"', "1e101", "NaN")),
    *(in_rows("val/test", predicting(3, prediction)) for prediction in ("0.0", "2")),
    *(in_rows("par/test", replaced(0, '"ja"}', '"Ja"}')), lambda copy: shutil.rmtree(copy / "val")),
    *(lambda copy: (copy / "grad/dev.jsonl").unlink(), lambda copy: (copy / "val/train.jsonl").touch()),
    lambda copy: shutil.copy(copy / "val/test.jsonl", copy / "val/dev.jsonl"),
    lambda copy: next(copy.glob("*.json")).rename(copy / "x.json"),
    *(lambda copy: next(copy.glob("*.json")).unlink(), lambda copy: (copy / "y.json").write_text("{}")),
    *(lambda copy: next(copy.glob("*.json")).write_text("[1]"), in_entry("tasks", "grad", "dev", "N", value=5)),
    *(in_entry(*ALPHA, value=0.99), in_entry(*ALPHA, value="0.3"), in_entry(*ALPHA), in_entry("tasks", "grad")),
    *(in_entry("tasks", "val", "test", "N", value=float("nan")), in_entry("tasks", "val", "tset", value={})),
    *(in_entry("tasks", "ny", value={}), in_entry("tasks", "grad", "dev"), in_entry("tasks", "grad", "dev", value=5), in_entry("extra", value=1)),
    *(in_entry("link", value={"a": 1}), in_entry("model", "colour", value="red"), in_entry("model", "name")),
    *(in_entry("left_out", value=["borta", left_out]) for left_out in ("val", "ny")),
]  # fmt: skip


def test_each_problem_is_one_line_that_says_where(check: Check, made: Path, tmp_path: Path) -> None:
    said = []
    for number, change in enumerate(PROBLEMS):
        copy = Path(shutil.copytree(tmp_path / "copy", tmp_path / str(number)))
        change(copy)
        status, lines, error = check(copy)
        assert status == 2 and len(lines) == 1 and "(1 problem)" in error, lines
        said.append(lines[0].replace(str(made / "data"), "DATA").replace(str(copy), "COPY"))
    check_golden("submission-problems.txt", "\n".join(said) + "\n")


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
