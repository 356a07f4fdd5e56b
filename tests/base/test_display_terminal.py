"""What is drawn on a terminal, with a fake terminal, a fake clock and a real pty."""

import logging
import os
import signal
import subprocess
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from fake_terminal import Clock, FakeTerminal, run_in_pty

from mtl.base.display import DrawnDisplay
from mtl.base.events import Advanced, Detail, Ended, Remark, RunBegun, RunEnded, Scored
from mtl.base.terminal import Screen


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr("mtl.base.display.time", fake)
    return fake


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeTerminal]:
    fake = FakeTerminal()
    for module in ("display", "drawing"):  # pytest itself replaces the stderr of sys
        monkeypatch.setattr(f"mtl.base.{module}.sys", SimpleNamespace(stderr=fake))
    monkeypatch.setattr(Screen, "size", lambda self, stream: os.terminal_size((fake.columns, fake.lines)))
    yield fake


def advanced(title: str, done: int, seconds: float = 10.0, key: int = 1, note: str = "") -> Advanced:
    return Advanced(key, title, done, 0, 60, "steps", seconds, note, at_most=True)


BEGUN = RunBegun("", "klej-sample · LSTM", [1, 2, 3], [1])


def test_a_run_with_its_stage_and_the_last_scores(clock: Clock, terminal: FakeTerminal) -> None:
    display = DrawnDisplay(Screen())
    display.take(BEGUN)
    clock.now += 10
    display.take(Scored(2, {"cdsc-e": "70.0", "cbd": "50.0"}, "60.0"))
    clock.now += 10
    display.take(advanced("seed 2 · stage 1", 15, note="average 60.0, cbd"))
    assert terminal.shown == [
        "1 of 3 seeds done · 20 s so far · klej-sample · LSTM",
        "seed 2 · stage 1  █████                 15 of 60 steps · at most 30 s left · av",
        "scores   seed 2 …",
        "cdsc-e       70.0",
        "cbd          50.0",
        "average      60.0",
    ]


def test_scores_are_drawn_at_once_also_right_after_a_step(clock: Clock, terminal: FakeTerminal) -> None:
    display = DrawnDisplay(Screen())
    display.take(BEGUN)
    display.take(advanced("seed 2 · stage 1", 15))
    display.take(Scored(2, {"cbd": "50.0"}, "50.0"))
    assert "cbd          50.0" in terminal.shown


def test_time_left_is_that_of_the_seeds_that_are_trained_here(clock: Clock, terminal: FakeTerminal) -> None:
    display = DrawnDisplay(Screen())
    display.take(BEGUN)
    clock.now += 120
    display.take(Scored(2, {"cbd": "50.0"}, "50.0", final=True))
    clock.now += 60
    display.take(Scored(3, {"cbd": "61.5"}))
    assert terminal.shown == [
        "2 of 3 seeds done · 3 min 00 s so far, about 1 min 00 s left · klej-sample · LS",
        "scores     seed 2  seed 3 …",
        "cbd          50.0      61.5",
        "average      50.0         –",
    ]
    display.take(RunEnded(""))
    assert terminal.shown == [""]


def test_several_runs_at_once_name_their_seeds(clock: Clock, terminal: FakeTerminal) -> None:
    display = DrawnDisplay(Screen())
    for name in ("random", "fasttext"):
        display.take(RunBegun(name, "a title", [1, 2], []))
        display.take(Scored(1, {"cbd": "50.0"}, "", run=name))
    clock.now += 1
    display.take(advanced("fasttext · seed 1 · stage 1", 30))
    assert terminal.shown[0] == "0 of 4 seeds done · 1 s so far · 2 runs"
    assert terminal.shown[2] == "scores     random 1 …  fasttext 1 …"
    display.take(RunEnded("random"))
    clock.now += 1
    display.take(Scored(2, {"cbd": "51.0"}, "", run="fasttext"))
    assert terminal.shown[2] == "scores   fasttext 1 …  fasttext 2 …"


def test_a_table_too_large_shows_the_last_seeds_and_first_lines(clock: Clock, terminal: FakeTerminal) -> None:
    terminal.columns, terminal.lines = 40, 6
    display = DrawnDisplay(Screen())
    for seed in range(1, 8):
        clock.now += 1
        display.take(Scored(seed, {f"task-{n}": "50.0" for n in range(9)}, "50.0", final=True))
    display.take(BEGUN)
    clock.now += 1
    display.take(Scored(7, {"task-1": "12.5"}, final=True))
    assert max(map(len, terminal.shown)) < 40 and len(terminal.shown) <= 5
    display = DrawnDisplay(Screen())
    for seed in range(1, 8):
        clock.now += 1
        display.take(Scored(seed, {"cbd": "50.0"}, final=True))
    heading = display.drawing.lines(40, 0.0)[0]
    assert heading.split("  ")[-1] == "seed 7" and "seed 1" not in heading
    assert "seed 1" in display.drawing.lines(200, 0.0)[0]


def test_short_operations_are_not_drawn_and_all_disappear(clock: Clock, terminal: FakeTerminal) -> None:
    display = DrawnDisplay(Screen())
    short = Advanced(1, "reading", 5, 0, 10, "rows", 0.5)
    display.take(short)
    assert terminal.shown == [""]
    clock.now += 1
    display.take(Advanced(1, "reading", 6, 0, 10, "rows", 1.5))
    assert terminal.shown == ["reading  ████████████          6 of 10 rows · 1 s left"]
    display.take(Ended(short, failed=False))
    assert terminal.shown == [""]


def test_remarks_appear_once_details_not(
    clock: Clock, terminal: FakeTerminal, caplog: pytest.LogCaptureFixture
) -> None:
    display = DrawnDisplay(Screen())
    with caplog.at_level(logging.INFO, logger="mtl"):
        for event in (Remark("21 MB"), Detail("stage 1 is done"), Remark("21 MB"), Remark("22 MB")):
            display.take(event)
    assert caplog.messages == ["21 MB", "22 MB"]


CODE = """
import logging, sys, time
from mtl.base.terminal import standard_streams
from mtl.base.display import log_to_standard_error, logger, show, shown_run
from mtl.base.events import RunBegun, Scored
from mtl.base.progress import Progress
logging.getLogger("mtl").setLevel(logging.INFO)
try:
    with standard_streams():
        log_to_standard_error()
        try:
            with shown_run(RunBegun("", "a run", [1], [])), Progress("seed 1 · stage 1", 60, "steps", at_most=True) as bar:
                bar.reach(1)
                show(Scored(1, {"cbd": "50.0"}))
                print("a " + "long " * 40 + "line")
                logger.info("a note")
                print("half a ", end="", flush=True)
                bar.note("drawn")
                print("line")
                time.sleep(0.15)
                bar.reach(30)
                TAIL
        except KeyboardInterrupt:
            print("mtl: interrupted", file=sys.stderr)
            sys.exit(130)
        print("| the | table |")
except ValueError as error:
    print("mtl: error:", error)
"""
OUTPUT = ["a note", "half a line"]


@pytest.mark.parametrize(
    ("columns", "tail", "end"), [(80, "pass", "| the | table |"), (200, "raise ValueError('bad')", "mtl: error: bad")]
)
def test_what_is_printed_stays_whole_in_a_pty(columns: int, tail: str, end: str) -> None:
    written, _ = run_in_pty(CODE.replace("TAIL", tail), columns)
    shown = FakeTerminal(columns)
    shown.write(written)
    text = "a " + "long " * 40 + "line"
    wrapped = [text[start : start + columns].rstrip() for start in range(0, len(text), columns)]
    assert shown.shown == [*wrapped, *OUTPUT, end]
    assert "30 of 60 steps" in written and "\x1b[?25l" not in written  # drawn, with the cursor visible


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_program_leaves_a_usable_terminal(number: int) -> None:
    sent = []

    def interrupt(text: str, process: subprocess.Popen[bytes]) -> None:
        if "30 of 60" in text and not sent:
            sent.append(number)
            process.send_signal(number)

    code = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # background jobs inherit it ignored
    code += "from mtl.base.errors import sigterm_as_interrupt\nwith sigterm_as_interrupt():\n"
    code += CODE.replace("TAIL", "time.sleep(60)").replace("\n", "\n    ")
    written, status = run_in_pty(code, when=interrupt)
    shown = FakeTerminal()
    shown.write(written)
    if number == signal.SIGKILL:
        assert status == -9 and written.endswith("\n") and "\x1b[?25l" not in written
    else:
        assert status == 130 and shown.shown[-1] == "mtl: interrupted" and "stage 1" not in "".join(shown.shown)


def test_a_dumb_terminal_gets_lines() -> None:
    written, _ = run_in_pty(CODE.replace("TAIL", "pass"), environment={"TERM": "dumb"})
    assert "\x1b" not in written and "\r\n" in written and "█" not in written
