from pathlib import Path

import pytest
from sheet_parts import complete, line_of, write

from mtl.api.cli import main

TRUE = "100 texts: 60 train, 30 dev and 10 test"


def check(settings: list[str], path: Path, *more: str) -> int:
    return main(["audit", *settings, "--check-sheet", str(path), *more])


def test_findings_have_one_line_each_and_the_exit_status_says_so(
    settings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, complete(Dataset_in_numbers=TRUE))
    assert check(settings, path) == 0
    assert capsys.readouterr() == (f"{path}: nothing found\n", "")
    sheet = complete(Dataset_in_numbers=TRUE.replace("60", "61"), Title="")
    assert check(settings, write(tmp_path, sheet)) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{path}:2: obligatory field 'Title*' has no value",
        f"{path}:{line_of(sheet, 'Dataset in numbers')}: says that train has 61 rows; train.tsv has 60",
    ]


def test_reduced_files_are_logged(settings: list[str], suite_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = suite_file.read_text(encoding="utf-8")
    suite_file.write_text(text + "    rows: {train: 600, dev: 30, test: 10}\n", encoding="utf-8")
    path = write(suite_file.parent, complete(Dataset_in_numbers="600 train, 30 dev"), "betyg_sheet.tsv")
    assert check(settings, path) == 0
    unknown = write(suite_file.parent, complete(Dataset_in_numbers="601 train, 30 dev"), "betyg_sheet.tsv")
    assert check(settings, unknown) == 0
    message = "says that train has 601 rows; scores/train.tsv has 60, the suite file has 600; no finding"
    assert message in caplog.text
    wrong = write(suite_file.parent, complete(Dataset_in_numbers="600 train, 31 dev"), "betyg_sheet.tsv")
    assert check(settings, wrong) == 1
    assert "betyg: train has 60 rows here, officially 600; a sheet may give either number" in caplog.text


def test_the_file_s_name_or_tasks_says_which_tasks_it_is_about(
    settings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = complete(Dataset_in_numbers="61 train")
    # `scores` is the folder of betyg.
    for name in ("kansla_documentation-sheet.tsv", "kansla.tsv", "scores-sheet.tsv"):
        assert check(settings, write(tmp_path, sheet, name)) == 1
    for name in ("sheet.tsv", "kanslan_sheet.tsv"):
        path = write(tmp_path, sheet, name)
        assert check(settings, path) == 2
        assert "its name begins with no task's id or folder of suite liten" in capsys.readouterr().err
        assert check(settings, path, "tasks=[betyg]") == 1


def test_a_file_that_is_no_sheet(settings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (write(tmp_path, "text\tlabel\n"), tmp_path / "kansla_none.tsv"):
        assert check(settings, path) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.startswith(f"mtl: error: {path}: ") and printed.err.count("\n") == 1
