"""Train seeds in parallel, each in its own process."""

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

EXIT_TIMEOUT = 60.0  # seconds between SIGTERM and SIGKILL

SeedJob = Callable[[Job, int], None]


def run_in_parallel(run: SeedJob, job: Job, seeds: Sequence[int]) -> None:
    """Call `run(job, seed)` for each seed, up to `seeds_in_parallel` at a time.

    The processes share the CPU threads equally; if there are several GPUs, they are assigned in turn. When this process ends,
    even by SIGKILL, the seeds' processes end too. Raises the InputError or DivergedError that `run` raises, and InputError if a
    seed's process was killed.
    """
    context = multiprocessing.get_context("spawn")
    errors, lock = context.SimpleQueue(), context.RLock()
    slots = list(range(min(job.config.seeds_in_parallel, len(seeds))))
    shares = [_share(slot, len(slots)) for slot in slots]
    waiting = list(seeds)
    running: dict[Any, tuple[int, int, Any]] = {}  # by sentinel: seed, slot, process
    with _sigterm_as_interrupt():
        try:
            while waiting or running:
                while waiting and slots:
                    seed, slot = waiting.pop(0), slots.pop(0)
                    process = context.Process(target=_run_seed, args=(run, job, seed, errors, lock))
                    with _environment(shares[slot]):
                        process.start()
                    running[process.sentinel] = seed, slot, process
                for sentinel in connection.wait(list(running)):
                    seed, slot, process = running.pop(sentinel)
                    process.join()
                    slots.append(slot)
                    if not errors.empty():
                        raise errors.get()
                    if process.exitcode:
                        raise _exit_error(seed, process.exitcode)
        finally:
            _stop([process for _, _, process in running.values()])


def _share(slot: int, processes: int) -> dict[str, str]:
    """The environment variables of one of the processes: its CPU threads, its GPU, the line of its progress bar."""
    share = {"OMP_NUM_THREADS": str(max(1, torch.get_num_threads() // processes)), "TQDM_POSITION": str(slot)}
    if torch.cuda.is_available():
        given = os.environ.get("CUDA_VISIBLE_DEVICES")
        gpus = given.split(",") if given else [str(number) for number in range(torch.cuda.device_count())]
        share["CUDA_VISIBLE_DEVICES"] = gpus[slot % len(gpus)]
    return share


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set these environment variables within the block; a process that starts there inherits them."""
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
def _sigterm_as_interrupt() -> Iterator[None]:
    """Within the block, SIGTERM raises KeyboardInterrupt as Ctrl-C does, so that the child processes are ended."""

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


def _run_seed(run: SeedJob, job: Job, seed: int, errors: Any, lock: Any) -> None:
    """The main function of a child process. It puts the InputError or DivergedError of `run` into `errors`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to every process; only the parent handles it
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    tqdm.set_lock(lock)
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    try:
        run(job, seed)
    except (InputError, DivergedError) as error:
        errors.put(error)
        sys.exit(1)
    except KeyboardInterrupt:  # training raises it when it receives SIGTERM
        sys.exit(130)


def _exit_with_parent() -> None:
    """Wait until the parent process ends for any reason, then end this process."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _exit_error(seed: int, status: int) -> Exception:
    """The error for a process that ended with this exit status; the negative number of a signal if one killed it."""
    if status < 0:
        return InputError(
            f"seed {seed}: its process was killed ({signal.Signals(-status).name}); "
            "if memory ran out, set a smaller seeds_in_parallel=; run the same command again to continue"
        )
    return RuntimeError(f"seed {seed}: its process ended with status {status}; its error message is above")


def _stop(processes: Sequence[Any]) -> None:
    """End these processes and wait until they have ended; ignore Ctrl-C and SIGTERM meanwhile."""
    if processes and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            _terminate(processes)
        finally:
            signal.signal(signal.SIGINT, before)
    else:
        _terminate(processes)


def _terminate(processes: Sequence[Any]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(EXIT_TIMEOUT)
        if process.is_alive():
            process.kill()
            process.join()
