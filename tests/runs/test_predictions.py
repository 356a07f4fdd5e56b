import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from command_line import job
from golden import check_golden

from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline
from mtl.submissions import SUBMISSION_FORMATS
from mtl.tasks.suite import Suite, load_suite


@pytest.fixture
def suite(suite_file: Path) -> Suite:
    return load_suite(suite_file)


@pytest.fixture
def score(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """What `mtl score` prints: with the status 0 its lines, with 2 its error."""

    def scored(path: Path, gold: Path, suite: Path, *settings: str, status: int = 0) -> list[str]:
        capsys.readouterr()
        assert main(["score", str(path), "--gold", str(gold), f"suite={suite}", *settings]) == status
        printed = capsys.readouterr()
        return (printed.err if status else printed.out).splitlines()

    return scored


Score = Callable[..., list[str]]


def pack(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def whole(rows: int = 10) -> dict[str, str]:
    """Files that the small suite's leaderboard takes; task samma has no test file."""
    files = {"test_pred_kansla.tsv": "label\n" + "glad\narg\n" * (rows // 2)}
    return {**files, "test_pred_betyg.tsv": "target\n" + "1.5\n" * rows}


KANSLA = "test_pred_kansla.tsv"
BAD = [
    *(
        (KANSLA, None),
        ("test_pred_samma.tsv", "same\n1\n"),
        ("test_pred_kansla.csv", "prediction\n"),
        (KANSLA, ""),
        (KANSLA, "kansla\n" + "glad\n" * 10),
    ),
    *((KANSLA, "label\n" + "glad\n" * 9), (KANSLA, "label\nGlad\n" + "arg\n" * 9)),
    ("test_pred_betyg.tsv", "score\n" + "3\n" * 9 + "fyra\n"),
]


def test_every_problem_is_named_with_file_and_line(
    suite: Suite, suite_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for name, text in BAD:
        files = {**whole(), name: text}
        path = pack(suite_file.parent / "s.zip", {name: text for name, text in files.items() if text is not None})
        (problem,) = SUBMISSION_FORMATS["zip"].check(path, suite, suite_file.parent / "data").problems
        said.append(problem.replace(str(suite_file.parent), "TMP"))
    check_golden("zip-problems.txt", "\n".join(said) + "\n")
    assert main(["check-submission", str(path), f"suite={suite_file}", f"data_dir={suite_file.parent / 'data'}"]) == 2
    printed = capsys.readouterr()
    assert printed.out.strip() == problem
    assert printed.err == f"mtl: error: {path}: the leaderboard of suite liten would refuse it (1 problem)\n"


@pytest.mark.parametrize("complaint", ["no such file", "not a zip", "not UTF-8"])
def test_what_cannot_be_read_is_one_line(complaint: str, suite_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = suite_file.parent / "s.zip"
    if complaint == "not a zip":
        path.write_bytes(b"text")
    elif complaint == "not UTF-8":
        latin = "label\nglad\n\xe4\n".encode("latin-1")
        pack(path, {"test_pred_kansla.tsv": latin, "dev_pred_kansla.tsv": latin})
    for command in (["check-submission", str(path)], ["score", str(path), "--gold", str(suite_file.parent / "data")]):
        assert main([*command, f"suite={suite_file}"]) == 2
        printed = capsys.readouterr()
        # What is wrong with a file of a submission is one of its problems.
        assert len(printed.err.splitlines()) == 1 and complaint in printed.out + printed.err


def test_folders_that_are_not_there_are_named(suite_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = pack(suite_file.parent / "s.zip", whole())
    assert main(["score", str(path), "--gold", "nope", f"suite={suite_file}"]) == 2
    assert "nope: no such folder" in capsys.readouterr().err
    assert main(["check-submission", str(path), f"suite={suite_file}", "data_dir=nope"]) == 2
    assert "data_dir=nope: no such folder" in capsys.readouterr().err


def test_a_run_s_predictions_score_as_its_summary_says(settings: list[str], suite_file: Path, score: Score) -> None:
    names = ("suite", "data_dir", "run_dir", "cache_dir")
    folders = [setting for setting in settings if setting.partition("=")[0] in names]
    summary = run_baseline(job([*folders, "method=overlap", "seeds=[1]"]))
    folder = suite_file.parent / "run/seed-1/predictions"
    lines = score(folder, suite_file.parent / "data", suite_file)
    for task, line in zip(summary["tasks"], lines[2:], strict=False):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[:2] == [task, "dev"] and cells[4] == f"{summary['tasks'][task]['median']:.1f}"
    assert lines[-1] == f"average: {summary['average']:.1f}"
    assert main(["check-submission", str(folder.parent / "submission.zip"), *settings[:2]]) == 0


def test_test_predictions_are_scored_where_their_gold_is_there(suite_file: Path, score: Score) -> None:
    gold = suite_file.parent / "gold"
    gold.mkdir()
    (gold / "test.tsv").write_text("text\tlabel\n" + "x\tglad\n" * 7 + "y\targ\n" * 3, encoding="utf-8")
    path = pack(suite_file.parent / "s.zip", whole())
    lines = score(path, gold, suite_file)
    assert lines[2] == "| kansla | test | accuracy | 10 | 60.0 |"
    assert lines[-1] == "average (of 1 of 3 tasks; not scored: samma, betyg): 60.0"
    pack(path, whole(8))
    (error,) = score(path, gold, suite_file, status=2)
    assert "test_pred_kansla.tsv:9: 8 predictions for the 10 rows of" in error


def test_numbers_outside_the_range_are_scored_and_counted(
    suite_file: Path, tmp_path: Path, score: Score, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {**whole(), "test_pred_betyg.tsv": "score\n" + "11\n" + "3\n" * 8 + "-0.5\n"}
    path = pack(tmp_path / "s.zip", files)
    assert main(["check-submission", str(path), f"suite={suite_file}", f"data_dir={suite_file.parent / 'data'}"]) == 0
    remark = "2 of 10 predictions are outside 0 to 10"
    lines = [f"{path}/test_pred_betyg.tsv: {remark}", f"{path}: the leaderboard of suite liten can take it"]
    assert capsys.readouterr().out.splitlines() == lines
    gold = tmp_path / "gold"
    gold.mkdir()
    (gold / "test_betyg.tsv").write_text("score\n" + "10\n" + "2\n" * 8 + "0\n", encoding="utf-8")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "folder")
    for scored in (path, tmp_path / "folder"):
        lines = score(scored, gold, suite_file)
        assert lines[2] == "| betyg | test | spearman | 10 | 100.0 |" and lines[-1] == f"betyg, test: {remark}"
