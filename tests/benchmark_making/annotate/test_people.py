"""`mtl import` of what people answered: their runs, the run of their majority, and how far they agree; and files of answers that are not those of a
form's sample: each is one line that names the file and the line."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from annotate_parts import answer_lines, read_key_of, write_forms_of
from data_files import read_column, read_json, write_lines
from input_errors import raises_input_error

from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.benchmark_making.annotate.agreement import Level, agreement_text, alpha, level_of, majority
from mtl.benchmark_making.annotate.answers import Person, read_answers
from mtl.jobs.job import Job, load_job
from mtl.runs.finished import find_runs
from mtl.runs.folder import FILE
from mtl.tasks.kinds.number import Number
from mtl.tasks.metrics import score
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import ScoredRows, Task

NUMBERS = {"Anna": ["0", "2", "8", "7"], "Bo Ek": ["1", "2", "8", "6"], "Cai": ["0", "1", "7", "7"]}
ANSWERED = {"Anna": "glad glad arg arg", "Bo Ek": "glad arg arg arg", "Cai": "arg glad arg glad"}

LABELS = Task(id="t", text=["a"], target="t", kind="labels", labels=["x", "y", "z"], metric="alpha_nominal")
NUMBER = Task(id="n", text=["a"], target="t", kind="number", range=[0, 9], metric="alpha_interval")
ANSWERS = np.random.default_rng(1).integers(0, 3, size=(4, 30)).astype(np.float64)
ANSWERS[:, :20] = ANSWERS[0, :20]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the small suite, forms of two tasks, and the answers of three people."""
    monkeypatch.chdir(tmp_path)
    forms = write_forms_of(tmp_path, task=["kansla", "betyg"], rows=4)
    for name, answers in ANSWERED.items():
        write_lines(tmp_path / f"kansla-{name}.tsv", answer_lines(forms, "kansla", name, answers.split()))
        write_lines(tmp_path / f"betyg-{name}.tsv", answer_lines(forms, "betyg", name, NUMBERS[name]))
    return tmp_path


def imported(name: str, *words: str) -> int:
    return main(["import", name, *words, "suite=liten.yaml", "data_dir=data", "rows=forms/key.json"])


def summary(name: str) -> dict[str, Any]:
    return read_json(Path(f"runs/liten/{name}/summary.json"))


def gold(name: str, task: str) -> list[str]:
    """The targets that a run recorded for the sample."""
    return read_column(Path(f"runs/liten/{name}/gold/dev_{task}.tsv"))


@pytest.mark.slow
def test_each_person_and_their_majority_is_a_run_on_the_sample(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(str(path.name) for path in home.glob("*-*.tsv"))
    assert imported("people", *files) == 0
    printed = capsys.readouterr().out.splitlines()
    names = [f"people-{name}" for name in ("Anna", "Bo-Ek", "Cai", "majority")]
    assert [run.name for run in find_runs(Path("runs"))] == names
    lines = (home / "data/dev.tsv").read_text(encoding="utf-8").splitlines()
    rows = read_key_of(home / "forms")["tasks"]["kansla"]["lines"]
    assert gold("people-Anna", "kansla") == [lines[row - 1].split("\t")[1] for row in rows]
    for name, answers in {**ANSWERED, "majority": "glad glad arg arg"}.items():
        own = summary(f"people-{name.replace(' ', '-')}")
        right = sum(map(str.__eq__, answers.split(), gold("people-Anna", "kansla")))
        assert own["tasks"]["kansla"]["median"] == 100 * right / 4
        assert own["tasks"]["kansla"]["rows"] == {"train": 60, "dev": 4, "test": 10}
        assert own["reduced"] == ["kansla", "betyg"] and own["family"] == "people"
        assert "Scored on a sample of the rows alone: kansla 4 of 30 dev rows; betyg 4 of 30 dev rows." in own["notes"]
        agreement = [note for note in own["notes"] if note.startswith("Agreement on ")]
        assert len(agreement) == 2 and set(agreement) <= set(printed)
        assert "nominal" in agreement[0] and "Anna and Bo Ek 75.0%" in agreement[0] and "ordinal" in agreement[1]
    assert summary("people-Anna")["title"] == "Anna, imported"
    mean = Path("runs/liten/people-majority/seed-1/predictions/dev_pred_betyg.tsv").read_text(encoding="utf-8").split()
    assert [float(number) for number in mean[1:]] == pytest.approx([1 / 3, 5 / 3, 23 / 3, 20 / 3])
    assert not list(home.glob("runs/liten/*/seed-1/*.zip"))
    assert "a sample of 4 dev examples" in Path("runs/liten/people-Anna/table.md").read_text(encoding="utf-8")
    assert imported("people", *files) == 0  # they are finished
    # A model's predictions of all rows are scored on the same rows, and tested against the people.
    words = ["suite=liten.yaml", "data_dir=data", "method=majority", "seeds=[1]", "tasks=[kansla]"]
    assert main(["baseline", *words]) == 0
    assert imported("floor", "runs/liten/majority/seed-1/predictions") == 0
    assert summary("floor")["tasks"]["kansla"]["median"] == 100 * gold("floor", "kansla").count("glad") / 4
    assert main(["report"]) == 0
    report = Path("report/report.md").read_text(encoding="utf-8")
    assert "or a sample of the examples" in report and "Krippendorff's α, ordinal, of Anna, Bo Ek, Cai" in report


def test_two_people_have_no_majority_and_one_has_no_agreement(home: Path) -> None:
    assert imported("two", "kansla-Anna.tsv", "kansla-Cai.tsv") == 0
    assert [run.name for run in find_runs(Path("runs"))] == ["two-Anna", "two-Cai"]
    assert any(note.startswith("Agreement on kansla") for note in summary("two-Anna")["notes"])
    assert imported("one", "betyg-Bo Ek.tsv") == 0
    assert not any(note.startswith("Agreement") for note in summary("one-Bo-Ek")["notes"])


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["kansla-Anna.tsv", "forms"], "forms"),
        (["kansla-Anna.tsv", "seed=2"], "seed"),
        (["kansla-Anna.tsv", "run_dir=x"], "run_dir"),
        (["kansla-Anna.tsv", "tasks=[kansla]"], "tasks"),
        (["kansla-Anna.tsv", "rows=5"], "rows"),
        (["kansla-Anna.tsv", "rows=borta.json"], "borta.json"),
        (["kansla-Anna.tsv", "rows=null"], "rows"),
        (["kansla-Anna.tsv", "kansla-Bo Ek.tsv", "bad.tsv"], "bad.tsv:2"),
    ],
)
def test_bad_input_is_one_line_and_no_run_is_made(
    words: list[str], place: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(home / "bad.tsv", answer_lines(home / "forms", "kansla", "Dan", ["sur", "glad", "arg", "arg"]))
    rest = [] if any(word.startswith("rows=") for word in words) else ["rows=forms/key.json"]
    assert main(["import", "people", *words, "suite=liten.yaml", "data_dir=data", *rest]) == 2
    (error,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("mtl: error: ")]
    assert place in error.removeprefix("mtl: error: ").split(": ")[0]
    assert not Path("runs").exists()


def test_predictions_of_another_number_of_rows_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "theirs").mkdir()
    for answers, words, problem in (
        (["glad"] * 29, [], "29 predictions for the 4 rows of data/dev.tsv that are in the sample"),
        (["sur"] * 30, [], "unknown label 'sur'"),
        (["glad"] * 30, ["tasks=[samma]"], "the sample has no rows of samma"),
    ):
        write_lines(home / "theirs" / FILE.format(split="dev", task="kansla"), ["label", *answers])
        assert imported("theirs", "theirs", *words) == 2
        assert problem in capsys.readouterr().err.splitlines()[-1]


def squared_distance(level: Level, one: float, other: float, pooled: list[float]) -> float:
    """The distances of Krippendorff (2011), as they are written there."""
    if level == "nominal":
        return float(one != other)
    if level == "interval":
        return (one - other) ** 2
    low, high = sorted((one, other))
    between = sum(low <= value <= high for value in pooled)
    return (between - (pooled.count(low) + pooled.count(high)) / 2) ** 2


LEVELS: tuple[Level, ...] = get_args(Level)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_that_of_the_definition(level: Level) -> None:
    pooled = ANSWERS.ravel().tolist()
    within = [squared_distance(level, *pair, pooled) for row in ANSWERS.T.tolist() for pair in permutations(row, 2)]
    every = [squared_distance(level, *pair, pooled) for pair in combinations(pooled, 2)]
    assert alpha(ANSWERS, level) == pytest.approx(1 - np.mean(within) / np.mean(every))
    assert alpha(np.tile([0.0, 1.0, 2.0], (3, 1)), level) == alpha(np.zeros((3, 4)), level) == 1


def test_the_level_of_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = {metric: level_of(NUMBER.measured_by(metric)) for metric in ("spearman", "pearson", "pearson+spearman")}
    assert levels == {"spearman": "ordinal", "pearson": "interval", "pearson+spearman": "interval"}
    for task, level in ((LABELS, "nominal"), (NUMBER, "interval")):  # as in the metrics of two coders
        expected = score(task, ANSWERS[0], ScoredRows(ANSWERS[1]))
        assert level_of(task) == level and 100 * alpha(ANSWERS[:2], level_of(task)) == pytest.approx(expected)
    monkeypatch.setitem(TARGET_KINDS, "stars", type("Stars", (Number,), {"derived_from": "number"}))
    assert level_of(replace(NUMBER, kind="stars")) == "interval"


def test_ties_go_to_the_person_who_agrees_most_and_pairs_and_alpha_in_words() -> None:
    answers = np.array([[0.0, 0, 2, 0], [1, 0, 1, 1], [2, 0, 1, 1]])
    chosen, note = majority(LABELS, answers)
    assert chosen.tolist() == [1, 0, 1, 1] and "of the 1 tied rows" in note
    chosen, note = majority(NUMBER, answers)
    assert chosen.tolist() == [1, 0, 4 / 3, 2 / 3] and "is the mean of the numbers of 3 people" in note
    two = np.array([[0.0, 1, 2, 2], [0, 1, 2, 1]])
    assert agreement_text(LABELS, ["Anna", "Bo"], two) == (
        "Agreement on t (4 rows): Krippendorff's α, nominal, of Anna, Bo: 0.667; equal answers: Anna and Bo 75.0%."
    )
    assert "mean absolute difference: Anna and Bo 0.25." in agreement_text(NUMBER, ["Anna", "Bo"], two)


GOOD = ["glad", "arg", "glad", "glad"]


@pytest.fixture
def forms(tmp_path: Path) -> Path:
    return write_forms_of(tmp_path, task=["kansla", "betyg"], rows=4)


@pytest.fixture
def job(forms: Path) -> Job:
    return load_job({"suite": str(forms.parent / "liten.yaml"), "data_dir": str(forms.parent / "data")})


def read(forms: Path, job: Job, *files: Path) -> list[Person]:
    return read_answers(files, job, read_key_of(forms), forms / "key.json")


def test_lines_of_the_key_without_a_row_are_named_with_the_key(forms: Path, job: Job, tmp_path: Path) -> None:
    key = read_key_of(forms)
    key["tasks"]["kansla"]["lines"][-1] = 999
    write_lines(forms / "key.json", [json.dumps(key)])
    anna = write_lines(tmp_path / "anna.tsv", answer_lines(forms, "kansla", "Anna", GOOD))
    with raises_input_error(file="key.json", key="tasks.kansla.lines"):
        read(forms, job, anna)


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
    for name, problem in (("anna b", "share a folder"), ("MAJORITY", "cannot be"), ("A" * 300, "at most 60")):
        second = write_lines(tmp_path / "other.tsv", answer_lines(forms, "kansla", name, GOOD))
        with pytest.raises(InputError, match=problem):
            read(forms, job, first, second)
