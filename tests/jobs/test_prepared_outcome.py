"""Finished runs that are asked for again."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import job
from input_errors import refused
from small_suite import small_settings

from mtl.jobs.baseline import run_baseline


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The settings of a finished run with a file of vectors, `first/v.vec`. The file `same/v.vec` is equal, `other/v.vec` is not."""
    folder = tmp_path_factory.mktemp("finished")
    for name, number in (("first", 1), ("same", 1), ("other", 2)):
        (folder / name).mkdir()
        (folder / name / "v.vec").write_text(f"solen {number} 2 3\n", encoding="utf-8")
    small = [setting for setting in small_settings(folder) if not setting.startswith("embeddings.dim")]
    settings = [*small, "seeds=[1]", "embeddings=fasttext", f"embeddings.path={folder / 'first/v.vec'}"]
    run_baseline(job(settings))
    return settings


def moved(settings: list[str], name: str) -> list[str]:
    """The settings with the vectors in another folder beside the first."""
    return [setting.replace("first/v.vec", f"{name}/v.vec") for setting in settings]


@pytest.mark.slow
def test_other_vectors_are_refused_and_the_same_elsewhere_are_the_same_run(finished: list[str]) -> None:
    refused(lambda: run_baseline(job(moved(finished, "other"))), file="run")
    assert run_baseline(job(moved(finished, "same"))) == run_baseline(job(finished))


@pytest.mark.parametrize("name", ["first", "gone"])
def test_nothing_is_read_where_nothing_was_moved_or_nothing_is_there(
    finished: list[str], name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "mtl")
    expected = run_baseline(job(finished))
    monkeypatch.delattr("mtl.jobs.inputs.prepare")
    assert run_baseline(job(moved(finished, name))) == expected
    assert ("its inputs are not compared (embeddings.path: " in caplog.text) == (name == "gone")


@pytest.fixture
def vectors(finished: list[str]) -> Iterator[Path]:
    """The file of the finished run's vectors, which is put back after the test."""
    path = Path(finished[-1].partition("=")[2])
    content, time = path.read_bytes(), path.stat().st_mtime_ns
    run_baseline(job(finished))
    yield path
    path.write_bytes(content)
    os.utime(path, ns=(time, time))


@pytest.mark.parametrize("line", ["solen 7 2 3\n", "solen 7 2 3.25\n"])
def test_other_vectors_at_the_same_path_are_refused(finished: list[str], vectors: Path, line: str) -> None:
    """Of the same size with another time, and of another size with the same time."""
    before = vectors.stat()
    vectors.write_text(line, encoding="utf-8")
    time = before.st_mtime_ns + (len(line) == before.st_size)
    os.utime(vectors, ns=(time, time))
    for _ in range(2):
        refused(lambda: run_baseline(job(finished)), file="run")


def test_touched_vectors_are_read_once(finished: list[str], vectors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = run_baseline(job(finished))
    os.utime(vectors, (1, 1))
    assert run_baseline(job(finished)) == expected
    monkeypatch.delattr("mtl.jobs.inputs.prepare")
    assert run_baseline(job(finished)) == expected
