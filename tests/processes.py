"""The program in processes of its own that begin at once, to be interrupted or killed.

They are forked from a server process that has imported whatever a run needs: a new Python would import it for seconds.
"""

import json
import multiprocessing
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace

import mtl.jobs.engines.processes
from mtl.api.cli import main

LEAN = Path(__file__).parent / "lean"  # for PYTHONPATH: a new Python then imports less
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        *("mtl.api.making", "mtl.api.run", "mtl.jobs.together", "mtl.methods.lstm.two_stages", "mtl.reports.report"),
        *("mtl.methods.floors.trained", "mtl.benchmark_making.wing", "mtl.structured.entry", "mtl.vectors.wing"),
        *("sacremoses", "torch.utils.tensorboard"),  # which a run imports when it begins
    ]
)


def fork_units() -> None:
    """From here on, the processes of units are forked from this one, which has imported what they need."""
    fork = multiprocessing.get_context("fork")
    forking = SimpleNamespace(get_context=lambda _: fork, parent_process=multiprocessing.parent_process)
    mtl.jobs.engines.processes.multiprocessing = forking  # type: ignore[attr-defined, assignment]


def start(arguments: Sequence[str], errors: Path) -> BaseProcess:
    """Start `mtl` with these arguments. errors: the file that receives its standard error."""
    process = CONTEXT.Process(target=_run, args=(list(arguments), errors))
    process.start()
    return process


def _run(arguments: list[str], errors: Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs inherit it ignored
    fork_units()
    with errors.open("w", encoding="utf-8") as file, Path(os.devnull).open("w", encoding="utf-8") as nothing:
        os.dup2(file.fileno(), 2)
        os.dup2(nothing.fileno(), 1)
    import mtl.methods.costs
    import mtl.methods.lstm.stage1

    mtl.methods.costs.SECONDS = 0.01
    # As in conftest.py.
    mtl.methods.lstm.stage1.SharedStage1.take = lambda *_: False  # type: ignore[method-assign]
    sys.exit(main(arguments))


def interrupted(process: BaseProcess, errors: Path) -> str:
    """Interrupt the process. Return what it has written to its standard error, whose last line must say so."""
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    process.join()
    assert process.exitcode == 130
    written = errors.read_text(encoding="utf-8")
    assert written.strip().splitlines()[-1] == "mtl: interrupted; the same command continues"
    return written


def wait_for(file: Path, process: BaseProcess) -> None:
    """Wait until the process has written a file, or has ended."""
    while not file.exists() and process.is_alive():
        time.sleep(0.005)


CLIENT = """#!/bin/sh
exec {python} -SEc '
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect("{address}")
    socket.send_fds(server, [b" "], [0, 1, 2])
    server.sendall(json.dumps([os.getcwd(), dict(os.environ), sys.argv[1:]]).encode())
    server.shutdown(socket.SHUT_WR)
    sys.exit(int(server.recv(8) or 1))
' "$@"
"""


def serve(address: str) -> None:
    """Run `mtl` for each client that connects to the address, in a process with the client's folder, environment, words and streams."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for these processes
    fork_units()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        while True:
            client, _ = server.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _answer(client)
            client.close()


def _answer(client: socket.socket) -> None:
    status = 1
    try:
        _, streams, _, _ = socket.recv_fds(client, 1, 3)
        folder, environment, words = json.loads(client.makefile().read())
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        status = main(words)
    except SystemExit as ended:  # of --help and of wrong usage
        status = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    with suppress(OSError):  # nobody may read any more
        sys.stdout.flush()
        client.send(str(status).encode())
    os._exit(0)
