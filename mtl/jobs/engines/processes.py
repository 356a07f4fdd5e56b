"""The engine that executes each unit in a process of this machine, and shows and prints here what the process sends through its standard error."""

import io
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection
from typing import Any, BinaryIO

import msgspec
import torch

from mtl.base.display import log_to_standard_error, set_receiver, show
from mtl.base.errors import InputError, UserError, sigterm_as_interrupt
from mtl.base.events import Advanced, Detail, Ended, Event, Scored
from mtl.base.locks import LOST
from mtl.base.memory import check_fits, machine_memory
from mtl.base.terminal import standard_streams
from mtl.jobs.engines import Done, Unit, ready

RELAYED = os.name == "posix"  # elsewhere, a pipe cannot become the standard error of a process, and each prints lines
EXIT_TIMEOUT = 60.0  # seconds between SIGTERM and SIGKILL
DRAIN = 5.0  # seconds to wait for the rest of a pipe; a process that a seed left behind may hold it open
INTERRUPTED = 130  # the status of a process that Ctrl-C or SIGTERM ended
MARK = b"\x1e"  # before an event in the pipe; what mtl prints has no such character


@dataclass(frozen=True)
class RunningUnit:
    """A unit that is being executed."""

    unit: Unit
    slot: int  # its number among the units that run at the same time, from 0
    process: Any  # of multiprocessing
    report: connection.Connection  # the end of the pipe through which the process sends the unit's result, or its error
    relay_thread: threading.Thread


class Processes:
    """`mtl.jobs.engines.Engine` with a process for each unit. Unless a unit asks for a number of CPU threads, it has an equal share of the machine's,
    that of `at_a_time` units also if fewer are left: its results do not depend on the others. Several GPUs are assigned in turn."""

    def run(self, units: Sequence[Unit], at_a_time: int, done: Done) -> None:
        """Execute the units, as `mtl.jobs.engines.Engine.run` describes it."""
        at_once = {unit.name: _most_at_once(unit, at_a_time) for unit in units}
        slots = list(range(min([len(units), *at_once.values()])))
        waiting = list(units)
        ended: set[str] = set()
        running: dict[Any, RunningUnit] = {}  # by its report
        try:
            while waiting or running:
                while slots and (unit := ready(waiting, ended)) is not None:
                    waiting.remove(unit)
                    threads = unit.needs.threads or max(1, torch.get_num_threads() // at_once[unit.name])
                    started = _start(unit, slots.pop(0), threads)
                    running[started.report] = started
                assert running, "units wait for each other"
                for report in connection.wait(list(running)):
                    finished = running.pop(report)
                    slots.append(finished.slot)
                    done(finished.unit, _result(finished))
                    ended.add(finished.unit.name)
        finally:
            _stop([unfinished.process for unfinished in running.values()])
            for unfinished in running.values():
                unfinished.relay_thread.join(DRAIN)


def _most_at_once(unit: Unit, at_a_time: int) -> int:
    """How many units like this one can run at the same time. Raises InputError if it asks for more memory than the machine has."""
    memory = unit.needs.memory
    if memory is None:
        return at_a_time
    check_fits(memory, unit.name, "set a smaller one", key="resources.memory")
    return min(at_a_time, machine_memory() // memory)


def _start(unit: Unit, slot: int, threads: int) -> RunningUnit:
    """Start the process of a unit, with a pipe for its report and one for its standard error."""
    context = multiprocessing.get_context("spawn")
    report, child_report = context.Pipe(duplex=False)
    errors, child_errors = context.Pipe(duplex=False)
    process = context.Process(target=_execute, args=(unit, child_report, child_errors))
    with _environment(slot, threads):
        process.start()
    child_report.close()  # so that the pipes end with the process
    child_errors.close()
    stream: BinaryIO = os.fdopen(os.dup(errors.fileno()), "rb") if RELAYED else io.BytesIO()
    errors.close()
    return RunningUnit(unit, slot, process, report, start_relay(stream))


@contextmanager
def _environment(slot: int, threads: int) -> Iterator[None]:
    """Within the block, the environment names the CPU threads and the GPU of a process that starts there and inherits it."""
    variables = {"OMP_NUM_THREADS": str(threads)}
    if torch.cuda.is_available():
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        gpus = visible.split(",") if visible else [str(number) for number in range(torch.cuda.device_count())]
        variables["CUDA_VISIBLE_DEVICES"] = gpus[slot % len(gpus)]
    before = {name: os.environ[name] for name in variables if name in os.environ}
    os.environ |= variables
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
        os.environ |= before


def _execute(unit: Unit, report: connection.Connection, errors: connection.Connection) -> None:
    """The main function of a child process, which reports the unit's result or the UserError that it raises; `errors` becomes its stderr."""
    if RELAYED:
        os.dup2(errors.fileno(), 2)
    errors.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to every process; only the parent handles it
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with standard_streams():
        log_to_standard_error(unit.prefix)
        if RELAYED:
            set_receiver(partial(send_event, unit.prefix))
        try:
            with sigterm_as_interrupt():
                report.send((None, unit.call(*unit.arguments)))
        except UserError as error:
            report.send((error, None))
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)


def _exit_with_parent() -> None:
    """Wait until the process that started this one ends for any reason, then end this one."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _result(running: RunningUnit) -> Any:
    """What a unit's process reports. Raises the error that it reports, and the one for a process that ended without a report."""
    reported = None
    with suppress(EOFError, OSError):  # the second one if the process was killed within its report
        reported = running.report.recv()
    running.process.join()
    running.relay_thread.join(DRAIN)
    error, value = reported or (_error_without_report(running.unit.name, running.process.exitcode), None)
    if error is not None:
        raise error
    return value


def _error_without_report(name: str, status: int) -> UserError:
    """The error for a unit whose process has ended with this status, and has not reported."""
    if status < 0:  # the negative number of a signal
        problem = f"its process was killed ({signal.Signals(-status).name}); if memory ran out, set a smaller seeds_in_parallel="
    elif status == INTERRUPTED:
        problem = "its process was told to stop (SIGTERM or SIGINT)"
    elif status == LOST:
        problem = "another process has taken over its lock, because this one was cut off for a while"
    else:
        return UserError(f"{name}: its process ended with status {status}; what it wrote is above")
    return InputError(f"{name}: {problem}; run the same command again to continue")


def _stop(processes: Sequence[Any]) -> None:
    """End these processes and wait until they have ended; ignore Ctrl-C and SIGTERM meanwhile."""
    ignored = [signal.SIGTERM, signal.SIGINT] if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored if processes}
    try:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(EXIT_TIMEOUT)
            process.kill()  # does nothing if the process has ended
            process.join()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def send_event(prefix: str, event: Event) -> None:
    """Send an event to the parent process, as the display of a unit's process. Titles and details begin with the prefix, as "frozen · "."""
    line = MARK + msgspec.json.encode(_prefixed(prefix, event)) + b"\n"
    with suppress(OSError):
        os.write(2, line)


def _prefixed(prefix: str, event: Event) -> Event:
    """The event with the prefix before its title or its text, or with the run that the prefix names."""
    match event:
        case Advanced(title=title):
            return msgspec.structs.replace(event, title=f"{prefix}{title}")
        case Ended(last=last):
            return msgspec.structs.replace(event, last=_prefixed(prefix, last))
        case Detail(text=text):
            return Detail(f"{prefix}{text}")
        case Scored():
            return msgspec.structs.replace(event, run=prefix.removesuffix(" · "))
    return event


def start_relay(stream: BinaryIO) -> threading.Thread:
    """Start a thread that shows the events that `send_event` writes into a pipe, and prints what else is in it, to the pipe's end."""
    thread = threading.Thread(target=_show_all, args=(stream,), daemon=True)
    thread.start()
    return thread


def _show_all(stream: BinaryIO) -> None:
    """Show the events in a pipe, print what else is in it, and end the operations of a process that was killed."""
    operations: dict[int, Advanced] = {}
    with stream:
        for line in stream:
            text, mark, content = line.partition(MARK)
            if text:
                sys.stderr.write(text.decode(errors="replace"))
            if mark:
                try:
                    event = msgspec.json.decode(content, type=Event)
                except msgspec.DecodeError:  # the process was killed while it wrote
                    continue
                if isinstance(event, Advanced):
                    operations[event.key] = event
                elif isinstance(event, Ended):
                    operations.pop(event.last.key, None)
                show(event)
    for operation in operations.values():
        show(Ended(operation, failed=True))
