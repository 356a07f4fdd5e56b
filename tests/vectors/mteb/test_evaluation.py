"""Evaluation by mteb itself, on small local folders and without a network."""

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import yaml
from hashed_encoder import HashedEncoder
from input_errors import raises_input_error
from mteb_folders import SWEDISH, labelled, pairs, write_rows
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, average_precision_score

from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.settings.layers import shipped
from mtl.vectors.encoders import ENCODERS
from mtl.vectors.encoders.encoder import Choices, EncoderKind
from mtl.vectors.mteb.benchmark import find_benchmark, load_benchmark
from mtl.vectors.mteb.results import find_evaluations
from mtl.vectors.mteb.run import run_mteb

pytest.importorskip("mteb")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reads the hub, or writes outside its folder."""
    import datasets

    monkeypatch.setenv("MTEB_CACHE", str(tmp_path / "mteb"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    write_rows(path / "PpcPC", "test", pairs(40, "labels"))
    write_rows(path / "PpcPC", "validation", pairs(30, "labels", seed=1))
    write_rows(path / "SICK-R-PL", "test", pairs(50, "score"))
    return path


CHOICES = Choices({"pooling": ("max", "mean")})


class Opened:
    """Opens encoders, and keeps them in order."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.encoders: list[HashedEncoder] = []

    def __call__(self, settings: Mapping[str, Any]) -> HashedEncoder:
        self.encoders.append(HashedEncoder(**{**self.settings, **settings}))
        return self.encoders[-1]


def evaluate(tmp_path: Path, opened: Opened, **given: Any) -> dict[str, Any]:
    """The summary of an evaluation."""
    folder = run_mteb(opened, CHOICES, {"runs_dir": str(tmp_path / "runs"), **given}, {"command": "mtl mteb x"})
    assert folder.table.read_text(encoding="utf-8").startswith("# ")
    return json.loads(folder.summary.read_text(encoding="utf-8"))


def cosines(rows: list[dict[str, Any]]) -> np.ndarray:
    one, other = (HashedEncoder().encode([row[side] for row in rows]) for side in ("sentence1", "sentence2"))
    return (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


@pytest.mark.slow
def test_scores_are_those_of_an_independent_computation(tmp_path: Path, data_dir: Path) -> None:
    opened = Opened()
    summary = evaluate(tmp_path, opened, data_dir=str(data_dir))
    tasks, texts = summary["tasks"], opened.encoders[0].encoded
    rows = pairs(40, "labels")
    expected = average_precision_score([row["labels"] for row in rows], cosines(rows))
    assert tasks["PpcPC"]["score"] == pytest.approx(100 * expected, abs=1e-3)
    assert (tasks["PpcPC"]["metric"], tasks["PpcPC"]["main_metric"]) == ("cosine_ap", "max_ap")
    rows = pairs(50, "score")
    expected = spearmanr([row["score"] for row in rows], cosines(rows)).statistic
    assert tasks["SICK-R-PL"]["score"] == pytest.approx(100 * expected, abs=1e-3)
    assert [of["data"] for of in tasks.values()] == ["reduced", "reduced"]
    assert "test: 40 samples, not 1000" in tasks["PpcPC"]["differences"]
    assert summary["partial"] and len(summary["missing"]) == 26 and tasks["PpcPC"]["sentences"] == 80

    # The same command evaluates nothing again; other rows of one task evaluate that task again.
    assert evaluate(tmp_path, opened, data_dir=str(data_dir)) == summary and opened.encoders[1].encoded == 0
    write_rows(data_dir / "PpcPC", "test", pairs(20, "labels"))
    changed = evaluate(tmp_path, opened, data_dir=str(data_dir), tasks=["PpcPC"])
    assert opened.encoders[2].encoded == 40 < texts and changed["tasks"]["PpcPC"]["score"] != tasks["PpcPC"]["score"]
    assert changed["tasks"]["SICK-R-PL"] == tasks["SICK-R-PL"]


@pytest.mark.slow
def test_the_texts_of_all_tasks_that_are_not_recorded_are_learnt_at_once(tmp_path: Path, data_dir: Path) -> None:
    opened = Opened()
    evaluate(tmp_path, opened, data_dir=str(data_dir), tasks=["PpcPC"])
    evaluate(tmp_path, opened, data_dir=str(data_dir))
    evaluate(tmp_path, opened, data_dir=str(data_dir))
    first, second, third = (set(getattr(encoder, "learnt", ())) for encoder in opened.encoders)
    for learnt, rows in ((first, pairs(40, "labels")), (second, pairs(50, "score"))):
        assert learnt >= {row[side] for row in rows for side in ("sentence1", "sentence2")}
    assert third == set()


@pytest.mark.slow
def test_another_metric_is_not_that_of_an_older_record(tmp_path: Path, data_dir: Path) -> None:
    opened, path = Opened(), tmp_path / "other.yaml"
    before = evaluate(tmp_path, opened, data_dir=str(data_dir), tasks=["PpcPC"])["tasks"]["PpcPC"]
    text = (shipped("configs") / "mteb/pl-mteb.yaml").read_text(encoding="utf-8")
    assert text.count("metric: cosine_ap\n") == 1
    path.write_text(text.replace("metric: cosine_ap\n", "metric: cosine_accuracy\n"), encoding="utf-8")
    after = evaluate(tmp_path, opened, data_dir=str(data_dir), tasks=["PpcPC"], benchmark=str(path))["tasks"]["PpcPC"]
    assert (before["metric"], after["metric"]) == ("cosine_ap", "cosine_accuracy")
    rows = pairs(40, "labels")
    labels, found = np.array([row["labels"] for row in rows]), cosines(rows)
    best = max(accuracy_score(labels, found >= threshold) for threshold in [*found, np.inf])
    assert after["score"] == pytest.approx(100 * best, abs=1e-3)


@pytest.mark.slow
def test_another_metric_is_not_in_the_summary_of_other_tasks(tmp_path: Path, data_dir: Path) -> None:
    given = {"data_dir": str(data_dir)}
    assert list(evaluate(tmp_path, Opened(), **given)["tasks"]) == ["PpcPC", "SICK-R-PL"]
    text = (shipped("configs") / "mteb/pl-mteb.yaml").read_text(encoding="utf-8")
    path = tmp_path / "other.yaml"
    path.write_text(text.replace("metric: cosine_ap\n", "metric: cosine_accuracy\n"), encoding="utf-8")
    opened = Opened()
    summary = evaluate(tmp_path, opened, tasks=["SICK-R-PL"], benchmark=str(path), **given)
    assert list(summary["tasks"]) == ["SICK-R-PL"] and "PpcPC" in summary["missing"]
    assert not list((tmp_path / "runs").rglob("results/*/*/PpcPC.json"))
    summary = evaluate(tmp_path, opened, tasks=["SICK-R-PL"], **given)
    assert list(summary["tasks"]) == ["PpcPC", "SICK-R-PL"] and [one.encoded for one in opened.encoders] == [0, 0]
    assert len(list((tmp_path / "runs").rglob("results/*/*/PpcPC.json"))) == 1


@pytest.mark.slow
def test_other_versions_of_the_software_evaluate_again(
    tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record of another version of mtl, of the tokenizer or of scikit-learn is not what this one would record."""
    opened, given = Opened(software={"mtl": "1", "tokenizer": "1"}), {"data_dir": str(data_dir)}
    evaluate(tmp_path, opened, **given)
    for software in ({"mtl": "2", "tokenizer": "1"}, {"mtl": "2", "tokenizer": "2"}):
        newer = Opened(software=software)
        assert list(evaluate(tmp_path, newer, **given, tasks=["PpcPC"])["tasks"]) == ["PpcPC"]
        assert newer.encoders[0].encoded == 80
    versions = {"mteb": "1", "scikit-learn": "0"}
    monkeypatch.setattr("mtl.vectors.mteb.evaluation.version", versions.__getitem__)
    assert list(evaluate(tmp_path, newer, **given, tasks=["PpcPC"])["tasks"]) == ["PpcPC"]
    assert newer.encoders[1].encoded == 80
    record = json.loads(next((tmp_path / "runs").rglob("PpcPC/*/record.json")).read_text(encoding="utf-8"))
    assert record["versions"] == {**versions, "mtl": "2", "tokenizer": "2"}


@pytest.mark.slow
def test_rows_that_changed_with_the_same_time_are_other_rows(tmp_path: Path, data_dir: Path) -> None:
    rows = pairs(20, "labels", seed=5), pairs(20, "labels", seed=6)
    scores = []
    for part in rows:
        write_rows(data_dir / "PpcPC", "test", part)
        os.utime(data_dir / "PpcPC/test.jsonl", (1_700_000_000, 1_700_000_000))
        summary = evaluate(tmp_path, Opened(), data_dir=str(data_dir), tasks=["PpcPC"])
        scores.append(summary["tasks"]["PpcPC"]["score"])
    expected = [average_precision_score([row["labels"] for row in part], cosines(part)) for part in rows]
    assert abs(expected[0] - expected[1]) > 1e-3
    assert scores == [pytest.approx(100 * value, abs=1e-3) for value in expected]


def test_a_cache_that_cannot_be_written_to_is_one_line(tmp_path: Path, data_dir: Path) -> None:
    (tmp_path / "datasets").touch()
    with raises_input_error():
        evaluate(tmp_path, Opened(), data_dir=str(data_dir), tasks=["PpcPC"])


@pytest.mark.slow
def test_a_folder_that_lacks_a_split_does_not_stop_the_others(
    tmp_path: Path, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """AllegroReviews, which comes first, trains a classifier; of CDSC-R there are rows of another split alone."""
    write_rows(data_dir / "AllegroReviews", "test", labelled(20))
    write_rows(data_dir / "CDSC-R", "validation", pairs(20, "score"))
    (data_dir / "PAC").mkdir()
    caplog.set_level(logging.INFO, "mtl")
    opened = Opened()
    assert list(evaluate(tmp_path, opened, data_dir=str(data_dir))["tasks"]) == ["PpcPC", "SICK-R-PL"]
    left_out = [message for message in caplog.messages if message.startswith("left out: ")]
    assert [message.split(";")[0] for message in left_out] == [
        f"left out: {data_dir}/AllegroReviews: has no split train",
        f"left out: {data_dir}/PAC: has no files",
        f"left out: {data_dir}/CDSC-R: has no split test",
    ]
    with raises_input_error():  # a task that was asked for
        evaluate(tmp_path, opened, data_dir=str(data_dir), tasks=["CDSC-R"])


def test_rows_that_cannot_be_read_are_named_before_anything_is_encoded(tmp_path: Path, data_dir: Path) -> None:
    write_rows(data_dir / "SICK-R-PL", "test", [{"sentence1": "a", "sentence2": "b"}])
    opened = Opened()
    with raises_input_error(file="test.jsonl"):
        evaluate(tmp_path, opened, data_dir=str(data_dir))
    assert not opened.encoders


def test_folders_that_all_lack_a_split_are_one_line(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows/CDSC-R", "validation", pairs(20, "score"))
    with raises_input_error():
        evaluate(tmp_path, Opened(), data_dir=str(tmp_path / "rows"))


@pytest.mark.slow
def test_evaluations_on_other_rows_are_kept(tmp_path: Path, data_dir: Path) -> None:
    opened, rows = Opened(), {"first": pairs(20, "labels", seed=5), "second": pairs(24, "labels", seed=6)}
    for name, part in rows.items():
        write_rows(tmp_path / name / "PpcPC", "test", part)
    first, second, again = (
        evaluate(tmp_path, opened, data_dir=str(tmp_path / name), tasks=["PpcPC"])["tasks"]["PpcPC"]
        for name in ("first", "second", "first")
    )
    assert again == first != second and opened.encoders[2].encoded == 0
    (result,) = (tmp_path / "runs").rglob("results/*/*/PpcPC.json")
    assert json.loads(result.read_text(encoding="utf-8"))["dataset_revision"] == first["revision"]
    # Of a task that a command does not name, rows that are mteb's come first, and then the newest.
    other = {"data_dir": str(data_dir), "tasks": ["SICK-R-PL"]}
    records = {path.parent.name: path for path in (tmp_path / "runs").rglob("PpcPC/*/record.json")}
    assert set(records) == {first["revision"], second["revision"]}
    os.utime(records[second["revision"]], (1, 1))
    assert evaluate(tmp_path, opened, **other)["tasks"]["PpcPC"] == first
    exact = {**second, "data": "exact", "differences": []}
    records[second["revision"]].write_text(json.dumps(exact), encoding="utf-8")
    os.utime(records[second["revision"]], (1, 1))
    assert evaluate(tmp_path, opened, **other)["tasks"]["PpcPC"] == exact
    # What is damaged is evaluated again.
    records[first["revision"]].write_text("[1", encoding="utf-8")
    repeated = evaluate(tmp_path, opened, data_dir=str(tmp_path / "first"), tasks=["PpcPC"])["tasks"]["PpcPC"]
    assert repeated["score"] == first["score"] and opened.encoders[-1].encoded == 40


@pytest.mark.slow
def test_a_score_that_is_not_finite_is_missing(
    tmp_path: Path, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{**row, "score": 1.0} for row in pairs(20, "score")]
    write_rows(data_dir / "SICK-R-PL", "test", rows)
    opened = Opened()
    with caplog.at_level(logging.WARNING, logger="mtl"):
        summary = evaluate(tmp_path, opened, data_dir=str(data_dir))
    assert "SICK-R-PL (2 of 2): cosine_spearman is not a finite number, so the task counts as missing" in caplog.text
    assert list(summary["tasks"]) == ["PpcPC"] and "SICK-R-PL" in summary["missing"]
    assert summary["average"] == summary["tasks"]["PpcPC"]["score"]
    (found,) = find_evaluations(tmp_path)
    assert list(found.summary["tasks"]) == ["PpcPC"]
    for path in (tmp_path / "runs").rglob("record.json"):
        assert "NaN" not in path.read_text(encoding="utf-8")
    assert evaluate(tmp_path, opened, data_dir=str(data_dir)) == summary and opened.encoders[1].encoded == 0


def test_local_rows_that_mteb_cannot_score_are_one_line(tmp_path: Path) -> None:
    write_rows(tmp_path / "data/CBD", "train", [{**row, "label": 0} for row in labelled(20)])
    write_rows(tmp_path / "data/CBD", "test", labelled(10))
    write_rows(tmp_path / "data/PpcPC", "test", [{**row, "labels": 2 * row["labels"]} for row in pairs(20, "labels")])
    for task, reason in (("CBD", ".*one class"), ("PpcPC", ".*pos_label=1 is not a valid label")):
        with pytest.raises(
            InputError, match=f"data/{task}.*: not the rows of {task} in a form that mteb reads: {reason}"
        ) as raised:
            evaluate(tmp_path, Opened(), data_dir=str(tmp_path / "data"), tasks=[task])
        assert "\n" not in str(raised.value)


def test_errors_of_the_encoder_are_not_those_of_rows(
    tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(encoder: HashedEncoder, texts: list[str], progress: bool = False) -> np.ndarray:
        raise ValueError("of the encoder")

    monkeypatch.setattr(HashedEncoder, "encode", fail)
    with pytest.raises(ValueError, match="of the encoder"):
        evaluate(tmp_path, Opened(), data_dir=str(data_dir), tasks=["PpcPC"])
    monkeypatch.setattr(HashedEncoder, "encode", lambda encoder, texts, progress: np.full((len(texts), 32), np.nan))
    with raises_input_error():
        evaluate(tmp_path, Opened(), data_dir=str(data_dir), tasks=["PpcPC"])


def test_retrieval_rows_in_a_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data/SciFact-PL"
    texts = ["kot pies", "dom las", "góra ptak", "ryba chleb"]
    write_rows(folder, "corpus", [{"_id": str(id), "title": "", "text": text} for id, text in enumerate(texts)])
    write_rows(folder, "queries", [{"_id": f"q{id}", "text": text} for id, text in enumerate(texts)])
    write_rows(folder, "qrels", [{"query-id": f"q{id}", "corpus-id": str(id), "score": 1} for id in range(4)])
    parts = {"corpus": "corpus", "queries": "queries", "default": "qrels"}
    splits = {"corpus": "corpus", "queries": "queries", "default": "test"}
    configs = [
        {"config_name": name, "data_files": [{"split": splits[name], "path": f"{file}.jsonl"}]}
        for name, file in parts.items()
    ]
    front = yaml.safe_dump({"configs": configs})
    (folder / "README.md").write_text(f"---\n{front}---\n", encoding="utf-8")
    summary = evaluate(tmp_path, Opened(), data_dir=str(tmp_path / "data"))
    # Each query is a document, so each is found first; mteb's own bar is not shown.
    assert summary["tasks"]["SciFact-PL"]["score"] == pytest.approx(100)
    assert "Searching corpus" not in capfd.readouterr().err


def test_rows_of_the_hub_are_exact_if_mteb_describes_the_split() -> None:
    from mtl.vectors.mteb.data import MtebRows, compare_rows, fresh_task

    task, rows = fresh_task(load_benchmark(find_benchmark("pl-mteb")), "PpcPC", "test"), MtebRows(None, "r")
    assert compare_rows(task, rows, "test") == ("exact", [])
    assert compare_rows(task, rows, "dev") == ("stand-in", ["dev: mteb does not describe it"])


def test_a_statistic_that_is_missing_is_a_difference(tmp_path: Path, data_dir: Path) -> None:
    from mtl.vectors.mteb.data import compare_rows, find_rows, fresh_task, load_rows

    benchmark = load_benchmark(find_benchmark("pl-mteb"))
    rows = find_rows(benchmark, "PpcPC", data_dir)
    task = fresh_task(benchmark, "PpcPC", "test", rows)
    load_rows(task, rows)
    ours = task._calculate_descriptive_statistics_from_split("test")
    for described, differences in (
        ({"test": ours}, []),
        ({"test": {**ours, "colour_statistics": {"hues": 3}}}, ["test: colour: none, unlike mteb's"]),
    ):
        with patch.object(type(task.metadata), "descriptive_stats", described):
            assert compare_rows(task, rows, "test")[1] == differences


def test_result_files_and_metadata_are_those_of_mteb(tmp_path: Path, data_dir: Path) -> None:
    import mteb

    opened = Opened(trained_on=("klej/cbd", "klej/ar"))
    given = {"model.license": "mit", "model.open_weights": True, "model.name": "org/lstm"}
    summary = evaluate(tmp_path, opened, data_dir=str(data_dir), tasks=["PpcPC"], **given)
    (result,) = (tmp_path / "runs").rglob("results/org__lstm/*/PpcPC.json")
    meta = json.loads((result.parent / "model_meta.json").read_text(encoding="utf-8"))
    assert result.parent.name == meta["revision"] == opened.encoders[0].fingerprint()[:12]
    assert (meta["name"], meta["license"], meta["embed_dim"], meta["languages"]) == (
        "org/lstm",
        "mit",
        32,
        ["pol-Latn"],
    )
    assert sorted(meta["training_datasets"]) == ["AllegroReviews", "CBD"]
    cache = mteb.ResultCache(result.parents[3])
    read = cache.load_task_result("PpcPC", "org/lstm", meta["revision"])
    assert read is not None and read.dataset_revision == summary["tasks"]["PpcPC"]["revision"]
    assert 100 * read.get_score() == pytest.approx(summary["tasks"]["PpcPC"]["main_score"])
    # What is said about the model later is in the files of tasks that are evaluated already.
    given = {"model.name": "org/other", "model.license": "apache-2.0", "model.open_weights": True}
    evaluate(tmp_path, opened, data_dir=str(data_dir), tasks=["PpcPC"], **given)
    assert opened.encoders[1].encoded == 0
    (moved,) = (tmp_path / "runs").rglob("results/*/*/PpcPC.json")
    meta = json.loads((moved.parent / "model_meta.json").read_text(encoding="utf-8"))
    assert moved.parts[-3] == "org__other" and (meta["name"], meta["license"]) == ("org/other", "apache-2.0")
    assert cache.load_task_result("PpcPC", "org/other", meta["revision"]) is not None


def test_settings_are_chosen_on_validation_rows(tmp_path: Path, data_dir: Path) -> None:
    opened = Opened()
    summary = evaluate(tmp_path, opened, data_dir=str(data_dir), tasks=["SICK-R-PL"], pooling="choose")
    choice = summary["choice"]
    assert [one["settings"] for one in choice["tried"]] == [{"pooling": "max"}, {"pooling": "mean"}]
    assert (choice["split"], choice["tasks"]) == ("validation", ["PpcPC"])
    rows = pairs(30, "labels", seed=1)
    expected = average_precision_score([row["labels"] for row in rows], cosines(rows))
    assert choice["tried"][1]["mean"] == pytest.approx(100 * expected, abs=1e-3)
    best = max(choice["tried"], key=lambda one: one["mean"])
    assert choice["chosen"] == best["settings"] == summary["settings"] and summary["fingerprint"] == best["fingerprint"]
    assert list(summary["tasks"]) == ["SICK-R-PL"]


def test_a_swedish_benchmark_is_another_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "sv.yaml").write_text(SWEDISH, encoding="utf-8")
    for split, rows in (("train", 40), ("test", 10)):
        write_rows(tmp_path / "sv/SweRecClassification", split, labelled(rows, seed=rows))
    with caplog.at_level(logging.WARNING, logger="mtl"):
        summary = evaluate(tmp_path, Opened(), benchmark=str(tmp_path / "sv.yaml"), data_dir=str(tmp_path / "sv"))
    assert "the encoder's language is pl, but Two Swedish tasks is in sv" in caplog.text
    assert summary["benchmark"] == "sv-test" and summary["missing"] == ["DalajClassification"]
    of = summary["tasks"]["SweRecClassification"]
    assert of["data"] == "reduced" and 0 < of["score"] <= 100 and of["score"] == of["main_score"]


@pytest.mark.slow
def test_bad_input_is_one_line(tmp_path: Path, data_dir: Path) -> None:
    for given, message in (
        ({"tasks": ["XYZ"]}, "tasks: benchmark pl-mteb has no task XYZ; it has CBD, "),
        ({"tasks": ["ppcpc"]}, "tasks: benchmark pl-mteb has no task ppcpc; did you mean PpcPC?"),
        ({"pooling": "sum"}, "pooling=sum: must be one of max, mean, choose"),
        ({"tasks": ["CDSC-E"]}, "task CDSC-E: has no folder in data_dir, and the hub's PL-MTEB/.* cannot be had"),
        ({"tasks": ["PpcPC"], "data_dir": str(tmp_path / "none")}, "none: no such folder"),
        ({"tasks": ["PpcPC"], "model.license": "mine"}, "model.license=mine: "),
        ({"data_dir": str(tmp_path)}, "has no folder of a task of pl-mteb"),
    ):
        with pytest.raises(InputError, match=message) as raised:
            evaluate(tmp_path, Opened(), **{"data_dir": str(data_dir), **given})
        assert "\n" not in str(raised.value)
    write_rows(data_dir / "SICK-R-PL", "test", [{"text": "kot", "label": 1}])
    with raises_input_error(file="test.jsonl"):
        evaluate(tmp_path, Opened(), data_dir=str(data_dir), tasks=["SICK-R-PL"])
    write_rows(data_dir / "CBD", "test", labelled(10))
    with raises_input_error():
        evaluate(tmp_path, Opened(), data_dir=str(data_dir), tasks=["CBD"])
    (data_dir / "PpcPC/test.jsonl").unlink()
    with raises_input_error():
        evaluate(tmp_path, Opened(), data_dir=str(data_dir), tasks=["PpcPC"])


def test_the_command(
    tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hashed = EncoderKind(lambda name, settings: HashedEncoder(**settings))
    monkeypatch.setitem(ENCODERS, "hashed", hashed)
    command = ["mteb", "hashed", "pooling=mean", "tasks=[PpcPC]", f"data_dir={data_dir}", f"runs_dir={tmp_path}/runs"]
    assert main(command) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "# PL-MTEB: Hashed words, mean" and printed[-1].endswith("/table.md")
    summary = json.loads(Path(printed[-1]).with_name("summary.json").read_text(encoding="utf-8"))
    assert summary["command"].startswith("mtl mteb hashed") and summary["versions"]["mtl"] and summary["machine"]
    assert {"mteb", "datasets", "sentence-transformers"} <= set(summary["versions"])
    monkeypatch.setattr("mtl.base.extras.find_spec", lambda name: None)
    assert main(command) == 2
    assert "pip install 'mtl-baselines[mteb]'" in capsys.readouterr().err


def test_mteb_has_every_task_of_pl_mteb_in_polish_alone() -> None:
    from mtl.vectors.mteb.benchmark import find_benchmark, load_benchmark
    from mtl.vectors.mteb.data import fresh_task

    benchmark = load_benchmark(find_benchmark("pl-mteb"))
    tasks = {name: fresh_task(benchmark, name, of.split) for name, of in benchmark.tasks.items()}
    assert {name: task.hf_subsets for name, task in tasks.items() if task.hf_subsets != ["default"]} == {
        **{"MassiveIntentClassification": ["pl"], "MassiveScenarioClassification": ["pl"], "STS22": ["pl"]}
    }
    main_scores = {name: task.metadata.main_score for name, task in tasks.items()}
    other = {name for name, score in main_scores.items() if score != benchmark.metric(name)}
    assert other == set(benchmark.types["pair_classification"].tasks)
