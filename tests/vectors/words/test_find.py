"""Vectors of a recipe that a run trains before it begins."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from embedding_requests import build, found, small_job, vectors_of
from input_errors import refused

from mtl.base.locks import lock
from mtl.embedders.recipes import load_recipe


def test_a_recipe_that_can_be_trained_is_trained_once(suite_file: Path) -> None:
    run = small_job(suite_file, fasttext="fasttext-sample")
    recipe = load_recipe("fasttext-sample")
    found(run).check_obtainable()
    made = build(suite_file, run)
    assert made.dim == recipe.train["dim"]
    path = suite_file.parent / "vectors/klej-sample.bin"
    assert found(run).path == path and found(run).exist
    written = path.stat().st_mtime_ns
    assert build(suite_file, run).fingerprint() == made.fingerprint()
    assert path.stat().st_mtime_ns == written
    missing = small_job(suite_file, f"embeddings.path={path.with_name('none.bin')}")
    refused(lambda: build(suite_file, missing), file="none.bin")
    # Vectors that were trained on other texts than these are not used.
    with (suite_file.parent / "data/train.tsv").open("a", encoding="utf-8") as file:
        file.write("ny rad\tglad\n")
    refused(lambda: build(suite_file, run), file="klej-sample.bin")


def test_a_recipe_that_another_process_trains_is_waited_for(
    suite_file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_job(suite_file, fasttext="fasttext-sample")
    build(suite_file, run)
    path = suite_file.parent / "vectors/klej-sample.bin"
    made = {file: file.read_bytes() for file in (path, path.with_name(f"{path.name}.source"))}
    for file in made:
        file.unlink()
    monkeypatch.setattr("mtl.vectors.words.fasttext.FastTextTraining.train", None)  # must not be called
    caplog.clear()
    with caplog.at_level("INFO", logger="mtl"), ThreadPoolExecutor() as pool:
        with lock(path.with_name(f".{path.name}.training"), ""):
            obtained = pool.submit(vectors_of, run)
            while "another process is training these vectors" not in caplog.text and not obtained.done():
                time.sleep(0.01)
            for file in reversed(made):
                file.write_bytes(made[file])
        assert obtained.result() == path
    assert "on the suite's training text" not in caplog.text
