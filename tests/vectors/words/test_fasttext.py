from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from input_errors import raises_input_error

from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.embedders import fasttext_process
from mtl.embedders.recipes import noted_fingerprint
from mtl.vectors.words import fasttext as module
from mtl.vectors.words.fasttext import FastTextTraining
from mtl.vectors.words.files import replace_texts_note

SMALL = FastTextTraining(dim=6, epochs=2, min_count=1, bucket=500, threads=1)
LINES = [["solen", "skiner", "nummer"], ["jag", "skrattar", "gott"], ["regnet", "faller", "nummer"]] * 30


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int | None]]:
    """How far the bar has moved, and its total."""
    steps: list[tuple[int, int | None]] = []

    class Recorded(Progress):
        def __init__(self, title: str, total: int | None, unit: str) -> None:
            super().__init__(title, total, unit)
            self.total = total

        def reach(self, done: int) -> None:
            steps.append((done, self.total))

    monkeypatch.setattr(module, "Progress", Recorded)
    return steps


WRITE = """
import sys
print("Read 0M words", end="\\n\\n", file=sys.stderr)
print("Progress:   1.5% words/sec/thread:   12345 lr:  0.049 avg.loss:  4.1 ETA:   0h 3m12s", file=sys.stderr)
print("ValueError: Encountered NaN.", file=sys.stderr)
print("Progress:  50.0% words/sec/thread:   12345 lr:  0.000 avg.loss:  4.1 ETA:   0h 0m 0s", file=sys.stderr)
sys.exit(1)
"""


def test_what_fasttext_writes_is_progress_or_the_reason_of_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reached: list[tuple[int, int | None]]
) -> None:
    monkeypatch.setattr(fasttext_process, "TRAIN", WRITE)
    with pytest.raises(InputError, match=r"fastText could not train: ValueError: Encountered NaN. \(min_count=5\)"):
        FastTextTraining(epochs=1).train([["a"] * 39] * 5, tmp_path / "v.bin")
    assert reached == [(3, 200), (100, 200)]


def test_one_thread_trains_the_same_vectors_and_the_note_says_so(tmp_path: Path) -> None:
    for name in ("a.bin", "b.bin"):
        SMALL.train(LINES, tmp_path / name)
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bin", "a.bin.source", "b.bin", "b.bin.source"]
    for threads, said in [(1, "threads=1: the same texts and settings give the same vectors"), (2, "each training")]:
        replace(SMALL, threads=threads).train(LINES, tmp_path / "v.bin", "texts 1")
        assert noted_fingerprint(tmp_path / "v.bin") == "texts 1"
        assert said in (tmp_path / "v.bin.source").read_text(encoding="utf-8")


def test_nothing_to_learn(tmp_path: Path) -> None:
    with raises_input_error(file="v.bin"):
        FastTextTraining(min_count=9).train([["a", "b"]], tmp_path / "v.bin")
    assert list(tmp_path.iterdir()) == []


def test_vectors_never_have_the_source_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At whatever moment the process is killed."""
    path, seen = tmp_path / "v.bin", []
    replace_texts_note(path, "former")
    path.write_text("former", encoding="utf-8")

    def look() -> None:
        seen.append((path.read_bytes()[:6] if path.exists() else None, noted_fingerprint(path)))

    def observed(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            result = real(*given, **named)
            look()
            return result

        return call

    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, observed(getattr(Path, name)))
    look()
    SMALL.train(LINES, path, "new")
    monkeypatch.undo()
    trained = path.read_bytes()[:6]
    assert seen[-1] == (trained, "new") and (None, "new") in seen
    assert {note for vectors, note in seen if vectors == trained} == {"new"}
    assert {note for vectors, note in seen if vectors == b"former"} == {"former"}
