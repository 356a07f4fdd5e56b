"""The whole job on the embedded suite of structured targets: one encoder for all of its tasks, predictions, a report and a submission."""

import json
import re
from pathlib import Path

import pytest

from mtl.api.cli import main

SMALL = [
    "encoder.hidden_size=8",
    "head.hidden_size=8",
    "pretrain.max_steps=6",
    "pretrain.validate_every=3",
    "finetune.max_epochs=1",
]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["frozen", "attention"])
def test_the_whole_job(tmp_path: Path, variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["baseline", "suite=tasks-sample", "method=majority", "seeds=[1]"]) == 0
    crf = "head.crf=true" if variant == "attention" else "head.crf=false"
    assert main(["baseline", "suite=tasks-sample", f"variant={variant}", "seeds=[1,2]", crf, *SMALL]) == 0
    (run,) = tmp_path.glob(f"runs/tasks-sample/random-{variant}*")
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    assert set(summary["tasks"]) == {"topic", "names", "feelings", "facts"}
    names = (run / "seed-1/predictions/dev_pred_names.tsv").read_text(encoding="utf-8").splitlines()[1:]
    sentences = (tmp_path / "data/tasks-sample/names/dev.conll").read_text(encoding="utf-8").strip().split("\n\n")
    assert [len(tags.split()) for tags in names] == [len(sentence.splitlines()) for sentence in sentences]
    assert main(["check-submission", str(run / "seed-1/submission.zip"), "suite=tasks-sample"]) == 0
    assert main(["report", "runs", "--out", "report"]) == 0
    report = (tmp_path / "report/report.md").read_text(encoding="utf-8")
    assert "span F1" in report and re.search(r" by type\n\n\|  *\| entities \|", report)
