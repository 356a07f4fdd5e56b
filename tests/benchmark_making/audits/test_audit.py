from pathlib import Path

import pytest
from audit_parts import only
from command_line import job
from input_errors import raises_input_error
from small_suite import write_tsv

from mtl.api.cli import main
from mtl.benchmark_making.audits.audit import Audit, audit


def run(settings: list[str], *more: str) -> Audit:
    return audit(job([*settings, *more]))


@pytest.fixture(autouse=True)
def data(suite_file: Path) -> Path:
    """The small suite's data, with its pairs replaced by 60 different ones, three per topic."""
    folder = suite_file.parent / "data"
    pairs = [(str(i // 3), f"fråga {i}", f"svar {i}", str(i % 2)) for i in range(60)]
    write_tsv(folder / "pairs/train.tsv", ("topic", "a", "b", "same"), *pairs)
    return folder


def kinds(done: Audit) -> list[tuple[str, str, str, int]]:
    return [(f.kind, f.task, f.split, f.count) for f in done.findings]


def lines_of(path: Path) -> list[tuple[str, ...]]:
    return [tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()]


def test_clean_suite_has_no_finding(settings: list[str]) -> None:
    done = run(settings)
    assert kinds(done) == []
    assert done.report.splitlines()[-1] == "nothing found"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.report.splitlines() if "|" in line]
    # Every fourth text has four words, the others five.
    assert cells[2][:5] == ["kansla", "train", "60", "5", "5"]
    rows = {(row[0], row[1]): row[2] for row in reversed(cells)}  # the first table
    assert rows["kansla", "test"] == "10" and rows["samma", "train"] == "60" and rows["samma", "dev (held out)"] == "6"
    assert ["kansla", "train", "glad 66.7%, arg 33.3%"] in cells


def test_unreadable_file_is_a_finding_and_the_audit_continues(settings: list[str], data: Path) -> None:
    (data / "dev.tsv").write_bytes(b"text\tlabel\nsol\tglad\nregn\n")
    rows = lines_of(data / "scores/test.tsv")
    write_tsv(data / "scores/test.tsv", *rows, rows[-1])
    done = run(settings)
    assert kinds(done) == [("unreadable", "kansla", "dev", 1), ("duplicates", "betyg", "test", 1)]
    assert "**kansla dev**: dev.tsv:3: 1 cells where the header has 2" in done.report
    assert "| kansla | train" in done.report and "| kansla | dev" not in done.report


def test_numbers_of_rows_and_checksums_are_compared_with_those_of_the_suite(
    settings: list[str], suite_file: Path
) -> None:
    """A file with another checksum is a finding of its own unless its rows are counted."""
    zeros = f"'sha256:{'0' * 64}'"
    text = suite_file.read_text(encoding="utf-8")
    text = text.replace("tasks:", "source: {url: 'https://example.org/{folder}/{file}'}\ntasks:", 1)
    declared = f"checksums: {{train: {zeros}, dev: {zeros}}}\n    rows: {{train: 60, dev: 31, test: 8}}"
    suite_file.write_text(text.replace("  betyg:\n", f"  betyg:\n    {declared}\n"), encoding="utf-8")
    done = run(settings)
    counts = [("row count", "betyg", "dev", 1), ("row count", "betyg", "test", 2)]
    assert kinds(done) == [("checksum", "betyg", "train", 1), *counts]
    assert "30 rows, fewer than the 31 published (scores/dev.tsv)" in done.report
    assert "10 rows, more than the 8 published" in done.report
    assert "the file differs from the one whose checksum the suite names (scores/train.tsv)" in done.report
    assert done.report.splitlines()[-1] == "3 findings in 1 task"


def test_what_missing_files_mean_follows_from_the_suite(settings: list[str], data: Path, suite_file: Path) -> None:
    (data / "scores/dev.tsv").unlink()
    (data / "pairs/train.tsv").unlink()
    done = run(settings)
    assert kinds(done) == [("missing", "samma", "", 1), ("missing", "betyg", "", 1)]
    assert "**samma**: all of its files are missing: pairs/train.tsv" in done.report
    assert "**betyg**: some of its files are missing: scores/dev.tsv" in done.report
    assert "a run must leave the task out (tasks=)." in done.report
    text = suite_file.read_text(encoding="utf-8")
    text = text.replace("  samma:\n", "  samma:\n    withdrawn: true\n")
    suite_file.write_text(f"allow_missing: true\n{text}", encoding="utf-8")
    assert "its publisher has withdrawn the data; a run leaves the task out." in run(settings).report


def test_held_out_rows_are_those_that_training_holds_out(settings: list[str], data: Path) -> None:
    """Rows of one topic, and rows with the same texts, are never separated; rows whose texts differ in spaces may be."""
    path = data / "pairs/train.tsv"
    header, *rows = lines_of(path)
    write_tsv(path, header, *rows, *((f"more{topic}", *texts) for topic, *texts in rows))
    assert not [finding for finding in run(settings).findings if finding.kind == "shared"]
    write_tsv(path, header, *rows, *((f"more{topic}", f" {a}", *texts) for topic, a, *texts in rows))
    shared = only([finding for finding in run(settings).findings if finding.kind == "shared"])
    assert (shared.task, shared.split) == ("samma", "dev (held out)") and 0 < shared.count <= 12  # a tenth of 120 rows
    assert "pairs/train.tsv:" in shared.where and " of " not in shared.where
    write_tsv(path, header, *(("one", *texts) for _, *texts in rows))
    assert kinds(run(settings)) == [("unreadable", "samma", "train", 1)]


def test_strict_gives_exit_status_1_if_there_are_findings(
    settings: list[str], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def status(*more: str) -> tuple[int, str]:
        done = main(["audit", *settings, *more])
        printed = capsys.readouterr()
        assert printed.err == ""
        return done, printed.out.splitlines()[-1]

    assert status("--strict") == (0, "nothing found")
    rows = lines_of(data / "test.tsv")
    write_tsv(data / "test.tsv", *rows, rows[-1])
    assert status() == (0, "1 finding in 1 task")
    assert status("--strict") == (1, "1 finding in 1 task")
    assert status("--strict", "tasks=[betyg]") == (0, "nothing found")


def test_missing_data(settings: list[str]) -> None:
    with raises_input_error(file="train.tsv"):
        run(settings, "data_dir=none")


WORDS = """\
name: ord
language: sv
files: {test: null}
tasks:
  ton: {text: [text], target: label, labels: [a, b], metric: accuracy}
"""


def test_lengths_and_new_words(tmp_path: Path) -> None:
    (tmp_path / "ord.yaml").write_text(WORDS, encoding="utf-8")
    write_tsv(tmp_path / "train.tsv", ("text", "label"), ("sol regn sol", "a"), ("regn vind vind snö", "b"))
    write_tsv(tmp_path / "dev.tsv", ("text", "label"), ("sol sol sol sol sol hagel", "a"), ("regn vind snö is", "b"))
    settings = [f"suite={tmp_path / 'ord.yaml'}", f"data_dir={tmp_path}", f"cache_dir={tmp_path / 'cache'}"]

    def audited(*more: str) -> list[list[str]]:
        """The median, the longest, the cut and the new words of train and dev."""
        lines = [line.strip("|").split("|") for line in run(settings, *more).report.splitlines() if "| ton" in line]
        return [[cell.strip() for cell in cells[3:]] for cells in lines if len(cells) == 7]

    # dev: hagel and is, of 10 tokens.
    assert audited() == [["3.5", "4", "0.0%", "0.0%"], ["5", "6", "0.0%", "20.0%"]]
    assert audited("max_length=3") == [["3.5", "4", "50.0%", "0.0%"], ["5", "6", "100.0%", "20.0%"]]
    (tmp_path / "train.tsv").unlink()
    assert audited() == [["5", "6", "0.0%", "100.0%"]]
