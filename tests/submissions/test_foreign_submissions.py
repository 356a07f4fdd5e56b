"""Submissions from other people: nothing outside of them is read, no size exhausts the memory, and every damage is one line."""

import json
import os
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from command_line import job
from data_files import write_lines, write_table
from input_errors import refused
from mutations import damaged, message_of, mutated_json
from rows_suite import read

from mtl.jobs.job import Job
from mtl.jobs.predicted_files import PredictedFiles
from mtl.submissions import SUBMISSION_FORMATS
from mtl.submissions.rows import rejoin
from mtl.submissions.scores import score_predictions
from mtl.tasks.suite import load_suite

Uses = dict[str, Callable[[Path], object]]


@pytest.fixture(scope="module")
def rows_job(made: Path) -> Job:
    return job([f"suite={made / 'rader.yaml'}", f"data_dir={made / 'data'}"])


@pytest.fixture
def uses(rows_job: Job, made: Path, tmp_path: Path) -> Uses:
    """What is done with a submission of rows: each takes its path."""
    suite, tasks, official = rows_job.suite, rows_job.tasks, made / "official"

    def rejoined(path: Path) -> None:
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        rejoin(path, suite, tasks, official, tmp_path / "out", "a name")

    return {
        "check": lambda path: SUBMISSION_FORMATS["rows"].check(path, suite, made / "data"),
        "rejoin": rejoined,
        "score": lambda path: score_predictions(path, suite, suite.choose(["grad", "val"]), official, 0.1),
    }


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """A copy of a run's submission."""
    return Path(shutil.copytree(made / "run/seed-1/submission", tmp_path / "copy"))


def zipped(folder: Path) -> Path:
    return Path(shutil.make_archive(str(folder), "zip", folder))


def damaged_rows(file: Path) -> Iterator[str]:
    """Changes a field of the second row of a file again and again, and then any bytes of it."""
    first, row, *others = read(file)
    for what, changed in mutated_json(json.loads(row), 60):
        write_lines(file, [first, changed.decode(), *others])
        yield what
    write_lines(file, [first, row, *others])
    yield from damaged(file, 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grad/dev.jsonl", "val/test.jsonl", "par/dev.jsonl", "Majority or mean.json"])
def test_a_damaged_file_is_one_line(name: str, copy: Path, uses: Uses) -> None:
    for what in damaged(copy / name, 120) if name.endswith(".json") else damaged_rows(copy / name):
        for use, act in uses.items():
            message_of(lambda act=act: act(copy), f"{use}: {name}: {what}")  # type: ignore[misc]


def test_a_damaged_zip_is_one_line(copy: Path, uses: Uses) -> None:
    path = zipped(copy)
    assert message_of(lambda: uses["score"](path), "whole") is None
    for what in damaged(path, 60):
        for use, act in uses.items():
            message_of(lambda act=act: act(path), f"{use}: {what}")  # type: ignore[misc]


def test_damaged_predictions_are_one_line(suite_file: Path, tmp_path: Path) -> None:
    suite, folder, gold = load_suite(suite_file), tmp_path / "predictions", tmp_path / "gold"
    write_table(folder / "test_pred_kansla.tsv", ["label"], [["glad"], ["arg"]] * 5)
    write_table(folder / "test_pred_betyg.tsv", ["score"], [["1.5"]] * 10)
    write_table(gold / "test.tsv", ["text", "label"], [["x", "glad"]] * 10)
    write_table(gold / "scores/test.tsv", ["text", "score"], [["x", 1], ["y", 2]] * 5)
    for file in sorted(folder.iterdir()):
        for what in damaged(file, 80):
            message_of(lambda: SUBMISSION_FORMATS["zip"].check(folder, suite, tmp_path / "data"), f"check: {what}")
            message_of(lambda: score_predictions(folder, suite, suite.choose(None), gold, 0.1), f"score: {what}")


@pytest.mark.parametrize("place", [Path.symlink_to, lambda path, target: os.mkfifo(path)], ids=["link", "pipe"])
@pytest.mark.parametrize("name", ["grad/dev.jsonl", "Majority or mean.json", "more.jsonl"])
def test_a_link_or_a_pipe_in_a_folder_is_never_opened(
    name: str, place: Callable[[Path, Path], None], copy: Path, uses: Uses, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the password is 1234\n", encoding="utf-8")
    (copy / name).unlink(missing_ok=True)
    place(copy / name, secret)
    for use, act in uses.items():
        message = message_of(lambda act=act: act(copy), use)  # type: ignore[misc]
        assert message is not None and message.startswith(f"{copy / name}: is ") and "password" not in message


def test_a_link_to_a_folder_is_not_followed(copy: Path, uses: Uses) -> None:
    shutil.move(copy / "val", copy.parent / "elsewhere")
    (copy / "val").symlink_to(copy.parent / "elsewhere")
    for act in uses.values():
        refused(act, copy, file="val")


def test_files_that_stand_in_a_folder_in_place_of_the_top_are_named(copy: Path, rows_job: Job, uses: Uses) -> None:
    outer = copy.parent / "outer"
    shutil.copytree(copy, outer / "mine")
    for path in (outer, zipped(outer)):
        for act in (*uses.values(), lambda path: PredictedFiles(path).splits(rows_job.suite)):
            refused(act, path)


def test_foreign_members_are_named_ten_at_most_and_not_unpacked(copy: Path, rows_job: Job, uses: Uses) -> None:
    path = zipped(copy)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("bomb.txt", b"x" * 1000)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"x" * 1000, b"y" * 1000))  # its checksum is wrong: reading it fails
    uses["score"](path)
    problems = SUBMISSION_FORMATS["rows"].check(path, rows_job.suite, rows_job.data_dir).problems
    assert problems == [f"{path}/bomb.txt: not a file of a submission of suite rader"]
    for number in range(25):
        (copy / f"{number:02}.txt").touch()
    problems = SUBMISSION_FORMATS["rows"].check(copy, rows_job.suite, rows_job.data_dir).problems
    assert len(problems) == 11 and problems[-1] == f"{copy}: 15 further files of other names"


def test_what_would_unpack_to_too_much_is_one_line(copy: Path, uses: Uses, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (zipped(copy), copy):
        size = sum(file.stat().st_size for file in copy.rglob("*") if file.is_file())
        for limit, too_much in ((size, False), (size - 1, True)):
            monkeypatch.setattr("mtl.submissions.files.SUBMISSION_LIMIT", limit)
            message = message_of(lambda path=path: uses["check"](path), "limit")  # type: ignore[misc]
            assert (message is not None and "more than" in message) == too_much


def test_an_encrypted_member_and_two_members_of_one_name_are_one_line(copy: Path, uses: Uses) -> None:
    path = zipped(copy)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("grad/dev.jsonl", "{}")
    refused(uses["check"], path)
    content = zipped(copy).read_bytes()
    place = content.rindex(b"PK\x01\x02") + 8  # of the last member, a file of rows
    path.write_bytes(content[:place] + bytes([content[place] | 1]) + content[place + 1 :])
    refused(uses["check"], path)


@pytest.mark.parametrize("name", ["a\0b", "", "\ud800", "a\nb", ".x", "x" * 200], ids=count())
def test_a_name_that_no_file_can_have_is_one_line(name: str, copy: Path, rows_job: Job, tmp_path: Path) -> None:
    refused(rejoin, copy, rows_job.suite, rows_job.tasks, rows_job.data_dir, tmp_path / "out", name)
    assert not (tmp_path / "out").exists()


def test_a_link_in_a_zip_is_only_its_text(copy: Path, uses: Uses, tmp_path: Path) -> None:
    path = zipped(copy)
    (tmp_path / "secret").write_text("the password is 1234\n", encoding="utf-8")
    member = zipfile.ZipInfo("y.json")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, str(tmp_path / "secret"))
    message = message_of(lambda: uses["rejoin"](path), "link")
    assert message is not None and "password" not in message
