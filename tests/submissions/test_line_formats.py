"""GLUE's suite on small files in GLUE's layout: a run, its zip, the check of zips, and the way back (`mtl import`, `mtl leaderboard`)."""

import random
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from data_files import read_json, write_table

from mtl.api.cli import main
from mtl.base.settings.layers import find_yaml
from mtl.submissions.line_formats import glue_problem, pack_files
from mtl.tasks.suite import load_suite

MRPC = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
WORDS = ["good", "bad", "film", "plot", "actor", "scene", "music", "story", "light", "house", "river", "stone"]


def write_data(folder: Path) -> None:
    """Rows of CoLA (without a header), MRPC, STS-B, MNLI and AX."""
    rng = random.Random(3)

    def text() -> str:
        return " ".join(rng.choices(WORDS, k=5))

    def write(name: str, header: str, rows: Iterable[Sequence[object]]) -> None:
        write_table(folder / f"{name}.tsv", header.split("\t"), rows)

    pairs = "index\tsentence1\tsentence2"
    names = ["entailment", "neutral", "contradiction"]
    for split, count in (("train", 40), ("dev", 20)):
        first, *rows = [("gj04", n % 2, "" if n % 2 else "*", text()) for n in range(count)]
        write(f"CoLA/{split}", "\t".join(map(str, first)), rows)
        write(f"MRPC/{split}", MRPC, [(n % 2, n, n, text(), text()) for n in range(count)])
        write(f"STS-B/{split}", f"{pairs}\tscore", [(n, text(), text(), n % 6) for n in range(count)])
    for name, count in (("train", 40), ("dev_matched", 12), ("dev_mismatched", 9)):
        write(f"MNLI/{name}", f"{pairs}\tgold_label", [(n, text(), text(), names[n % 3]) for n in range(count)])
    write("CoLA/test", "index\tsentence", [(n, text()) for n in range(5)])
    write("MRPC/test", MRPC.replace("Quality", "index"), [(n, n, n, text(), text()) for n in range(6)])
    for name, count in (("MNLI/test_matched", 7), ("MNLI/test_mismatched", 8), ("AX/AX", 4)):
        write(name, pairs, [(n, text(), text()) for n in range(count)])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data and a finished run of the SVM."""
    path = tmp_path_factory.mktemp("glue")
    write_data(path / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        assert main(["baseline", "suite=glue", "data_dir=data", "method=svm", "seeds=[1]"]) == 0
    return path


@pytest.fixture(autouse=True)
def inside(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)


def test_a_run_its_zip_and_its_report(home: Path) -> None:
    summary = read_json(home / "runs/glue/svm/summary.json")
    assert list(summary["tasks"]) == ["cola", "mrpc", "sts-b", "mnli-m", "mnli-mm"]
    medians = {id: record["median"] for id, record in summary["tasks"].items()}
    mnli = (medians["mnli-m"] + medians["mnli-mm"]) / 2
    assert summary["average"] == pytest.approx((medians["cola"] + medians["mrpc"] + medians["sts-b"] + mnli) / 4)
    mrpc = summary["tasks"]["mrpc"]
    assert mrpc["median"] == pytest.approx((mrpc["also"]["accuracy"]["median"] + mrpc["also"]["f1"]["median"]) / 2)
    assert summary["missing"] == ["sst-2", "qqp", "qnli", "rte", "wnli", "ax"]
    predictions = {file.name for file in (home / "runs/glue/svm/seed-1/predictions").iterdir()}
    assert {"test_pred_ax.tsv", "dev_pred_mnli-mm.tsv"} <= predictions
    assert "test_pred_sts-b.tsv" not in predictions  # it has no test file
    (path,) = home.glob("runs/glue/svm/seed-1/*.zip")
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["CoLA.tsv", "MRPC.tsv", "MNLI-m.tsv", "MNLI-mm.tsv", "AX.tsv"]
        lines = archive.read("AX.tsv").decode().splitlines()
    plain = (home / "runs/glue/svm/seed-1/predictions/test_pred_ax.tsv").read_text(encoding="utf-8").splitlines()
    assert lines == ["index\tprediction", *(f"{row}\t{label}" for row, label in enumerate(plain[1:]))]
    assert set(plain[1:]) <= {"entailment", "neutral", "contradiction"}
    assert main(["report"]) == 0
    text = (home / "report/report.md").read_text(encoding="utf-8")
    assert "(mnli-m + mnli-mm) / 2" in text and "accuracy + F1" in text
    f1 = text[text.index("### F1") :]
    assert "88.9" in f1[: f1.index("###", 5)]  # BERT-base's F1 on MRPC


# The official numbers of rows, and an answer.
WHOLE = {
    **{"CoLA": (1063, "1"), "SST-2": (1821, "1"), "MRPC": (1725, "1"), "QQP": (390965, "1"), "STS-B": (1379, "2.5")},
    **{"MNLI-m": (9796, "neutral"), "MNLI-mm": (9847, "neutral"), "QNLI": (5463, "entailment")},
    **{"RTE": (3000, "entailment"), "WNLI": (146, "1"), "AX": (1104, "neutral")},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A submission with a prediction for each official row."""
    folder = tmp_path_factory.mktemp("whole")
    for name, (rows, answer) in WHOLE.items():
        lines = [f"{row}\t{answer}" for row in range(rows)]
        (folder / f"{name}.tsv").write_text("\n".join(["index\tprediction", *lines, ""]), encoding="utf-8")
    return folder


def test_a_whole_submission_is_valid(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-submission", str(whole), "suite=glue"]) == 0
    assert "the leaderboard of suite glue can take it" in capsys.readouterr().out


BAD: dict[str, tuple[Callable[[str], str], str]] = {
    "header": (lambda text: text.replace("index", "id", 1), "WNLI.tsv:1: the header is 'id\\tprediction'; it must be"),
    "twice": (lambda text: text.replace("\n7\t1\n", "\n7\t1\n7\t1\n"), "WNLI.tsv:10: the index is '7'"),
    "no tab": (lambda text: text.replace("\n7\t1\n", "\n7\n"), "WNLI.tsv:9: the index is '7'"),
    "missing": (lambda text: text.removesuffix("145\t1\n"), "145 predictions for 146 test rows"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_wrong_file_has_its_line(whole: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    change, message = BAD[kind]
    archive = tmp_path / "s.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for file in whole.iterdir():
            text = file.read_text(encoding="utf-8")
            zipped.writestr(file.name, change(text) if file.name == "WNLI.tsv" else text)
    assert main(["check-submission", str(archive), "suite=glue"]) == 2
    shown = capsys.readouterr()
    assert message in shown.out and "1 problem" in shown.err


@pytest.mark.wings
def test_a_zip_comes_back_as_a_submission_and_scores(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The labels of test are given for MRPC alone."""
    (path,) = home.glob("runs/glue/svm/seed-1/*.zip")
    (tmp_path / "all/svm").mkdir(parents=True)
    (tmp_path / "all/svm/predictions.zip").write_bytes(path.read_bytes())
    (tmp_path / "gold/MRPC").mkdir(parents=True)
    _, *rows = (home / "data/MRPC/test.tsv").read_text(encoding="utf-8").splitlines()
    lines = [MRPC, *(f"1\t{row.partition(chr(9))[2]}" for row in rows)]
    (tmp_path / "gold/MRPC/test.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = [f"gold={tmp_path}/gold", f"out={tmp_path}/site"]
    assert main(["leaderboard", "glue", f"{tmp_path}/all", *arguments]) == 0
    (system,) = read_json(tmp_path / "site/leaderboard.json")["systems"]
    with zipfile.ZipFile(path) as archive:
        predicted = [line.split("\t")[1] for line in archive.read("MRPC.tsv").decode().splitlines()[1:]]
    precision = predicted.count("1") / len(predicted)
    f1 = 2 * precision / (1 + precision)
    assert system["scores"] == {"mrpc": round(100 * (precision + f1) / 2, 1)}
    capsys.readouterr()
    assert main(["score", str(path), "--gold", f"{tmp_path}/gold", "suite=glue"]) == 0
    out = capsys.readouterr().out
    assert f"| MRPC | test | accuracy+f1 | 6 | {50 * (precision + f1):.1f} |" in out


def test_glue_is_as_published_and_its_files_are_named_by_titles() -> None:
    suite = load_suite(find_yaml("suite", "glue"))
    assert " ".join(suite.tasks) == "cola sst-2 mrpc qqp sts-b mnli-m mnli-mm qnli rte wnli ax"
    dev = suite.published[0]
    for id, parts in dev.also.items():
        assert dev.scores[id] == pytest.approx(sum(parts.values()) / 2)
        assert "+".join(parts) == suite.tasks[id].metric
    assert suite.averaged == [id for id in suite.tasks if id != "ax"]
    assert glue_problem(suite) is None
    suite.tasks["cola"].title = "SST-2"
    assert glue_problem(suite) is not None


def test_the_zip_has_the_files_side_by_side_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    files = [tmp_path / "test_pred_a.tsv", tmp_path / "test_pred_b.tsv"]
    for file in files:
        file.write_text(file.name, encoding="utf-8")
    for name in ("1.zip", "2.zip"):
        pack_files(tmp_path / name, {file.name: file.read_bytes() for file in files})
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "1.zip") as archive:
        assert archive.namelist() == ["test_pred_a.tsv", "test_pred_b.tsv"]
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.read("test_pred_a.tsv") == b"test_pred_a.tsv"
