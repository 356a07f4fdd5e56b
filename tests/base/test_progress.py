"""Progress lines with a fake clock."""

import logging
from typing import Any

import pytest
from fake_terminal import Clock

from mtl.base.display import LogDisplay, show, shown_run
from mtl.base.events import Detail, Remark, RunBegun
from mtl.base.progress import Progress, hidden_progress, progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Clock:
    fake = Clock()
    monkeypatch.setattr("mtl.base.progress.time", fake)
    monkeypatch.setattr("mtl.base.display._receiver", LogDisplay().take)
    caplog.set_level(logging.INFO, logger="mtl")
    return fake


def test_lines_after_5_seconds_every_30_and_at_the_end(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with Progress("reading", 200, "rows") as shown:
        for _ in range(100):
            clock.now += 1
            shown.advance(2)
    assert caplog.messages == [
        "reading · 10 of 200 rows (5%) · 1 min 35 s left",
        "reading · 70 of 200 rows (35%) · 1 min 05 s left",
        "reading · 130 of 200 rows (65%) · 35 s left",
        "reading · 190 of 200 rows (95%) · 5 s left",
        "reading · finished: 200 rows in 1 min 40 s",
    ]


def test_progress_yields_each_item_and_counts_it(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    for _ in progress(["a", "b", "c"], "reading", "rows"):
        clock.now += 1
    assert caplog.messages == []  # a short operation logs nothing
    seen = []
    for item in progress(["a", "b"], "reading", "rows"):
        seen.append(item)
        clock.now += 60
    assert seen == ["a", "b"]
    assert caplog.messages[0] == "reading · 1 of 2 rows (50%) · 1 min 00 s left"


@pytest.mark.parametrize(
    ("operation", "reached", "line"),
    [
        # Units that were done before the start do not count.
        (("downloading", 2 * 10**9, "B", 10**9), 11 * 10**8, "downloading · 1.1 GB of 2.0 GB (55%) · 1 min 30 s left"),
        (("reading", None, "rows"), 12_345, "reading · 12,345 rows · 10 s so far"),
        # The operation may end earlier.
        (("training", 10, "steps", 0, True), 5, "training · 5 of 10 steps (50%) · at most 10 s left"),
    ],
)
def test_left(
    clock: Clock, caplog: pytest.LogCaptureFixture, operation: tuple[Any, ...], reached: int, line: str
) -> None:
    with Progress(*operation) as shown:
        clock.now += 10
        shown.reach(reached)
    assert caplog.messages[0] == line


def test_note_stands_in_the_lines_that_follow(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with Progress("training", 10, "steps") as shown:
        clock.now += 1
        shown.reach(5)
        shown.note("perplexity 3.1")
        clock.now += 5
        shown.reach(6)
    line = "training · 6 of 10 steps (60%) · perplexity 3.1 · 4 s left"
    assert caplog.messages == [line, "training · finished: 6 steps in 6 s · perplexity 3.1"]


def test_details_are_lines_and_remarks_appear_once(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    for event in (Detail("done"), Remark("21 MB"), Detail("done"), Remark("21 MB")):
        show(event)
    assert caplog.messages == ["done", "21 MB", "done"]


def test_failed_operation_logs_no_finished_line(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError), Progress("reading", 10, "rows") as shown:
        clock.now += 10
        shown.advance()
        raise ValueError
    assert len(caplog.messages) == 1


def test_hidden_progress(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with Progress("all", 2, "parts") as shown:
        for _ in range(2):
            with hidden_progress(), Progress("part", 100, "rows") as part:
                clock.now += 20
                part.advance(100)
                part.note("a note")
            shown.advance()
    assert [line.partition(" · ")[0] for line in caplog.messages] == ["all", "all"]


@pytest.mark.parametrize(
    ("steps", "seeds", "at_once", "said"),
    [
        (2000, [1, 2, 3], 1, ["stage 1 of 2 seeds takes about 11 h 06 min at this speed; faster: preset=strong"]),
        (2000, [1, 2, 3], 2, ["stage 1 of 2 seeds takes about 5 h 33 min at this speed; faster: preset=strong"]),
        (200, [1], 1, []),  # of a finished run
        (50, [1, 2], 1, []),  # a quarter of an hour
    ],
)
def test_a_long_training_is_foretold_once(
    steps: int, seeds: list[int], at_once: int, said: list[str], clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with shown_run(RunBegun("", "an earlier run", [1, 2, 3], [])):
        pass
    with shown_run(RunBegun("", "a run", seeds, [1], at_once, "preset=strong")):
        for _ in range(2):
            with Progress("seed 2 · stage 1", steps, "steps", at_most=True) as shown:
                for _ in range(3):
                    clock.now += 10
                    shown.advance()
    assert [line for line in caplog.messages if "at this speed" in line] == said
