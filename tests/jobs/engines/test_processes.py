"""Units in processes of their own: what they say and raise, and no process left over."""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from command_line import job
from input_errors import refused
from processes import CONTEXT, interrupted, start, wait_for

from mtl.base.display import set_receiver, show
from mtl.base.errors import DivergedError, InputError, UserError
from mtl.base.events import Advanced, Detail, Ended, Event, Remark, Scored
from mtl.base.locks import LOST
from mtl.base.progress import Progress
from mtl.jobs.engines import Done, Needs, Unit
from mtl.jobs.engines.processes import Processes, send_event, start_relay
from mtl.jobs.together import run_together
from mtl.runs.records import read_summary

pytestmark = pytest.mark.slow

# Stage 1 takes until it is interrupted.
LONG = ["seeds=[1,2]", "seeds_in_parallel=2", "pretrain.max_steps=100000", "pretrain.patience=100000"]
NEEDS_PROC = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")


def test_a_last_seed_runs_as_beside_others(floor_settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run = job([*floor_settings, "method=constant", "seeds=[1,2]", "seeds_in_parallel=2"])
    given: list[tuple[list[str], int]] = []

    def execute(engine: Processes, units: Sequence[Unit], at_a_time: int, done: Done) -> None:
        given.append(([unit.name for unit in units], at_a_time))
        for unit in units:
            done(unit, unit.call(*unit.arguments))

    monkeypatch.setattr(Processes, "run", execute)
    run_together([run])
    first = read_summary(run.folder.summary)
    for written in (run.folder.summary, run.folder.scores(2)):
        written.unlink()
    run_together([run])
    assert read_summary(run.folder.summary)["tasks"] == first["tasks"]
    preparation = (["preparation"], 1)
    assert given == [preparation, (["seed 1", "seed 2"], 2), preparation, (["seed 2"], 2)]


def children_of(process: BaseProcess) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    return [int(child) for child in listed.split()]


def wait_until_gone(processes: list[int]) -> None:
    """However long it takes: a test that hangs is ended from outside."""
    while any(alive(process) for process in processes):
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False


@NEEDS_PROC
def test_interrupted_all_end_with_one_message(settings: list[str], tmp_path: Path) -> None:
    process = start(["baseline", *settings, *LONG], tmp_path / "errors")
    checkpoints = [tmp_path / f"run/seed-{seed}/pretrain/last.ckpt" for seed in (1, 2)]
    for checkpoint in checkpoints:
        wait_for(checkpoint, process)
    children = children_of(process)
    assert len(children) >= 2
    errors = interrupted(process, tmp_path / "errors")
    assert errors.count("interrupted") == 1 and "Traceback" not in errors
    wait_until_gone(children)
    assert checkpoints[0].exists()


@NEEDS_PROC
def test_units_end_with_a_program_that_is_killed(tmp_path: Path) -> None:
    process = CONTEXT.Process(target=run, args=(wait, tmp_path, "a", "b"))
    process.start()
    for name in "ab":
        wait_for(tmp_path / name, process)
    children = children_of(process)
    assert len(children) >= 2
    process.kill()
    process.join()
    wait_until_gone(children)


def wait(folder: Path, name: str) -> None:
    (folder / name).touch()
    while True:
        time.sleep(1)


def share(folder: Path, name: str) -> tuple[str, bytes]:
    """The threads and the GPU of the process, and more than a pipe holds."""
    return f"{os.environ['OMP_NUM_THREADS']} {os.environ.get('CUDA_VISIBLE_DEVICES', '0')}", bytes(10**6)


def complain(folder: Path, name: str) -> None:
    raise InputError(f"{name} has bad data")


def diverge(folder: Path, name: str) -> None:
    raise DivergedError(f"{name}: training diverged")


def die(folder: Path, name: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def obey(folder: Path, name: str) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def lose_its_lock(folder: Path, name: str) -> None:
    os._exit(LOST)


def fail(folder: Path, name: str) -> None:
    raise ValueError("a defect of the program")


def run(call: Callable[[Path, str], Any], folder: Path, *names: str, at_a_time: int = 2, **of: Any) -> dict[str, Any]:
    """Execute one unit for each name; return their results in the order in which they ended."""
    results: dict[str, Any] = {}
    units = [Unit(name, call, (folder, name), **of) for name in names]
    Processes().run(units, at_a_time, lambda unit, value: results.update({unit.name: value}))
    return results


def test_each_process_has_its_threads_and_its_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    before = dict(os.environ)
    results = run(share, tmp_path, "a", "b", "c")
    assert [results[name][0] for name in "ab"] == ["1 0", "1 1"]
    assert all(len(big) == 10**6 for _, big in results.values())
    assert results["c"][0] in ("1 0", "1 1")  # it takes the place of the first that ends
    assert dict(os.environ) == before
    # As many threads as it would have with another one beside it, or as it needs.
    assert run(share, tmp_path, "e")["e"][0] == "1 0"
    assert run(share, tmp_path, "d", needs=Needs(threads=3))["d"][0] == "3 0"


def test_a_unit_begins_after_those_that_it_names(tmp_path: Path, forked: None) -> None:
    order: list[str] = []
    first, last = frozenset({"first"}), frozenset({"a", "b"})
    after = {"last": last, "a": first, "b": first, "first": frozenset[str]()}
    units = [Unit(name, share, (tmp_path, name), after=names) for name, names in after.items()]
    Processes().run(units, 4, lambda unit, value: order.append(unit.name))
    assert order[0] == "first" and order[-1] == "last"


def test_units_share_the_memory_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("base.memory", "jobs.engines.processes"):
        monkeypatch.setattr(f"mtl.{module}.machine_memory", lambda: 10 * 10**9)
    monkeypatch.setattr("torch.get_num_threads", lambda: 5)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    results = run(share, tmp_path, "a", "b", "c", at_a_time=3, needs=Needs(memory=6 * 10**9))
    assert {given for given, _ in results.values()} == {"5 0"}
    refused(lambda: run(share, tmp_path, "a", needs=Needs(memory=11 * 10**9)), key="resources.memory")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (complain, InputError, "seed 7 has bad data"),
        (diverge, DivergedError, "^seed 7: training diverged$"),
        (die, InputError, r"seed 7: its process was killed \(SIGKILL\); if memory ran out, set a smaller seeds_in"),
        (obey, InputError, r"^seed 7: its process was told to stop .* run the same command again"),
        (lose_its_lock, InputError, "^seed 7: another process has taken over its lock, .* run the same command again"),
        (fail, UserError, "^seed 7: its process ended with status 1; what it wrote is above"),
    ],
)
def test_an_error_in_a_process_is_raised_here(
    call: Callable[[Path, str], None], error: type[Exception], message: str, tmp_path: Path, forked: None
) -> None:
    with pytest.raises(error, match=message):
        run(call, tmp_path, "seed 7")


def test_what_a_process_prints_and_its_traceback_appear_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], forked: None
) -> None:
    with pytest.raises(UserError, match="ended with status 1; what it wrote is above"):
        run(print_and_fail, tmp_path, "seed 7")
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["from Python", "from a library"]
    assert lines[2].startswith("Process ") and lines[-1] == "RuntimeError: a fault"


def print_and_fail(folder: Path, name: str) -> None:
    print("from Python", file=sys.stderr)
    os.write(2, b"from a library\n")
    raise RuntimeError("a fault")


def relayed(written: bytes) -> list[Event]:
    """The events of a process that has written this."""
    reader, writer = os.pipe()
    seen = list[Event]()
    set_receiver(seen.append)
    thread = start_relay(os.fdopen(reader, "rb"))
    os.write(writer, written)
    os.close(writer)
    thread.join()
    set_receiver(None)
    return seen


def sent(tmp_path: Path, prefix: str = "") -> bytes:
    """What a process with `send_event` as its display writes to its standard error."""
    before, file = os.dup(2), (tmp_path / "errors").open("wb")
    os.dup2(file.fileno(), 2)
    try:
        set_receiver(partial(send_event, prefix))
        with Progress("seed 1 · stage 1", 10, "steps") as bar:
            bar.reach(4, "average 50.0")
        show(Scored(1, {"cbd": "50.0"}, final=True))
        show(Detail("done"))
        show(Remark("21 MB"))
    finally:
        os.dup2(before, 2)
        os.close(before)
        file.close()
        set_receiver(None)
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
