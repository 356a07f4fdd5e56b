"""Dev rows that are divided into those that choose and those that are scored (`choosing_share`)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import job
from data_files import read_json
from input_errors import refused
from kinds_suite import kinds_job, write_kinds_suite

from mtl.data.dataset import Dataset
from mtl.data.examples import Example
from mtl.data.loading import load_dataset
from mtl.data.splits import CHOOSING
from mtl.jobs.baseline import run_baseline
from mtl.jobs.ensemble import ensemble_job
from mtl.runs.finished import find_runs
from mtl.tasks.metrics import score
from mtl.tasks.task import Task

TASKS = ("kansla", "samma", "betyg")


def texts(dataset: Dataset, task: str, split: str) -> list[tuple[str, ...]]:
    return [tuple(dataset.texts[number] for number in row) for row in dataset.splits[task][split].texts]


def test_the_two_parts_are_the_dev_rows_and_groups_stay_together(settings: list[str]) -> None:
    run = job(settings)
    whole = load_dataset(run.suite, run.run_tasks, run.data_dir, 0.1)
    half = load_dataset(run.suite, run.run_tasks, run.data_dir, 0.1, choosing_share=0.5)
    for task in TASKS:
        scored, choosing = texts(half, task, "dev"), texts(half, task, CHOOSING)
        assert Counter(scored + choosing) == Counter(texts(whole, task, "dev")) and not set(scored) & set(choosing)
        assert abs(len(scored) - len(choosing)) <= 3 and texts(half, task, "train") == texts(whole, task, "train")
        positions = half.samples[task].positions
        assert scored == [texts(whole, task, "dev")[number] for number in positions]
        assert half.choosing_rows(half.tasks[TASKS.index(task)]).tolist() == list(range(len(choosing)))
    rows = [line.split("\t") for line in (run.data_dir / "pairs/train.tsv").read_text(encoding="utf-8").splitlines()]
    topics = {(first, second): topic for topic, first, second, _ in rows}
    parts = [{topics[pair] for pair in texts(half, "samma", split)} for split in ("dev", CHOOSING)]  # type: ignore[index]
    assert parts[0] and parts[1] and not parts[0] & parts[1]
    assert half.rows() == whole.rows()
    (run.data_dir / "dev.tsv").write_text("text\tlabel\nen rad\tglad\n", encoding="utf-8")
    refused(lambda: load_dataset(run.suite, run.run_tasks[:1], run.data_dir, 0.1, choosing_share=0.5), key="choosing_share")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("method", ["svm", "lstm"])
def test_the_scored_rows_choose_nothing(
    method: str, settings: list[str], floor_settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other targets of the rows that score change no prediction."""
    common = floor_settings if method == "svm" else [*settings, "finetune.threshold=dev"]
    common = [setting for setting in common if not setting.startswith("run_dir=")]
    common += [f"method={method}", "seeds=[1]", "baselines=false", "choosing_share=0.5", "tasks=[kansla]"]
    first = job([*common, f"run_dir={tmp_path / 'first'}"])
    run_baseline(first)
    dataset = load_dataset(first.suite, first.run_tasks, first.data_dir, 0.1, choosing_share=0.5)
    own = read_json(tmp_path / "first/seed-1/scores.json")
    lines = dataset.samples["kansla"].lines
    (run,) = [run for run in find_runs(tmp_path) if run.name == "first"]
    (task,) = run.tasks
    for split, key in (("dev", "scores"), (CHOOSING, "choosing_scores")):
        predicted = run.seed_predictions(task, 1, split)
        assert own[key] == {
            "kansla": pytest.approx(score(task, predicted, dataset.splits["kansla"][split].scored_rows))
        }
    assert own["dev_scores"] == own["scores"] and run.rows(task).targets.shape == (len(lines),)
    assert run.samples == ["kansla"] and run.summary["reduced"] == ["kansla"]
    # The same with all labels of the scored rows exchanged.
    file = first.data_dir / "dev.tsv"
    content = file.read_text(encoding="utf-8").splitlines()
    for line in lines:
        text, label = content[line - 1].split("\t")
        content[line - 1] = f"{text}\t{'arg' if label == 'glad' else 'glad'}"
    file.write_text("\n".join(content) + "\n", encoding="utf-8")

    def choosing(task: Task, rows: Sequence[Example], share: float) -> set[int]:
        """The same division, which otherwise keeps the proportions of the labels."""
        return {number for number, row in enumerate(rows) if row.line not in lines}

    monkeypatch.setattr("mtl.data.loading.held_out_numbers", choosing)
    run_baseline(job([*common, f"run_dir={tmp_path / 'second'}"]))
    for name in ("dev", CHOOSING, "test"):
        path = f"seed-1/predictions/{name}_pred_kansla.tsv"
        assert (tmp_path / "first" / path).read_bytes() == (tmp_path / "second" / path).read_bytes()
    assert read_json(tmp_path / "second/seed-1/scores.json")["choosing_scores"] == own["choosing_scores"]


@pytest.mark.slow
def test_an_ensemble_has_the_same_rows_as_its_runs(tmp_path: Path) -> None:
    write_kinds_suite(tmp_path)
    settings = ("seeds=[1,2]", "tasks=[mood]", "finetune.threshold=dev", "pretrain.max_steps=10")
    run_baseline(kinds_job(tmp_path, "half", *settings, "choosing_share=0.5"))
    given = {"cache_dir": str(tmp_path / "cache"), "run_dir": str(tmp_path / "both")}
    run_baseline(ensemble_job([str(tmp_path / "half")], given))
    half, both = (read_json(tmp_path / name / "scored_rows.json") for name in ("half", "both"))
    assert half == both and half["mood"]["lines"]
    assert "mood" in read_json(tmp_path / "both/seed-1/scores.json")["choosing_scores"]
    other = {**given, "choosing_share": 0.3, "run_dir": str(tmp_path / "other")}
    refused(lambda: run_baseline(ensemble_job([str(tmp_path / "half")], other)), key="ensemble.runs")


def test_a_submission_is_written_where_no_dev_row_is_needed(floor_settings: list[str], tmp_path: Path) -> None:
    settings = [*floor_settings, "method=constant", "seeds=[1]", "choosing_share=0.5"]
    run_baseline(job(settings))
    assert (tmp_path / "run/seed-1/submission.zip").exists()
    suite = tmp_path / "liten.yaml"
    data = tmp_path / "rows"
    data.mkdir()
    for split in ("train", "dev", "test"):
        rows = [f'{{"id": {number}, "text": "rad {number}", "label": "{"ab"[number % 2]}"}}' for number in range(12)]
        (data / f"{split}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    suite.write_text(
        "{name: rader, language: sv, submission: {format: rows}, files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl},"
        " tasks: {par: {text: [text], target: label, labels: [a, b], metric: accuracy}}}",
        encoding="utf-8",
    )
    settings = [f"suite={suite}", f"data_dir={data}", f"run_dir={tmp_path / 'rader'}", "method=constant", "seeds=[1]"]
    run_baseline(job([*settings, "choosing_share=0.5"]))
    assert not (tmp_path / "rader/seed-1/submission").exists()
    remarks = read_json(tmp_path / "rader/seed-1/scores.json")["remarks"]
    assert remarks == ["none is written, since only a sample of the rows has predictions"]
