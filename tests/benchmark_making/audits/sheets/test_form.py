import os
from pathlib import Path

import pytest
from input_errors import raises_input_error
from mtl.benchmark_making.audits.sheets.form import (
    ORDER,
    TO_COMPLETE,
    form_problems,
    is_obligatory,
    read_sheet,
    write_sheet,
)
from mutations import message_of, mutated_bytes
from sheet_parts import complete, line_of, values_of, write

from mtl.api.cli import main


def problems(folder: Path, text: str | bytes) -> list[tuple[int, str]]:
    return [(problem.line, problem.message) for problem in form_problems(read_sheet(write(folder, text)))]


def test_a_complete_sheet_has_no_problem_and_an_empty_one_marks_the_obligatory_fields(tmp_path: Path) -> None:
    sheet = complete()
    assert problems(tmp_path, sheet) == []
    assert {line.count("\t") for line in sheet.removesuffix("\n").split("\n")} == {1}
    found = problems(tmp_path, write_sheet({}))
    assert len(found) == write_sheet({}).count(TO_COMPLETE) == 22  # 28 without the six headings
    assert (2, "field 'Title*' is still to be completed") in found
    # The template is Superlim's.
    assert len(ORDER) == 43 and sum(map(is_obligatory, ORDER)) == 28
    assert ORDER[:2] == ["I. IDENTIFYING INFORMATION", "Title*"]
    assert ORDER[-3:] == ["VI. OTHER", "Related projects", "References"]


def test_blank_cells_and_line_ends_carry_no_meaning(tmp_path: Path) -> None:
    """A spreadsheet pads lines; a published sheet has further lines of a value in the third cell."""
    sheet = complete(References=["[1]", "[2]"]).replace("\t[2]", "\t\t[2]").replace("\n\t\n", "\n\n")
    assert problems(tmp_path, sheet.replace("\n", "\t\r\n")) == []
    assert problems(tmp_path, complete(Format='"""id"": the row\'\'s id\'"')) == []
    read = read_sheet(write(tmp_path, complete(License=["CC BY 4.0", "and\tMIT\n"])))
    assert values_of(read, "License(s)*") == ["CC BY 4.0", "and MIT"]


@pytest.mark.parametrize("name", ["License(s)*", "III. DATA", "Documentation template version*", "VI. OTHER", "Title*"])
def test_a_missing_heading_or_obligatory_field(tmp_path: Path, name: str) -> None:
    sheet = complete()
    before = ORDER[ORDER.index(name) - 1]
    lines = [line for line in sheet.split("\n") if not line.startswith(name)]
    line, message = problems(tmp_path, "\n".join(lines))[0]
    assert line == line_of(sheet, before)
    assert message.startswith("no ") and repr(name) in message and repr(before) in message


def test_only_obligatory_fields_need_a_value_and_own_fields_the_last_heading(tmp_path: Path) -> None:
    sheet = complete(Language=["  "])
    assert problems(tmp_path, sheet) == [(line_of(sheet, "Language*"), "obligatory field 'Language*' has no value")]
    assert problems(tmp_path, complete(Language=["", "Swedish"])) == []
    sheet = "".join(f"{line}\n" for line in complete().splitlines() if not line.startswith("Subtitle"))
    assert problems(tmp_path, sheet) == []
    missing = [(1, "no heading 'I. IDENTIFYING INFORMATION'; it is the first line")]
    assert problems(tmp_path, complete().split("\n", 1)[1]) == missing
    # Fields of its own are under the last heading only.
    assert problems(tmp_path, complete() + "Contact\tme\n") == []
    sheet = complete().replace("Language*\t", "Dialect\tall\nLanguage\t")
    first, second, missing = sorted(problems(tmp_path, sheet), key=lambda found: "no field" in found[1])
    assert first == (line_of(sheet, "Dialect"), "unknown field 'Dialect'; only 'VI. OTHER' may have fields of its own")
    assert second == (line_of(sheet, "Language"), "unknown field 'Language'; did you mean 'Language*'?")
    assert "no field 'Language*'" in missing[1]


def test_order(tmp_path: Path) -> None:
    """Of a section that moved, only its entries are named, not all that follow."""
    lines = complete().splitlines()
    moved = [*lines[:1], lines[2], lines[1], *lines[3:]]
    assert [line for line, _ in problems(tmp_path, "\n".join(moved))] in ([2], [3])
    start, end = line_of(complete(), "IV.") - 1, line_of(complete(), "V. ") - 1
    found = problems(tmp_path, "\n".join([*lines[:start], *lines[end:], *lines[start:end]]))
    names = ["IV. ETHICS AND CAVEATS", "Ethical considerations", "Things to watch out for"]
    assert [message.split("'")[1] for _, message in found] == names
    assert found[0][1].endswith("it stands after 'Annotator characteristics'")
    twice = complete().replace("Language*\t", "Language*\tSwedish\nLanguage*\t")
    line = line_of(twice, "Language*")
    assert problems(tmp_path, twice) == [(line + 1, f"'Language*' is a second time in the sheet, first in line {line}")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Language* Swedish", "1 cell; a line has two"),
        ("Language*\tSwedish\tand more", "3 cells with text; a line has two"),
        ("\tone\ttwo", "3 cells with text"),
        ("Language*\tlÃ¤nge", "UTF-8 that was read in another encoding, such as “Ã¤”"),
        ("Language*\ta\u0085b", "the control character \\x85"),
        ("Language*\ta\ufffdb", "the sign for a lost character"),
    ],
)
def test_damaged_lines(tmp_path: Path, line: str, message: str) -> None:
    sheet = complete(Language="Swedish").replace("Language*\tSwedish", f"Language*\tSwedish\n{line}")
    at = line_of(sheet, "Language*") + 1
    assert any(number == at and message in text for number, text in problems(tmp_path, sheet))


def test_encoding_and_values_without_a_field(tmp_path: Path) -> None:
    sheet = complete(Language="på svenska")
    line = line_of(sheet, "Language*")
    assert problems(tmp_path, sheet.encode("cp1252")) == [(line, "not UTF-8 (byte 0xe5); save the sheet as UTF-8")]
    assert problems(tmp_path, sheet.encode("utf-8-sig"))[0][1].startswith("begins with a byte order mark")
    assert problems(tmp_path, f"\tfirst\n{sheet}") == [(1, "a value without a field")]
    usage = (line_of(sheet, "II. "), "heading 'II. USAGE' has a value; put it into a field")
    assert problems(tmp_path, sheet.replace("II. USAGE\t", "II. USAGE\tmuch")) == [usage]


@pytest.mark.parametrize(
    "content",
    [b"", b"text\tlabel\nsol\tglad\n", b"\x00\xff\n", *(complete().encode(form) for form in ("utf-16", "utf-16-be"))],
    ids=["empty", "data", "bytes", "UTF-16", "UTF-16 without a mark"],
)
def test_a_file_that_is_no_sheet(tmp_path: Path, content: bytes) -> None:
    with raises_input_error(file="kansla_documentation_sheet.tsv"):
        read_sheet(write(tmp_path, content))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    assert main(["audit", "--check-sheet", str(tmp_path / "none.tsv")]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith(f"mtl: error: {tmp_path}/none.tsv: ")


def test_a_damaged_sheet_is_read_or_one_line(tmp_path: Path) -> None:
    sheet = complete().encode()
    for what, content in mutated_bytes(sheet, 200):
        message_of(lambda content=content: form_problems(read_sheet(write(tmp_path, content))), what)  # type: ignore[misc]


def test_a_sheet_that_is_no_file_or_too_large_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.tsv")
    for path, file in ((tmp_path / "pipe.tsv", "pipe.tsv"), (tmp_path, "TMP")):
        with raises_input_error(file=file):
            read_sheet(path)
    monkeypatch.setattr("mtl.benchmark_making.audits.sheets.form.SHEET_LIMIT", 10)
    with raises_input_error(file="kansla_documentation_sheet.tsv"):
        read_sheet(write(tmp_path, complete()))
