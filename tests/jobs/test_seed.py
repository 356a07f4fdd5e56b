"""A seed in a process of its own, perhaps on a machine with other files than the run was begun with."""

import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import job

from mtl.errors import InputError
from mtl.files import read_json, write_json
from mtl.jobs.job import Job
from mtl.jobs.prepared import begin
from mtl.jobs.seed import run_apart


@pytest.fixture
def begun(floor_settings: list[str]) -> Iterator[Job]:
    level = logging.getLogger("mtl").level
    run = job([*floor_settings, "method=constant", "seeds=[1]"])
    begin(run)
    yield run
    logging.getLogger("mtl").setLevel(level)


def test_it_runs_with_the_files_that_the_run_was_begun_with(begun: Job) -> None:
    run_apart(begun, 1)
    assert begun.folder.scores(1).exists()


def test_other_data_are_named(begun: Job, tmp_path: Path) -> None:
    with (tmp_path / "data/train.tsv").open("a", encoding="utf-8") as file:
        file.write("ny rad\tglad\n")
    with pytest.raises(
        InputError,
        match=rf"run: on {socket.gethostname()}, its inputs are not those that it was begun with \(train.tsv\); all machines must",
    ):
        run_apart(begun, 1)
    assert not begun.folder.seed(1).exists()


def test_another_precision_is_named(begun: Job) -> None:
    write_json(begun.folder.inputs, {**read_json(begun.folder.inputs), "precision": "bf16-mixed"})
    with pytest.raises(
        InputError, match=f"^on {socket.gethostname()}: .*run: was begun in precision bf16-mixed, and this machine"
    ):
        run_apart(begun, 1)
