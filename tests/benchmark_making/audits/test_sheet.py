"""Drafts of documentation sheets: what the data and the suite file say, and what is left to complete."""

from pathlib import Path

import pytest
from command_line import job
from kinds_suite import write_kinds_suite

from mtl.api.cli import main
from mtl.benchmark_making.audits.sheet import TEMPLATE, TO_COMPLETE, draft_sheet

FIELDS = [name for fields in TEMPLATE.values() for name in fields]
SOURCE = "    source: {url: 'https://example.org/{folder}/{file}'}\n"


def values(sheet: str) -> dict[str, list[str]]:
    """The lines of each field's value, by field."""
    fields: dict[str, list[str]] = {}
    for line in sheet.splitlines():
        name, value = line.split("\t")
        if name:
            fields[name] = [value]
        elif value:
            list(fields.values())[-1].append(value)
    return fields


def test_what_the_data_and_the_suite_file_say(settings: list[str], suite_file: Path) -> None:
    text = suite_file.read_text(encoding="utf-8").replace("  kansla:\n", "  kansla:\n    license: CC0\n")
    source = "    source: {url: 'https://example.org/liten.zip'}\n    labels"
    suite_file.write_text(text.replace("    labels", source, 1), encoding="utf-8")
    sheet = values(draft_sheet(job(settings), "kansla"))
    expected = {
        "Title*": "kansla",
        "License(s)*": "CC0",
        "Link(s) / permanent identifier(s)*": "https://example.org/liten.zip",
        "Intended task(s)/usage(s)": "Predict 'label' from 'text'",
        "Recommended evaluation measures": "accuracy",
        "Recommended split(s)": "Train, dev, test (provided)",
        "Created by*": TO_COMPLETE,
    }
    assert {name: sheet[name] for name in expected} == {name: [value] for name, value in expected.items()}
    # Every fourth text has four words, the others five.
    lengths = "tokens in 'text': median 5, longest 5, together 285"
    total, train, dev, test = sheet["Dataset in numbers*"]
    assert (total, train) == ("100 items in total", f"train: 60 items; label: glad 66.7%, arg 33.3%; {lengths}")
    assert dev.startswith("dev: 30 items; label: glad 66.7%, arg 33.3%") and test.startswith("test: 10 items; tok")
    assert sheet["Format*"] == [
        "TSV, UTF-8, one item a line; files: train.tsv, dev.tsv, test.tsv",
        "'text': input",
        "'label': the target to predict: glad, arg",
    ]


def test_official_sizes_say_which_splits_the_publisher_has(settings: list[str], suite_file: Path) -> None:
    text = suite_file.read_text(encoding="utf-8")
    hub = "    hub: {dataset: mine/betyg}\n    rows: {train: 600, test: 10}\n"
    suite_file.write_text(f"{text}{SOURCE}{hub}", encoding="utf-8")
    (suite_file.parent / "data/scores/test.tsv").unlink()
    sheet = values(draft_sheet(job(settings), "betyg"))
    numbers = sheet["Dataset in numbers*"]
    assert numbers[0] == "610 items in total"
    assert numbers[1].startswith("train: 600 items (60 at hand for this draft); score: mean ")
    assert numbers[2].startswith("dev: 30 items; ")
    assert numbers[3] == "test: 10 items (0 at hand for this draft)"
    addresses = [f"https://example.org/scores/{split}.tsv" for split in ("train", "test")]
    addresses.append("https://huggingface.co/datasets/mine/betyg")
    assert sheet["Link(s) / permanent identifier(s)*"] == addresses
    assert sheet["Data source(s)*"] == [TO_COMPLETE, *(f"Files: {address}" for address in addresses)]
    assert sheet["Dataset function(s)"] == ["Training"] and sheet["Recommended split(s)"] == ["Train (provided)"]
    assert sheet["Format*"][0].endswith("files: train.tsv")


@pytest.mark.parametrize("task", ["mood", "stars", "answer", "opposite", "mood-elsewhere"])
def test_a_draft_of_each_kind_has_the_template_and_a_value_in_each_obligatory_field(tmp_path: Path, task: str) -> None:
    suite = write_kinds_suite(tmp_path)
    made = job([f"suite={suite}", f"data_dir={tmp_path / 'data'}", f"cache_dir={tmp_path / 'cache'}"])
    sheet = values(draft_sheet(made, task))
    assert list(sheet) == [name for heading, fields in TEMPLATE.items() for name in (heading, *fields)]
    assert (len(sheet), sum(name.endswith("*") for name in FIELDS)) == (43, 22)  # as Superlim's template
    assert all(sheet[name][0] for name in FIELDS if name.endswith("*"))


def test_the_command(settings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *settings, "--sheet", "kansla"]) == 0
    assert capsys.readouterr().out == draft_sheet(job(settings), "kansla")
    for words, message in (
        (["none"], "--sheet none: suite liten has no such task; it has kansla, samma, betyg"),
        (["kansla", "data_dir=none"], "--sheet kansla: no file of the task can be read in none"),
    ):
        assert main(["audit", *settings, "--sheet", *words]) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and message in printed.err and printed.err.count("\n") == 1
