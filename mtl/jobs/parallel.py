"""Seeds side by side, each in a process of its own."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import connection
from typing import Any

import torch
from tqdm import tqdm

from mtl.errors import DivergedError, InputError
from mtl.jobs.job import Job

PATIENCE = 60.0  # seconds that a process has to end after it was asked to

SeedJob = Callable[[Job, int], None]


def run_in_parallel(run: SeedJob, job: Job, seeds: Sequence[int]) -> None:
    """Call `run(job, seed)` for each seed, `seeds_in_parallel` of them at a time.

    The processes share the CPU's threads out between them, and take turns at the cards where there are several. Whatever
    ends this process ends them too. Raises InputError or DivergedError as `run` does, and InputError if a job's process was
    killed.
    """
    context = multiprocessing.get_context("spawn")
    complaints, lock = context.SimpleQueue(), context.RLock()
    slots = list(range(min(job.config.seeds_in_parallel, len(seeds))))
    shares = [_share(slot, len(slots)) for slot in slots]
    waiting = list(seeds)
    running: dict[Any, tuple[int, int, Any]] = {}  # by sentinel: seed, slot, process
    with _terminable():
        try:
            while waiting or running:
                while waiting and slots:
                    seed, slot = waiting.pop(0), slots.pop(0)
                    process = context.Process(target=_enter, args=(run, job, seed, complaints, lock))
                    with _environment(shares[slot]):
                        process.start()
                    running[process.sentinel] = seed, slot, process
                for sentinel in connection.wait(list(running)):
                    seed, slot, process = running.pop(sentinel)
                    process.join()
                    slots.append(slot)
                    if not complaints.empty():
                        raise complaints.get()
                    if process.exitcode:
                        raise _ended(seed, process.exitcode)
        finally:
            _stop([process for _, _, process in running.values()])


def _share(slot: int, processes: int) -> dict[str, str]:
    """The environment of one of so many processes: its CPU threads, its card, the line of its progress bar."""
    share = {"OMP_NUM_THREADS": str(max(1, torch.get_num_threads() // processes)), "TQDM_POSITION": str(slot)}
    if torch.cuda.is_available():
        given = os.environ.get("CUDA_VISIBLE_DEVICES")
        cards = given.split(",") if given else [str(number) for number in range(torch.cuda.device_count())]
        share["CUDA_VISIBLE_DEVICES"] = cards[slot % len(cards)]
    return share


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """What a process that is started meanwhile finds in its environment."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM interrupts as Ctrl-C does, so that no process is left behind."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _enter(run: SeedJob, job: Job, seed: int, complaints: Any, lock: Any) -> None:
    """What a process does: the job, under its parent's eyes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches every process; the parent decides
    threading.Thread(target=_outlive_nobody, daemon=True).start()
    tqdm.set_lock(lock)
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    try:
        run(job, seed)
    except (InputError, DivergedError) as error:
        complaints.put(error)
        sys.exit(1)
    except KeyboardInterrupt:  # how training says that it was asked to end
        sys.exit(130)


def _outlive_nobody() -> None:
    """End this process when its parent has ended, however that came."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _ended(seed: int, status: int) -> Exception:
    """What to raise when a process has ended with this status: minus the signal's number, if by a signal."""
    if status < 0:
        return InputError(
            f"seed {seed}: its process was killed ({signal.Signals(-status).name}); "
            "if memory was short, set a smaller seeds_in_parallel=; the same command continues"
        )
    return RuntimeError(f"seed {seed}: its process ended with status {status}; what it said stands above")


def _stop(processes: Sequence[Any]) -> None:
    """Ask these processes to end, and see to it that they do, however often Ctrl-C is pressed meanwhile."""
    if processes and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            _end(processes)
        finally:
            signal.signal(signal.SIGINT, before)
    else:
        _end(processes)


def _end(processes: Sequence[Any]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
