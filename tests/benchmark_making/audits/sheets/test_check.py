from pathlib import Path

import pytest
from sheet_parts import complete, line_of, write

from mtl.api.cli import main


def test_findings_have_one_line_each_and_the_exit_status_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, complete())
    assert main(["audit", "--check-sheet", str(path)]) == 0
    assert capsys.readouterr() == (f"{path}: nothing found\n", "")
    sheet = complete(Title="", Abstract="").replace("Abstract*", "Abstrakt", 1)
    assert main(["audit", "--check-sheet", str(write(tmp_path, sheet))]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{path}:2: obligatory field 'Title*' has no value",
        f"{path}:{line_of(sheet, 'License')}: no field 'Abstract*', which is obligatory; it stands after 'License(s)*'",
        f"{path}:{line_of(sheet, 'Abstrakt')}: unknown field 'Abstrakt'; did you mean 'Abstract*'?",
    ]


def test_a_file_that_is_no_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (write(tmp_path, "text\tlabel\n"), tmp_path / "none.tsv"):
        assert main(["audit", "--check-sheet", str(path)]) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.startswith(f"mtl: error: {path}: ") and printed.err.count("\n") == 1
