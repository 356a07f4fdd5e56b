"""SIGTERM in a program that imports mtl is the program's; `mtl` itself takes it as Ctrl-C (test_cli.py, jobs/engines/test_processes.py)."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import job
from processes import CONTEXT, wait_for
from small_suite import small_settings

from mtl.api.run import run_job

LONG = ["pretrain.max_steps=100000", "pretrain.patience=100000"]


def exit_with_7(*_: object) -> None:
    sys.exit(7)


def run_for_ever(settings: Sequence[str], own_handler: bool) -> None:
    """A program that goes on after an interruption."""
    signal.signal(signal.SIGTERM, exit_with_7 if own_handler else signal.SIG_DFL)
    while True:
        try:
            run_job(job(settings), "")
        except KeyboardInterrupt:
            continue


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own_handler", "further", "status"),
    [
        (False, [], -signal.SIGTERM),
        (True, [], 7),
        (False, ["seeds=[1,2]", "seeds_in_parallel=2"], -signal.SIGTERM),
        (True, ["seeds=[1,2]", "seeds_in_parallel=2"], 7),
    ],
)
def test_sigterm_is_as_without_mtl(tmp_path: Path, own_handler: bool, further: list[str], status: int) -> None:
    settings = [*small_settings(tmp_path), *LONG, *further]
    process = CONTEXT.Process(target=run_for_ever, args=(settings, own_handler))
    process.start()
    wait_for(tmp_path / "run/seed-1/pretrain/last.ckpt", process)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGTERM)
    process.join(120)
    try:
        assert process.exitcode == status
    finally:
        process.kill()
