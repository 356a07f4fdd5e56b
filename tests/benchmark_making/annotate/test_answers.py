"""Files of answers that are not those of a form's sample: each is one line that names the file and the line."""

from collections.abc import Callable
from pathlib import Path

import pytest
from annotate_parts import answer_lines, read_key_of, write_forms_of
from data_files import write_lines
from input_errors import raises_input_error

from mtl.benchmark_making.annotate.people import Person, read_answers
from mtl.jobs.job import Job, load_job

GOOD = ["glad", "arg", "glad", "glad"]


@pytest.fixture
def forms(tmp_path: Path) -> Path:
    return write_forms_of(tmp_path, task=["kansla", "betyg"], rows=4)


@pytest.fixture
def job(forms: Path) -> Job:
    return load_job({"suite": str(forms.parent / "liten.yaml"), "data_dir": str(forms.parent / "data")})


def read(forms: Path, job: Job, *files: Path) -> list[Person]:
    return read_answers(files, job, read_key_of(forms), forms / "key.json")


def test_answers_of_several_people_and_tasks_in_any_order(forms: Path, job: Job, tmp_path: Path) -> None:
    lines = answer_lines(forms, "kansla", "Anna", GOOD)
    anna = write_lines(tmp_path / "anna.tsv", [lines[0], *reversed(lines[1:])])
    numbers = write_lines(tmp_path / "betyg.tsv", answer_lines(forms, "betyg", "Anna", ["1", "2.5", "10", "0"]))
    bo = write_lines(tmp_path / "bo.tsv", answer_lines(forms, "kansla", "Bo", GOOD[::-1]))
    first, second = read(forms, job, anna, bo, numbers)
    assert (first.name, first.answers["kansla"].tolist()) == ("Anna", [0, 1, 0, 0])
    assert first.answers["betyg"].tolist() == [1, 2.5, 10, 0]
    assert (second.name, list(second.answers)) == ("Bo", ["kansla"])


def cell(column: int, text: str, line: int = 2) -> Callable[[list[str]], list[str]]:
    """A change of one cell, on a line from 1."""

    def change(lines: list[str]) -> list[str]:
        cells = lines[line - 1].split("\t")
        cells[column] = text
        return [*lines[: line - 1], "\t".join(cells), *lines[line:]]

    return change


@pytest.mark.parametrize(
    ("change", "line"),
    [
        pytest.param(lambda lines: [], "any", id="an empty file"),
        pytest.param(lambda lines: lines[:1], "any", id="no answers"),
        pytest.param(lambda lines: ["text\tlabel", "sol\tglad"], "any", id="another file"),
        pytest.param(lambda lines: lines[:3], None, id="rows without an answer"),
        pytest.param(lambda lines: [*lines, lines[2]], 6, id="two answers for a row"),
        pytest.param(cell(3, "999", 3), 3, id="a row that is not in the sample"),
        pytest.param(cell(3, "x", 3), 3, id="no row"),
        pytest.param(cell(1, "0" * 16), 2, id="another sample"),
        pytest.param(cell(1, "0" * 16, 4), 4, id="a line of another sample"),
        pytest.param(cell(0, "samma"), 2, id="a task that is not in the key"),
        pytest.param(cell(2, "Bo", 3), 3, id="another name"),
        pytest.param(cell(2, " "), 2, id="no name"),
        pytest.param(cell(2, "majority"), 2, id="the name of the majority"),
        pytest.param(cell(4, "sur", 4), 4, id="not a label"),
        pytest.param(cell(4, "", 4), 4, id="no answer"),
        pytest.param(lambda lines: [*lines[:2], lines[2] + "\tmore", *lines[3:]], 3, id="too many cells"),
    ],
)
def test_a_file_that_is_wrong(
    change: Callable[[list[str]], list[str]], line: int | str | None, forms: Path, job: Job, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "anna.tsv", change(answer_lines(forms, "kansla", "Anna", GOOD)))
    with raises_input_error(file="anna.tsv", line=line):
        read(forms, job, path)


def test_numbers_outside_the_range_two_files_of_one_person_and_names_that_share_a_folder(
    forms: Path, job: Job, tmp_path: Path
) -> None:
    for answer in ("11", "nan", "1,5"):
        path = write_lines(tmp_path / "anna.tsv", answer_lines(forms, "betyg", "Anna", ["1", answer, "2", "3"]))
        with raises_input_error(file="anna.tsv", line=3):
            read(forms, job, path)
    first = write_lines(tmp_path / "one.tsv", answer_lines(forms, "kansla", "Anna B", GOOD))
    for name in ("Anna B", "Anna-B"):
        second = write_lines(tmp_path / "other.tsv", answer_lines(forms, "kansla", name, GOOD))
        with raises_input_error(file="other.tsv", line=2):
            read(forms, job, first, second)
