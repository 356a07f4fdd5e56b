"""Evaluation by mteb itself, on small local folders and without a network."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import yaml
from data_files import read_json, write_jsonl
from input_errors import raises_input_error
from mteb_folders import SWEDISH, WORDS, HashedEncoder, labelled, pairs
from scipy.stats import spearmanr
from sentence_models import write_model
from sklearn.metrics import average_precision_score

from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.jobs.engines import ENGINES, Unit
from mtl.vectors.encoders import ENCODERS, open_encoder
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.results import find_evaluations
from mtl.vectors.mteb.run import cluster_encoding, run_mteb

pytest.importorskip("mteb")

Rows = Sequence[Mapping[str, Any]]
pytestmark = pytest.mark.usefixtures("offline")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    write_jsonl(path / "PpcPC/test.jsonl", pairs(40, "labels"))
    write_jsonl(path / "SICK-R-PL/test.jsonl", pairs(50, "score"))
    return path


def evaluate(folder: Path, encoder: HashedEncoder | None = None, /, **given: Any) -> dict[str, Any]:
    """The summary of an evaluation whose runs lie beside the folder of the data."""
    settings = {"data_dir": str(folder), "runs_dir": str(folder.parent / "runs"), **given}
    files = run_mteb(lambda _: encoder or HashedEncoder(), settings, {"command": "mtl mteb x"})
    assert files.table.read_text(encoding="utf-8").startswith("# ")
    return read_json(files.summary)


def cosines(rows: Rows) -> np.ndarray:
    one, other = (HashedEncoder().encode([row[side] for row in rows]) for side in ("sentence1", "sentence2"))
    return (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


def precision(rows: Rows) -> Any:
    """The average precision × 100 of the cosines."""
    return pytest.approx(100 * average_precision_score([row["labels"] for row in rows], cosines(rows)), abs=1e-3)


@pytest.mark.slow
def test_scores_are_those_of_an_independent_computation(data_dir: Path) -> None:
    encoder, times = HashedEncoder(), (1_700_000_000, 1_700_000_000)
    os.utime(data_dir / "PpcPC/test.jsonl", times)
    summary = evaluate(data_dir, encoder)
    tasks, encoded = summary["tasks"], encoder.encoded
    assert tasks["PpcPC"]["score"] == precision(pairs(40, "labels"))
    assert (tasks["PpcPC"]["metric"], tasks["PpcPC"]["main_metric"]) == ("cosine_ap", "max_ap")
    rows = pairs(50, "score")
    expected = spearmanr([row["score"] for row in rows], cosines(rows)).statistic
    assert tasks["SICK-R-PL"]["score"] == pytest.approx(100 * expected, abs=1e-3)
    assert [task["data"] for task in tasks.values()] == ["reduced", "reduced"]
    assert "test: 40 samples, not 1000" in tasks["PpcPC"]["differences"]
    assert summary["partial"] and len(summary["missing"]) == 26 and tasks["PpcPC"]["sentences"] == 80

    # The same command evaluates nothing again; other rows of one task evaluate that task again.
    assert evaluate(data_dir, encoder) == summary and encoder.encoded == encoded
    write_jsonl(data_dir / "PpcPC/test.jsonl", pairs(20, "labels"))
    os.utime(data_dir / "PpcPC/test.jsonl", times)  # as tar, rsync and `cp -p` do
    changed = evaluate(data_dir, encoder, tasks=["PpcPC"])["tasks"]
    assert encoder.encoded == encoded + 40 and changed["PpcPC"]["score"] == precision(pairs(20, "labels"))
    assert changed["SICK-R-PL"] == tasks["SICK-R-PL"]


@pytest.mark.slow
def test_a_sentence_transformer_has_the_scores_of_mteb_with_the_library_alone(
    data_dir: Path, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last digit, with prompts for tasks and types of tasks, and vectors with prompts for queries and documents."""
    import mteb
    from mteb.types import PromptType
    from sentence_transformers import SentenceTransformer

    from mtl.vectors.mteb.data import find_rows, fresh_task
    from mtl.vectors.mteb.model import EncoderModel, model_meta

    prompts = {"PpcPC": "kot ", "STS": "dom las ", "query": "noc ", "document": "ptak "}
    folder = write_model(data_dir.parent / "model", WORDS, prompts=prompts)
    library = SentenceTransformer(str(folder), device="cpu")
    encoder = open_encoder("sentence_transformer", {"path": str(folder)})
    encoded = patch.object(library, "encode", wraps=library.encode)
    settings = {"data_dir": str(data_dir), "runs_dir": str(data_dir.parent / "runs")}
    files = run_mteb(lambda _: encoder, settings, {"command": "mtl mteb x"})
    for name, record in read_json(files.summary)["tasks"].items():
        rows = find_rows(benchmark, name, data_dir)
        task = fresh_task(benchmark, name, "test", rows)
        with encoded as calls:
            result = mteb.evaluate(library, task, cache=None, encode_kwargs={"batch_size": 32}).task_results[0]
        assert {call.kwargs["prompt"] for call in calls.call_args_list} == {prompts.get(name, prompts["STS"])}
        assert record["score"] == 100 * result.scores["test"][0][benchmark.metric(name)]
        result.to_disk(data_dir / "alone.json")  # rounded, as the command's own file is
        mine, alone = next(files.results.rglob(f"{name}.json")), data_dir / "alone.json"
        assert read_json(mine)["scores"] == read_json(alone)["scores"]
    meta = model_meta(encoder, benchmark)
    for role in (PromptType.query, PromptType.document):
        asked = {"task_metadata": mteb.get_task("SciFact-PL").metadata, "prompt_type": role}
        vectors = EncoderModel(encoder, meta).encode([{"text": WORDS[:2]}, {"text": WORDS[2:]}], **asked)
        np.testing.assert_array_equal(vectors, library.encode(WORDS, prompt=prompts[role.value]))
    assert meta.use_instructions and meta.similarity_fn_name == "cosine"
    monkeypatch.setattr(encoder, "similarity", "euclidean")
    with raises_input_error():
        model_meta(encoder, benchmark)


@pytest.mark.slow
def test_a_score_that_is_not_finite_is_missing(data_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_jsonl(data_dir / "SICK-R-PL/test.jsonl", [{**row, "score": 1.0} for row in pairs(20, "score")])
    encoder = HashedEncoder()
    with caplog.at_level(logging.WARNING, logger="mtl"):
        summary = evaluate(data_dir, encoder)
        encoded = encoder.encoded
    assert "SICK-R-PL (2 of 2): cosine_spearman is not a finite number, so the task counts as missing" in caplog.text
    assert list(summary["tasks"]) == ["PpcPC"] and "SICK-R-PL" in summary["missing"]
    assert summary["average"] == summary["tasks"]["PpcPC"]["score"]
    (found,) = find_evaluations(data_dir.parent)
    assert list(found.summary["tasks"]) == ["PpcPC"]
    for path in (data_dir.parent / "runs").rglob("record.json"):
        assert "NaN" not in path.read_text(encoding="utf-8")
    assert evaluate(data_dir, encoder) == summary and encoder.encoded == encoded


def test_local_rows_that_mteb_cannot_score_are_one_line(tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_jsonl(data / "CBD/train.jsonl", [{**row, "label": 0} for row in labelled(20)])
    write_jsonl(data / "CBD/test.jsonl", labelled(10))
    write_jsonl(data / "PpcPC/test.jsonl", [{**row, "labels": 2 * row["labels"]} for row in pairs(20, "labels")])
    for task, reason in (("CBD", ".*one class"), ("PpcPC", ".*pos_label=1 is not a valid label")):
        message = f"data/{task}.*: not the rows of {task} in a form that mteb reads: {reason}"
        with pytest.raises(InputError, match=message) as raised:
            evaluate(data, tasks=[task])
        assert "\n" not in str(raised.value)


def test_errors_of_the_encoder_are_not_those_of_rows(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(encoder: HashedEncoder, texts: list[str], **options: Any) -> np.ndarray:
        raise ValueError("of the encoder")

    monkeypatch.setattr(HashedEncoder, "encode", fail)
    with pytest.raises(ValueError, match="of the encoder"):
        evaluate(data_dir, tasks=["PpcPC"])
    monkeypatch.setattr(HashedEncoder, "encode", lambda encoder, texts, **options: np.full((len(texts), 32), np.nan))
    with raises_input_error():
        evaluate(data_dir, tasks=["PpcPC"])


@pytest.fixture
def corpus_dir(tmp_path: Path) -> Path:
    """The folder of data with a corpus, each document of which is a query too."""
    folder, configs = tmp_path / "data/SciFact-PL", []
    documents = list(enumerate(["kot pies", "dom las", "góra ptak", "ryba chleb"]))
    for name, split, rows in (
        ("corpus", "corpus", [{"_id": str(id), "title": "", "text": text} for id, text in documents]),
        ("queries", "queries", [{"_id": f"q{id}", "text": text} for id, text in documents]),
        ("default", "test", [{"query-id": f"q{id}", "corpus-id": str(id), "score": 1} for id, _ in documents]),
    ):
        write_jsonl(folder / f"{split}.jsonl", rows)
        configs.append({"config_name": name, "data_files": [{"split": split, "path": f"{split}.jsonl"}]})
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump({'configs': configs})}---\n", encoding="utf-8")
    return tmp_path / "data"


def test_retrieval_rows_in_a_folder(corpus_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each query is found first; mteb's own bar is not shown."""
    assert evaluate(corpus_dir)["tasks"]["SciFact-PL"]["score"] == pytest.approx(100)
    assert "Searching corpus" not in capfd.readouterr().err


class Here:
    """An engine whose only worker is this process."""

    def map(self, maker: Unit, items: Iterable[Any], workers: int) -> Iterator[Any]:
        return map(maker.call(*maker.arguments), items)


def test_a_worker_with_another_encoder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "ray", Here)
    encode = cluster_encoding(HashedEncoder(), lambda settings: HashedEncoder(), {}, 1, tmp_path)
    (vectors,) = encode([["kot pies"]], None)
    np.testing.assert_array_equal(vectors, HashedEncoder().encode(["kot pies"]))
    for other in (HashedEncoder(name="other"), HashedEncoder(software={"mtl": "0"})):
        with raises_input_error():
            cluster_encoding(other, lambda settings: HashedEncoder(), {}, 1, tmp_path)([["kot pies"]], None)


@pytest.mark.ray
@pytest.mark.xdist_group("ray")
def test_workers_of_a_cluster_encode_the_same_corpus(corpus_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # with a token, Ray would write it into the home folder
    monkeypatch.setenv("RAY_ADDRESS", "local")
    command = ["mteb", "average", "embeddings=random", "language=pl", f"data_dir={corpus_dir}", "tasks=[SciFact-PL]"]
    monkeypatch.chdir(corpus_dir.parent)
    vectors, scores = [], []
    for runs, workers in (("alone", []), ("cluster", ["workers=1"])):
        assert main([*command, f"runs_dir={runs}", *workers]) == 0
        vectors += [path.read_bytes() for path in Path(runs).rglob("*.f32")]
        scores += [read_json(path)["tasks"] for path in Path(runs).rglob("summary.json")]
    assert len(vectors) == 2 and vectors[0] == vectors[1]
    assert scores[0]["SciFact-PL"]["score"] == scores[1]["SciFact-PL"]["score"]


def test_rows_are_compared_with_what_mteb_describes(data_dir: Path, benchmark: Benchmark) -> None:
    from mtl.vectors.mteb.data import MtebRows, find_rows, fresh_task, load_rows
    from mtl.vectors.mteb.descriptions import compare_rows

    task = fresh_task(benchmark, "PpcPC", "test")
    assert compare_rows(task, MtebRows(None, "r"), "test") == ("exact", [])
    assert compare_rows(task, MtebRows(None, "r"), "dev") == ("stand-in", ["dev: mteb does not describe it"])
    rows = find_rows(benchmark, "PpcPC", data_dir)
    task = fresh_task(benchmark, "PpcPC", "test", rows)
    load_rows(task, rows)
    ours = task._calculate_descriptive_statistics_from_split("test")
    other = {**ours, "colour_statistics": {"hues": 3}}
    for described, compared in ((ours, ("exact", [])), (other, ("stand-in", ["test: colour: no hues, not 3"]))):
        with patch.object(type(task.metadata), "descriptive_stats", {"test": described}):
            assert compare_rows(task, rows, "test") == compared


def test_result_files_and_metadata_are_those_of_mteb(data_dir: Path) -> None:
    import mteb

    encoder = HashedEncoder(trained_on=("klej/cbd", "klej/ar"))
    summary = evaluate(data_dir, encoder, tasks=["PpcPC"])
    (result,) = (data_dir.parent / "runs").rglob("results/*/*/PpcPC.json")
    meta = read_json(result.parent / "model_meta.json")
    name = f"mtl/{encoder.description.name}"
    assert result.parts[-3:-1] == (name.replace("/", "__"), encoder.fingerprint[:12])
    assert [meta[key] for key in ("name", "embed_dim", "revision")] == [name, 32, result.parent.name]
    assert meta["languages"] == ["pol-Latn"] and sorted(meta["training_datasets"]) == ["AllegroReviews", "CBD"]
    cache = mteb.ResultCache(result.parents[3])
    read = cache.load_task_result("PpcPC", name, meta["revision"])
    assert read is not None and read.dataset_revision == summary["tasks"]["PpcPC"]["revision"]
    assert 100 * read.get_score() == pytest.approx(summary["tasks"]["PpcPC"]["main_score"])


def test_a_swedish_benchmark_is_another_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "sv.yaml").write_text(SWEDISH, encoding="utf-8")
    for split, rows in (("train", 40), ("test", 10)):
        write_jsonl(tmp_path / "sv/SweRecClassification" / f"{split}.jsonl", labelled(rows, seed=rows))
    with caplog.at_level(logging.WARNING, logger="mtl"):
        summary = evaluate(tmp_path / "sv", benchmark=str(tmp_path / "sv.yaml"))
    assert "the encoder's language is pl, but Two Swedish tasks is in sv" in caplog.text
    assert summary["benchmark"] == "sv-test" and summary["missing"] == ["DalajClassification"]
    task = summary["tasks"]["SweRecClassification"]
    assert task["data"] == "reduced" and 0 < task["score"] <= 100 and task["score"] == task["main_score"]


def test_a_folder_without_a_task_is_one_line(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data_dir.parent)
    for folder in ("none", "."):
        with raises_input_error(key="data_dir"):
            evaluate(data_dir, data_dir=folder)


def test_the_command(data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(ENCODERS, "hashed", lambda settings: HashedEncoder(**settings))
    folders = [f"data_dir={data_dir}", f"runs_dir={data_dir.parent}/runs"]
    command = ["mteb", "hashed", "pooling=mean", "tasks=[PpcPC]", *folders]
    assert main(command) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "# PL-MTEB: Hashed words, mean" and printed[-1].endswith("/table.md")
    summary = read_json(Path(printed[-1]).with_name("summary.json"))
    assert summary["command"].startswith("mtl mteb hashed") and summary["versions"]["mtl"] and summary["machine"]
    assert {"mteb", "datasets", "sentence-transformers"} <= set(summary["versions"])
    monkeypatch.setattr("mtl.base.extras.find_spec", lambda name: None)
    assert main(command) == 2
    assert "pip install 'mtl-baselines[mteb]'" in capsys.readouterr().err


def test_mteb_has_every_task_of_pl_mteb_in_polish_alone(benchmark: Benchmark) -> None:
    from mtl.vectors.mteb.data import fresh_task

    tasks = {name: fresh_task(benchmark, name, task.split) for name, task in benchmark.tasks.items()}
    polish = {"MassiveIntentClassification", "MassiveScenarioClassification", "STS22"}
    assert {name for name, task in tasks.items() if task.hf_subsets == ["pl"]} == polish
    assert all(task.hf_subsets == ["default"] for name, task in tasks.items() if name not in polish)
    other = {name for name, task in tasks.items() if task.metadata.main_score != benchmark.metric(name)}
    assert other == set(benchmark.types["pair_classification"].tasks)
