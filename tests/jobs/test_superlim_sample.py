"""The embedded Swedish suite from its data to a report, as its user runs it: tasks of every kind, offline."""

from pathlib import Path

import pytest
from data_files import read_json
from embedding_requests import train_one_epoch

from mtl.api.cli import main
from mtl.tasks.suite import load_suite

pytestmark = [pytest.mark.slow, pytest.mark.wings]  # a recipe's vectors are trained

SUITE = "suite=superlim-sample"
SMALL = "encoder.hidden_size=8 head.hidden_size=16 head.attention_size=8 pretrain.max_steps=6 pretrain.validate_every=6 finetune.max_epochs=1"
WORDS = {"supersim-superlim-similarity", "sweanalogy", "swesat-synonyms", "sweparaphrase", "swefaq"}
ON_TEST = {"swediagnostics", "swewinogender", "supersim-superlim-similarity", "sweanalogy", "swesat-synonyms"}


@pytest.fixture(scope="module")
def working_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an LSTM's run with attention on fastText vectors, and the runs of floors."""
    folder = tmp_path_factory.mktemp("swedish")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        train_one_epoch(patch)
        fasttext = ["embeddings=fasttext", SUITE, "seeds=[1]"]
        assert main(["baseline", *fasttext, "variant=attention", *SMALL.split()]) == 0
        assert main(["baseline", *fasttext, "method=word_vectors"]) == 0
        for method in ("uniform", "majority", "lead"):
            assert main(["baseline", SUITE, "seeds=[1]", f"method={method}"]) == 0
    return folder


def test_each_method_answers_its_tasks_on_their_splits(working_dir: Path) -> None:
    runs = working_dir / "runs/superlim-sample"
    suite = load_suite(runs / "lead/suite.yaml")
    every, words = set(suite.tasks), {id for id, task in suite.tasks.items() if task.level == "word"}
    answered = {
        "fasttext-attention": every - words - {"swedn"},
        "word_vectors": WORDS,
        "uniform": every - {"swedn"},
        "majority": every - {"swedn"},
        "lead": {"swedn"},
    }
    for name, expected in answered.items():
        summary = read_json(runs / name / "summary.json")
        assert set(summary["tasks"]) == expected
        assert {id for id, of in summary["tasks"].items() if of["split"] == "test"} == expected & ON_TEST
        assert summary["partial"] == (not set(suite.averaged) <= expected)
        for id in expected:
            path = runs / name / f"seed-1/predictions/test_pred_{id}.tsv"
            data = working_dir / "data/superlim-sample" / suite.tasks[id].folder / f"{id}_test.jsonl"
            predicted, rows = (file.read_text(encoding="utf-8").splitlines() for file in (path, data))
            assert len(predicted) == 1 + len(rows)


def test_the_sample_is_shown_as_superlim_is(working_dir: Path) -> None:
    table = (working_dir / "runs/superlim-sample/fasttext-attention/table.md").read_text(encoding="utf-8")
    assert "embedded sample" in table and "5 of swesat-synonyms (held_out.json)" in table
    assert "Not answered by this method: supersim-superlim-similarity, sweanalogy, swedn." in table
    assert "gender parity by row" in table and "Spearman" in table
    parity = read_json(working_dir / "runs/superlim-sample/majority/summary.json")["tasks"]["swewinogender"]["also"]
    assert parity["gender_parity"]["scores"]["1"] == pytest.approx(100)
    assert parity["gender_parity_by_row"]["scores"]["1"] == pytest.approx(100 / 3)


def test_rows_with_spans_and_candidates_are_predicted(
    working_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A frozen run predicts the test rows of a file as the run itself did."""
    monkeypatch.chdir(working_dir)
    run = Path("runs/superlim-sample/fasttext-attention")
    for id in ("swewic", "swewinograd", "swefaq", "swewinogender"):
        assert main(["predict", str(run), f"data/superlim-sample/{id}/{id}_test.jsonl", "--task", id]) == 0
        predicted = capsys.readouterr().out
        assert predicted == (run / f"seed-1/predictions/test_pred_{id}.tsv").read_text(encoding="utf-8")


def test_the_submission_fits_and_a_report_has_the_parts_of_the_diagnostics(
    working_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(working_dir)
    submission = "runs/superlim-sample/uniform/seed-1/submission"
    assert main(["check-submission", submission, SUITE]) == 0
    assert "can take it" in capsys.readouterr().out
    assert read_json(Path(submission, "Uniform.json"))["left_out"] == ["swedn"]
    assert main(["report"]) == 0
    text = Path("report/report.md").read_text(encoding="utf-8")
    assert "LSTM, fastText, attention" in text and "Negation" in text


def test_the_audit_finds_what_the_layout_implies(
    working_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(working_dir)
    assert main(["audit", SUITE]) == 0
    findings = capsys.readouterr().out.split("### Findings")[1]
    assert "share all candidates with other rows" in findings
    assert "build nothing from questions that are scored" in findings
    assert "swewinogender test**: no row has the label contradiction" in findings
    assert "also occur" not in findings  # no row is in two splits
