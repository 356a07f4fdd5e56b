"""What a process of a seed writes to its standard error, as the process shows it that started it."""

import os
from functools import partial
from pathlib import Path

import pytest

from mtl.base.progress import Advanced, Detail, Ended, Event, Progress, Remark, Scored, set_display, show
from mtl.jobs.engines.processes import relay, send


def relayed(written: bytes) -> list[Event]:
    """The events of a process that has written this."""
    reader, writer = os.pipe()
    seen = list[Event]()
    set_display(seen.append)
    thread = relay(os.fdopen(reader, "rb"))
    os.write(writer, written)
    os.close(writer)
    thread.join()
    set_display(None)
    return seen


def sent(tmp_path: Path, prefix: str = "") -> bytes:
    """What a process with `send` as its display writes to its standard error."""
    before, file = os.dup(2), (tmp_path / "errors").open("wb")
    os.dup2(file.fileno(), 2)
    try:
        set_display(partial(send, prefix))
        with Progress("seed 1 · stage 1", 10, "steps") as bar:
            bar.reach(4, "average 50.0")
        show(Scored(1, {"cbd": "50.0"}, final=True))
        show(Detail("done"))
        show(Remark("21 MB"))
    finally:
        os.dup2(before, 2)
        os.close(before)
        file.close()
        set_display(None)
    return (tmp_path / "errors").read_bytes()


def test_events_arrive_with_the_name_of_their_run(tmp_path: Path) -> None:
    begun, ended, scored, *rest = relayed(sent(tmp_path, "random-frozen · "))
    assert isinstance(begun, Advanced) and isinstance(ended, Ended)
    assert begun.title == ended.last.title == "random-frozen · seed 1 · stage 1"
    assert (begun.done, begun.total, begun.note) == (4, 10, "average 50.0")
    assert scored == Scored(1, {"cbd": "50.0"}, final=True, run="random-frozen")
    assert rest == [Detail("random-frozen · done"), Remark("21 MB")]


def test_what_else_is_written_is_printed_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark = sent(tmp_path).splitlines(keepends=True)[-1]
    events = relayed(b"a line\nhalf a" + mark + b" line\n" + b"Fatal \xff error, without an end")
    assert events == [Remark("21 MB")]
    assert capsys.readouterr().err == "a line\nhalf a line\nFatal \ufffd error, without an end"
    # Operations of a process that was killed end.
    begun = sent(tmp_path).splitlines(keepends=True)[0]
    last = relayed(begun)[-1]
    assert isinstance(last, Ended) and last.failed
    # An event that was cut off is left out.
    begun, *_, mark = sent(tmp_path).splitlines(keepends=True)
    assert relayed(mark + begun[: len(begun) // 2]) == [Remark("21 MB")]
