from dataclasses import replace
from pathlib import Path

import pytest
from command_line import job
from kinds_suite import write_kinds_suite
from mtl.benchmark_making.audits.sheets.draft import draft_sheet, find_license
from mtl.benchmark_making.audits.sheets.form import TO_COMPLETE, form_problems, read_sheet
from sheet_parts import line_of, values_of, write

from mtl.api.cli import main
from mtl.tasks.task import Task


def values(folder: Path, sheet: str, name: str) -> list[str]:
    return values_of(read_sheet(write(folder, sheet)), name)


def test_what_the_data_and_the_suite_file_say(settings: list[str], suite_file: Path) -> None:
    text = suite_file.read_text(encoding="utf-8").replace("  kansla:\n", "  kansla:\n    license: CC0\n")
    source = "    source: {url: 'https://example.org/liten.zip'}\n    labels"
    suite_file.write_text(text.replace("    labels", source, 1), encoding="utf-8")
    sheet, folder = draft_sheet(job(settings), "kansla"), suite_file.parent
    for name, value in {
        "Title*": "kansla",
        "License(s)*": "CC0",
        "Link(s) / permanent identifier(s)*": "https://example.org/liten.zip",
        "Intended task(s)/usage(s)": "Predict 'label' from 'text'",
        "Recommended evaluation measures": "accuracy",
        "Recommended split(s)": "Train, dev, test (provided)",
        "Created by*": TO_COMPLETE,
    }.items():
        assert values(folder, sheet, name) == [value]
    # Every fourth text has four words, the others five.
    lengths = "tokens in 'text': median 5, longest 5, together 285"
    total, train, dev, test = values(folder, sheet, "Dataset in numbers*")
    assert total == "100 items in total"
    assert train == f"train: 60 items; glad: 40 (66.7%), arg: 20 (33.3%); {lengths}"
    assert dev.startswith("dev: 30 items; glad: 20 (66.7%), arg: 10 (33.3%)")
    assert test.startswith("test: 10 items; tokens")
    assert values(folder, sheet, "Format*") == [
        "TSV, UTF-8, one item a line; files: train.tsv, dev.tsv, test.tsv",
        "'text': input",
        "'label': the label to predict, one of glad or arg",
    ]


def test_addresses_of_single_files(settings: list[str], suite_file: Path) -> None:
    text = suite_file.read_text(encoding="utf-8")
    source = "    source: {url: 'https://example.org/{folder}/{file}'}\n    hub: {dataset: mine/betyg}\n"
    suite_file.write_text(f"{text}{source}    files: {{dev: null}}\n", encoding="utf-8")
    sheet = draft_sheet(job(settings), "betyg")
    addresses = [
        "https://example.org/scores/train.tsv",
        "https://example.org/scores/test.tsv",
        "https://huggingface.co/datasets/mine/betyg",
    ]
    assert values(suite_file.parent, sheet, "Link(s) / permanent identifier(s)*") == addresses
    sources = values(suite_file.parent, sheet, "Data source(s)*")
    assert sources == [TO_COMPLETE, *(f"Files: {address}" for address in addresses)]


def test_official_sizes_say_which_splits_the_publisher_has(settings: list[str], suite_file: Path) -> None:
    text = suite_file.read_text(encoding="utf-8")
    source = "    source: {url: 'https://example.org/{folder}/{file}'}\n"
    suite_file.write_text(f"{text}{source}    rows: {{train: 600, test: 10}}\n", encoding="utf-8")
    folder = suite_file.parent
    (folder / "data/scores/test.tsv").unlink()
    sheet = draft_sheet(job(settings), "betyg")
    numbers = values(folder, sheet, "Dataset in numbers*")
    assert numbers[0] == "610 items in total"
    assert numbers[1].startswith("train: 600 items (60 at hand for this draft); score: mean ")
    assert numbers[2].startswith("dev: 30 items (not among the published sizes); ")
    assert numbers[3] == "test: 10 items (none at hand for this draft)"
    addresses = [f"https://example.org/scores/{split}.tsv" for split in ("train", "test")]
    assert values(folder, sheet, "Link(s) / permanent identifier(s)*") == addresses
    assert values(folder, sheet, "Dataset function(s)") == ["Training"]
    assert values(folder, sheet, "Recommended split(s)") == ["Train (provided)"]
    assert values(folder, sheet, "Format*")[0].endswith("files: train.tsv")


@pytest.mark.parametrize("task", ["mood", "stars", "answer", "opposite", "mood-elsewhere"])
def test_a_draft_of_each_kind_lacks_only_what_is_to_be_completed(tmp_path: Path, task: str) -> None:
    suite = write_kinds_suite(tmp_path)
    made = job([f"suite={suite}", f"data_dir={tmp_path / 'data'}", f"cache_dir={tmp_path / 'cache'}"])
    sheet = draft_sheet(made, task)
    found = form_problems(read_sheet(write(tmp_path, sheet)))
    assert found and all("is still to be completed" in problem.message for problem in found)
    assert form_problems(read_sheet(write(tmp_path, sheet.replace(TO_COMPLETE, "known")))) == []


def test_out(settings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *settings, "--sheet", "kansla"]) == 0
    printed = capsys.readouterr().out
    assert line_of(printed, "III. DATA") > 1
    assert main(["audit", *settings, "--sheet", "kansla", "--out", str(tmp_path / "new/sheet.tsv")]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "new/sheet.tsv").read_text(encoding="utf-8") == printed
    (tmp_path / "new/sheet.tsv").write_text("completed", encoding="utf-8")
    assert main(["audit", *settings, "--sheet", "kansla", "--out", str(tmp_path / "new/sheet.tsv")]) == 2
    assert "already there" in capsys.readouterr().err
    assert (tmp_path / "new/sheet.tsv").read_text(encoding="utf-8") == "completed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sheet", "none"], "--sheet none: suite liten has no such task; it has kansla, samma, betyg"),
        (["--out", "sheet.tsv"], "--out sheet.tsv: is for --sheet TASK only"),
        (["--sheet", "kansla", "data_dir=none"], "--sheet kansla: no file of the task can be read in none"),
    ],
)
def test_bad_input(settings: list[str], arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *settings, *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and message in printed.err and printed.err.count("\n") == 1


TASK = Task(id="one", text=["text"], target="label", metric="accuracy")
TABLE = """\
# Data

| task | rows | licence, as published |
|---|---|---|
| one | 10 | CC BY 4.0 |
| `two` | 10 | |

| task | rows |
|---|---|
| three | 10 |
"""


@pytest.mark.parametrize(
    ("readme", "id", "license"),
    [
        (TABLE, "one", "CC BY 4.0"),
        (TABLE, "two", None),
        (TABLE, "three", None),
        ("Text.\n\n**License:** MIT\n", "one", "MIT"),
        ("- Licence: CC BY-SA 4.0.\n", "one", "CC BY-SA 4.0"),
        ("The licence is not known.\n", "one", None),
    ],
)
def test_readme_of_the_data(tmp_path: Path, readme: str, id: str, license: str | None) -> None:
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    assert find_license(replace(TASK, id=id), tmp_path) == license


def test_the_nearest_source_counts(tmp_path: Path) -> None:
    task = replace(TASK, folder="sub")
    assert find_license(task, tmp_path) is None
    (tmp_path / "README.md").write_text("License: far\n", encoding="utf-8")
    assert find_license(task, tmp_path) == "far"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/README.md").write_text("License: near\n", encoding="utf-8")
    assert find_license(task, tmp_path) == "near"
    assert find_license(replace(task, license="own"), tmp_path) == "own"
