"""mteb gives an exported encoder the scores of its run."""

import json
import random
from pathlib import Path

import pytest
from command_line import job
from mteb_folders import write_rows
from small_suite import ARG, GLAD, small_settings

from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline

pytest.importorskip("mteb", reason="needs the package mteb")
pytest.importorskip("sentence_transformers", reason="needs the package sentence_transformers")


@pytest.mark.slow
def test_an_export_has_the_scores_of_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets
    import mteb
    from sentence_transformers import SentenceTransformer

    monkeypatch.setenv("MTEB_CACHE", str(tmp_path / "mteb"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    rng = random.Random(0)
    texts = [" ".join(rng.sample(" ".join(GLAD + ARG).split(), 5)) for _ in range(60)]
    rows = [
        {"sentence1": one, "sentence2": other, "score": float(len(set(one.split()) & set(other.split())))}
        for one, other in zip(texts[:30], texts[30:], strict=True)
    ]
    write_rows(tmp_path / "rows/SICK-R-PL", "test", rows)
    settings = [*small_settings(tmp_path), "seeds=[1]", "pretrain.max_steps=4", "finetune.max_epochs=1"]
    run_baseline(job([*settings, "max_length=20"]))
    run, out = tmp_path / "run", tmp_path / "out"
    assert main(["mteb", str(run), f"data_dir={tmp_path / 'rows'}", f"runs_dir={tmp_path / 'evaluations'}"]) == 0
    (summary,) = (tmp_path / "evaluations").rglob("summary.json")
    record = json.loads(summary.read_text(encoding="utf-8"))["tasks"]["SICK-R-PL"]
    assert main(["export", str(run), "--format", "sentence-transformers", "--out", str(out)]) == 0

    from mtl.vectors.mteb.data import local_task

    task = local_task("SICK-R-PL", tmp_path / "rows")
    exported = SentenceTransformer(str(out), device="cpu", local_files_only=True)
    result = mteb.evaluate(exported, task, co2_tracker=False, cache=None, show_progress_bar=False).task_results[0]
    # Rounding may swap neighbours in the order of the cosines, which changes the rank correlation of 30 pairs by 0.04.
    assert 100 * result.scores["test"][0][record["metric"]] == pytest.approx(record["score"], abs=0.2)
