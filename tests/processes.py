"""The program in processes of its own that begin at once, to be interrupted or killed.

They are forked from a server process that has imported whatever a run needs: a new Python would import it for seconds.
"""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from mtl.api.cli import main

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["mtl.jobs.together", "mtl.methods.lstm.two_stages", "mtl.reports.report"])


def start(arguments: Sequence[str], errors: Path) -> BaseProcess:
    """Start `mtl` with these arguments. errors: the file that receives its standard error."""
    process = CONTEXT.Process(target=_run, args=(list(arguments), errors))
    process.start()
    return process


def _run(arguments: list[str], errors: Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs inherit it ignored
    with errors.open("w", encoding="utf-8") as file, Path(os.devnull).open("w", encoding="utf-8") as nothing:
        os.dup2(file.fileno(), 2)
        os.dup2(nothing.fileno(), 1)
    import mtl.methods.costs
    import mtl.methods.lstm.stage1

    mtl.methods.costs.SECONDS = 0.01
    # As in conftest.py.
    mtl.methods.lstm.stage1.SharedStage1.take = lambda *_: False  # type: ignore[method-assign]
    sys.exit(main(arguments))


def interrupted(process: BaseProcess, number: signal.Signals, errors: Path) -> str:
    """Interrupt the process. Return what it has written to its standard error, whose last line must say so."""
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join()
    assert process.exitcode == 130
    written = errors.read_text(encoding="utf-8")
    assert written.strip().splitlines()[-1] == "mtl: interrupted; the same command continues"
    return written


def wait_for(file: Path, process: BaseProcess) -> None:
    """Wait until the process has written a file, or has ended."""
    while not file.exists() and process.is_alive():
        time.sleep(0.005)
