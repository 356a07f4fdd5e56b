"""The first sentences of articles, through the whole job, and the files of predicted texts."""

from pathlib import Path

import pytest
from command_line import job
from data_files import read_json, write_jsonl
from rouge_score.rouge_scorer import RougeScorer

from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline
from mtl.structured.lead import sentences

SUITE = """\
name: nyheter
language: sv
files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
tasks:
  referat: {kind: text, text: [article], target: summary, metric: rouge1}
"""
FIRST, SECOND, THIRD = "Solen sken i Lund.", "Alla gick ut\toch \\sjöng.", "Ingen vet varför."


def article(i: int) -> dict[str, str]:
    """An article whose summary is its first two sentences, with a line between them."""
    return {"article": f"{FIRST} {i}\n{SECOND} {THIRD} Slut {i}.", "summary": f"{FIRST} {i}\n{SECOND}"}


@pytest.fixture
def settings(tmp_path: Path) -> list[str]:
    (tmp_path / "s.yaml").write_text(SUITE, encoding="utf-8")
    for split, count in (("train", 12), ("dev", 6), ("test", 3)):
        rows = [article(i) if split != "test" else {"article": article(i)["article"]} for i in range(count)]
        write_jsonl(tmp_path / "data" / f"{split}.jsonl", rows)
    folders = [f"{name}_dir={tmp_path / name}" for name in ("data", "run", "cache")]
    return [f"suite={tmp_path / 's.yaml'}", *folders, "seeds=[1,2]"]


def test_the_number_that_is_best_on_the_training_rows(settings: list[str], tmp_path: Path) -> None:
    """The sentence's end, the number on its line and the second line are three sentences; they share all words with the summary."""
    summary = run_baseline(job([*settings, "method=lead"]))
    assert summary["tasks"]["referat"]["scores"] == {"1": pytest.approx(100), "2": pytest.approx(100)}
    chosen = read_json(tmp_path / "run/seed-2/chosen/referat.json")
    assert chosen["settings"] == {"sentences": 3} and list(chosen["on_train"]) == [str(n) for n in range(1, 11)]
    scorer = RougeScorer(["rouge1"])
    expected = [scorer.score(article(i)["summary"], FIRST)["rouge1"].fmeasure for i in range(12)]
    assert chosen["on_train"]["1"] == pytest.approx(100 * sum(expected) / 12)
    lines = (tmp_path / "run/seed-1/predictions/test_pred_referat.tsv").read_text(encoding="utf-8").split("\n")
    assert lines == ["summary", *(f"{FIRST} {i} Alla gick ut\\toch \\\\sjöng." for i in range(3)), ""]
    assert (tmp_path / "run/seed-1/submission.zip").exists()


def test_predicted_texts_are_read_back(settings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scores, checks and reports read the same texts from the files of predictions and of gold targets."""
    summary = run_baseline(job([*settings, "method=lead"]))
    shown = f"{summary['tasks']['referat']['median']:.1f}"
    predictions = tmp_path / "run/seed-1/predictions"
    for gold in (tmp_path / "data", tmp_path / "run/gold"):
        assert main(["score", str(predictions), "--gold", str(gold), f"suite={tmp_path}/s.yaml"]) == 0
        assert f"| 6 | {shown} |" in capsys.readouterr().out
    assert main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "report")]) == 0
    assert "First sentences" in (tmp_path / "report/report.md").read_text(encoding="utf-8")
    file = predictions / "dev_pred_referat.tsv"
    capsys.readouterr()
    file.write_text("summary\n" + "C:\\mapp\n" * 6, encoding="utf-8")
    assert main(["score", str(predictions), "--gold", str(tmp_path / "data"), f"suite={tmp_path}/s.yaml"]) == 2
    assert r"dev_pred_referat.tsv:2: '\\m' is no escape; write \\ for a backslash" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Solen skiner. Vi går ut! Kommer du? Ja.", ["Solen skiner.", "Vi går ut!", "Kommer du?", "Ja."]),
        ("Vi såg t.ex. Anna och jur. Berg. De log.", ["Vi såg t.ex. Anna och jur. Berg.", "De log."]),
        ("Han heter A. Berg. 12 kom.", ["Han heter A. Berg.", "12 kom."]),
        ("Det kostar 3.50 kronor. sade hon. Ja", ["Det kostar 3.50 kronor. sade hon.", "Ja"]),
        ("”Kom!” ”Nej.” Så var det…  Eller?", ["”Kom!”", "”Nej.”", "Så var det…", "Eller?"]),
        ("Rubrik\n\nFörsta raden\r\nandra\x85slut", ["Rubrik", "Första raden", "andra\x85slut"]),
        (" \n ", []),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_swedish_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text, "sv") == expected
    assert sentences("Vi så jur. Berg.", "xx") == ["Vi så jur.", "Berg."]  # without a list of abbreviations
    assert sentences("See No. 5. No. Why?", "en") == ["See No. 5.", "No.", "Why?"]  # "No." only before a number
