"""Near duplicates of a suite's rows, and a copy of its data without those that leak."""

import json
from pathlib import Path

import pytest
from command_line import job
from input_errors import raises_input_error
from small_suite import write_tsv

from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.benchmark_making.audits.clean_copy import copy_rows, write_clean
from mtl.benchmark_making.audits.near import Hit, find_near, near_findings
from mtl.benchmark_making.data_files import write_records
from mtl.benchmark_making.text_units import ngrams
from mtl.jobs.job import Job
from mtl.tasks.layout import Layout, Reading

SUITE = """\
name: lik
title: Lik
language: sv
files: {dev: %s, test: test.tsv}
tasks:
  ton:
    text: [text]
    target: label
    labels: [bra, dålig]
    metric: accuracy
    rows: {train: 5, dev: 2}
"""
LONG = "den gamla mannen gick långsamt över bron och hem igen"
ROWS = {
    "train": [
        (LONG, "bra"),
        (LONG.upper() + "!", "bra"),
        ("något helt annat som ingen har skrivit förut", "dålig"),
        ("vädret är vackert idag tycker alla här", "bra"),
        ("Vädret är vackert  idag tycker alla här.", "dålig"),
    ],
    "dev": [(LONG + ".", "bra"), ("en egen mening", "dålig")],
    "test": [("en egen mening", "dålig"), ("ingen liknar denna", "bra")],
}


def settings_of(folder: Path) -> list[str]:
    return [f"suite={folder / 'lik.yaml'}", f"data_dir={folder / 'data'}"]


def suite_job(folder: Path, dev: str = "dev.tsv") -> Job:
    (folder / "lik.yaml").write_text(SUITE % dev, encoding="utf-8")
    for split, rows in ROWS.items():
        write_tsv(folder / f"data/{split}.tsv", ("text", "label"), *rows)
    return job(settings_of(folder))


def lines(near: list[Hit], split: str, source: str) -> list[tuple[int, int]]:
    hits = [each for each in near if (each.part.split, each.source.split) == (split, source)]
    return [(each.row.line, each.match.line) for each in hits]


def test_rows_that_are_nearly_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ((_, near),) = find_near(suite_job(tmp_path))
    assert lines(near, "dev", "train") == [(2, 2)]
    assert lines(near, "train", "train") == [(3, 2), (6, 5)]
    assert lines(near, "train", "dev") == [(2, 2), (3, 2)]
    assert lines(near, "test", "dev") == [(2, 3)] and lines(near, "test", "train") == []
    (leak,) = [hit for hit in near if (hit.part.split, hit.source.split) == ("dev", "train")]
    first, second = (set(ngrams(text)) for text in (LONG + ".", LONG))
    assert leak.similarity == pytest.approx(len(first & second) / len(first | second))
    found = {(finding.split, finding.count): finding.what for finding in near_findings(near)}
    assert set(found) == {("train", 2), ("dev", 1), ("test", 1)}
    assert "1 of them with the same target" in found["train", 2]
    assert main(["audit", *settings_of(tmp_path), "--near", "--strict"]) == 1
    printed = capsys.readouterr().out
    assert "| ton  | dev   |    2 |                   1 |                 0 |" in printed and "3 findings" in printed


def test_marked_words_tell_equal_texts_apart(tmp_path: Path) -> None:
    suite = SUITE.replace("text: [text]", "text: [text]\n    spans: {text: [span]}") % "dev.jsonl"
    text = suite.replace("test: test.tsv", "test: null, train: train.jsonl")
    (tmp_path / "lik.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "data").mkdir()
    names = ["text", "label", "span.start", "span.stop"]
    for split, spans in (("train", [(0, 3), (4, 9)]), ("dev", [(4, 9), (10, 16)])):
        write_records(tmp_path / f"data/{split}.jsonl", names, [(LONG, "bra", *span) for span in spans])
    ((_, near),) = find_near(job(settings_of(tmp_path)))
    assert lines(near, "dev", "train") == [(1, 2)] and lines(near, "train", "train") == []


def test_a_copy_without_leaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite_job(tmp_path)
    out = tmp_path / "clean"
    assert main(["audit", *settings_of(tmp_path), "--write-clean", str(out)]) == 0
    assert "2 of 5 rows of ton train, 1 of 2 rows of ton dev left out" in capsys.readouterr().out
    kept = (out / "data/train.tsv").read_text(encoding="utf-8").splitlines()
    assert kept == ["text\tlabel", *("\t".join(row) for row in ROWS["train"][2:])]
    assert (out / "data/test.tsv").read_bytes() == (tmp_path / "data/test.tsv").read_bytes()
    log = [json.loads(line) for line in (out / "removed.jsonl").read_text(encoding="utf-8").splitlines()]
    left = {"train.tsv:2": "dev.tsv:2", "train.tsv:3": "dev.tsv:2", "dev.tsv:3": "test.tsv:2"}
    assert {row["row"]: row["like"] for row in log} == left
    copy = job([f"suite={out / 'suite.yaml'}"])
    assert (copy.suite.name, copy.suite.title) == ("lik-clean", "Lik (clean)") and copy.suite.clean
    runs = tmp_path / "runs"
    assert main(["baseline", f"suite={out / 'suite.yaml'}", "method=constant", f"run_dir={runs}"]) == 0
    capsys.readouterr()
    assert main(["report", str(runs), "--out", str(tmp_path / "report")]) == 0
    report = (tmp_path / "report/report.md").read_text(encoding="utf-8")
    assert "Lik (clean)" in report and "Clean data: a copy without near duplicates" in report and "†" in report


def test_of_training_rows_the_first_stays_where_dev_is_held_out_of_them(tmp_path: Path) -> None:
    write_clean(suite_job(tmp_path, "null"), tmp_path / "clean")
    kept = (tmp_path / "clean/data/train.tsv").read_text(encoding="utf-8").splitlines()
    assert kept[1:] == ["\t".join(ROWS["train"][place]) for place in (0, 2, 3)]
    answered = "  svar: {text: [text], target: label, answered_by: ton, scored: test, metric: accuracy, files: {train: null, dev: null}}\n"
    (tmp_path / "lik.yaml").write_text(SUITE % "dev.tsv" + answered, encoding="utf-8")
    (_, own), (_, of_answered) = find_near(job(settings_of(tmp_path)))
    assert lines(own, "train", "train") == [(3, 2), (6, 5)] and lines(of_answered, "train", "train") == []
    write_tsv(tmp_path / "data/test.tsv", ("text", "label"), ROWS["train"][3])  # both tasks find the training row
    write_clean(job(settings_of(tmp_path)), tmp_path / "svar")
    assert (tmp_path / "svar/removed.jsonl").read_text("utf-8").count('"task": "ton", "row": "train.tsv:5"') == 1


def test_the_suite_of_a_copy_has_the_copied_tasks_alone(tmp_path: Path) -> None:
    suite_job(tmp_path)
    other = "  annan: {folder: annan, text: [text], target: label, labels: [bra, dålig], metric: accuracy}\n"
    (tmp_path / "lik.yaml").write_text(SUITE % "dev.tsv" + other, encoding="utf-8")
    report = write_clean(job([*settings_of(tmp_path), "tasks=[ton]"]), tmp_path / "clean")
    assert "not in the copy: annan" in report
    assert [*job([f"suite={tmp_path / 'clean/suite.yaml'}"]).suite.tasks] == ["ton"]


def test_rows_of_other_formats_leave_too(tmp_path: Path) -> None:
    for suffix in ("csv", "jsonl"):
        folder = tmp_path / suffix
        (folder / "data").mkdir(parents=True)
        text = (SUITE % f"dev.{suffix}").replace("test: test.tsv", f"test: null, train: train.{suffix}")
        (folder / "lik.yaml").write_text(text, encoding="utf-8")
        split = [("två rader\noch ett, komma", "bra"), *ROWS["train"]]
        write_records(folder / f"data/train.{suffix}", ["text", "label"], split)
        write_records(folder / f"data/dev.{suffix}", ["text", "label"], ROWS["dev"])
        write_clean(job(settings_of(folder)), folder / "out")
        copied = job([f"suite={folder / 'out/suite.yaml'}"])
        ((files, near),) = find_near(copied)
        texts = [row.texts[0] for row in files.as_read["train"].rows]
        assert texts == [split[0][0], *(text for text, _ in ROWS["train"][2:])]
        assert lines(near, "train", "dev") == []


def test_what_is_refused(tmp_path: Path) -> None:
    made = suite_job(tmp_path)
    assert main(["audit", *settings_of(tmp_path), "--strict", "--write-clean", str(tmp_path / "clean")]) == 2
    for rows in (ROWS["train"][:2], [("a", "b", "c")]):  # no row would stay; a damaged file
        write_tsv(tmp_path / "data/train.tsv", ("text", "label"), *rows)
        with raises_input_error():
            write_clean(made, tmp_path / "clean")
        assert not (tmp_path / "clean").exists()
    # Only plain files with a row a line are copied without rows.
    path = tmp_path / "a.csv"
    path.write_text("n;m\n1;1\n2;2\n")
    copy_rows(path, tmp_path / "copy.csv", [2, 3], {2}, Layout(reading=Reading(separator=";")))
    assert (tmp_path / "copy.csv").read_text() == "n;m\n2;2\n"
    for name, part in (("a.json", None), ("a.parquet", None), ("a.csv", "n=1"), ("a.csv.gz", None)):
        with pytest.raises(InputError, match="plain files"):
            copy_rows(tmp_path / name, tmp_path / "x", [2, 3], {2}, Layout(part=part))
