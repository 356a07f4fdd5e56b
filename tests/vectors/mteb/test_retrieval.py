"""The search in large corpora: against mteb's own search, an independent ranking, and a killed process."""

import multiprocessing
import os
import random
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from input_errors import raises_input_error
from mteb_folders import DIM, WORDS, HashedEncoder

from mtl.vectors.mteb.benchmark import Benchmark

pytest.importorskip("mteb")

import mteb
from datasets import Dataset
from mteb.models import SearchEncoderWrapper
from mteb.models.model_meta import ScoringFunction

from mtl.vectors.mteb import descriptions, retrieval
from mtl.vectors.mteb.model import EncoderModel, model_meta
from mtl.vectors.mteb.retrieval import CorpusSearch, best_documents, document_blocks

pytestmark = pytest.mark.usefixtures("offline", "small_blocks")
DOCUMENTS, QUERIES = 30, 5


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "BLOCK", 8)
    monkeypatch.setattr(retrieval, "QUERIES", 2)


def corpus() -> Dataset:
    """Documents of up to nine words; one in three has a title, and the last is the first one again."""
    rng = random.Random(1)
    rows = [
        {"id": f"d{n}", "title": "" if n % 3 else rng.choice(WORDS), "text": " ".join(rng.sample(WORDS, 2 + n % 7))}
        for n in range(DOCUMENTS - 1)
    ]
    return Dataset.from_list([*rows, {**rows[0], "id": "again"}])


def queries() -> Dataset:
    rng = random.Random(2)
    return Dataset.from_list([{"id": f"q{n}", "text": " ".join(rng.sample(WORDS, 3))} for n in range(QUERIES)])


def found(searched: Any, top_k: int = 3, ranked: Any = None) -> dict[str, dict[str, float]]:
    """What a search finds in the corpus for the queries."""
    encoding = {"batch_size": 4, "show_progress_bar": False}
    about = {"task_metadata": mteb.get_task("SciFact-PL").metadata, "hf_split": "test", "hf_subset": "default"}
    searched.index(corpus(), **about, encode_kwargs=encoding)
    return searched.search(queries(), top_k=top_k, top_ranked=ranked, **about, encode_kwargs=encoding)


@pytest.mark.parametrize("size", [1, 7, 40])
@pytest.mark.parametrize("top_k", [1, 6, 50])
def test_the_best_documents_do_not_depend_on_the_blocks(size: int, top_k: int) -> None:
    """Each document occurs twice, so that each product does: the first ones are kept, in order."""
    rng = np.random.default_rng(0)
    queries, once = rng.standard_normal((5, DIM)), rng.standard_normal((20, DIM))
    documents = np.concatenate([once, once])
    scores, positions = best_documents(queries, (documents[n : n + size] for n in range(0, 40, size)), top_k)
    for row, query in enumerate(queries):
        products = [float(np.float32(query @ document)) for document in documents]
        expected = sorted(range(40), key=lambda n: (-products[n], n))[:top_k]
        assert positions[row].tolist() == expected
        np.testing.assert_allclose(scores[row], [products[n] for n in expected], rtol=1e-6)


@pytest.mark.parametrize("similarity", [ScoringFunction.COSINE, ScoringFunction.DOT_PRODUCT])
@pytest.mark.parametrize("ranked", [None, {f"q{n}": [f"d{m}" for m in range(n, n + 6)] for n in range(QUERIES)}])
def test_results_are_those_of_mteb_s_own_search(
    tmp_path: Path, benchmark: Benchmark, similarity: ScoringFunction, ranked: dict[str, list[str]] | None
) -> None:
    encoder = HashedEncoder()
    meta = model_meta(encoder, benchmark).model_copy(update={"similarity_fn_name": similarity})
    model = EncoderModel(encoder, meta)
    ours, theirs = (
        found(searched, DOCUMENTS, ranked)
        for searched in (CorpusSearch(model, tmp_path, []), SearchEncoderWrapper(model))
    )
    assert ours.keys() == theirs.keys()
    for query, scores in ours.items():
        assert scores == pytest.approx(theirs[query], rel=1e-6, abs=1e-6)
        assert ranked is not None or (
            scores["d0"] == scores["again"] and list(scores.values()) == sorted(scores.values())[::-1]
        )


def test_a_killed_search_continues_and_what_cannot_be_encoded_is_one_line(
    tmp_path: Path, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process is killed while it encodes the third block. What it wrote is not encoded again, and the file is that of one process."""

    def die(encoder: HashedEncoder, texts: list[str], **options: Any) -> np.ndarray:
        if encoder.encoded >= QUERIES + 16:
            os.kill(os.getpid(), signal.SIGKILL)
        return encode(encoder, texts)

    def run(name: str, key: str = "key") -> tuple[dict[str, dict[str, float]], int]:
        encoder = HashedEncoder()
        searched = CorpusSearch(EncoderModel(encoder, model_meta(encoder, benchmark)), tmp_path / name, [key])
        return found(searched), encoder.encoded

    encode = HashedEncoder.encode
    with monkeypatch.context() as patched:
        patched.setattr(HashedEncoder, "encode", die)
        process = multiprocessing.get_context("fork").Process(target=run, args=("killed",))
        process.start()
        process.join()
    assert process.exitcode == -signal.SIGKILL
    (path,) = (tmp_path / "killed").glob("*.f32")
    row = 4 * DIM
    assert path.stat().st_size == 16 * row
    whole, encoded = run("whole")
    assert encoded == QUERIES + DOCUMENTS
    with path.open("ab") as file:  # a block that was not written to its end is encoded again
        file.write(b"\0" * (5 * row + 3))
    assert run("killed") == (whole, QUERIES + DOCUMENTS - 16)
    assert path.read_bytes() == (tmp_path / "whole" / path.name).read_bytes()
    assert run("killed") == (whole, QUERIES)
    assert run("killed", "other")[1] == QUERIES + DOCUMENTS
    path.unlink()
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=100))
    with raises_input_error():
        run("killed")


def test_a_corpus_is_described_as_by_mteb() -> None:
    """One relevant document is in the corpus, one is not, and one query has none."""
    task: Any = mteb.get_task("SciFact-PL")
    documents = corpus()
    relevant = {"q0": {"d3": 1, "elsewhere": 1}, "q1": {"again": 1}}
    rows = {"corpus": documents, "queries": queries(), "relevant_docs": relevant, "top_ranked": None}
    task.dataset = {"default": {"test": rows}}
    task.data_loaded = True
    theirs = task._calculate_descriptive_statistics_from_split("test")
    ours = descriptions._statistics(task, "test", None)
    theirs["documents_text_statistics"].pop("average_text_length")
    assert ours == theirs and task.dataset["default"]["test"]["corpus"] is documents
    texts = [text for block in document_blocks(documents, task.metadata) for text in block["text"]]
    assert texts == [f"{row['title']} {row['text']}".strip() for row in documents]
