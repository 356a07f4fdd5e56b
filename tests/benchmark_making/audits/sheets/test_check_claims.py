from pathlib import Path

import pytest
from audit_parts import LABELS, part
from sheet_parts import complete, write

from mtl.benchmark_making.audits.findings import Part
from mtl.benchmark_making.audits.sheets.check import false_claims
from mtl.benchmark_making.audits.sheets.form import read_sheet
from mtl.tasks.task import Task

# 5 rows of train: 3 glad, 2 arg; 2 of dev, one each; 4 of test, without labels.
FILES = {
    "train": part("a", "b", "c", "d", "e", targets=[0, 0, 0, 1, 1]),
    "dev": part("f", "g", targets=[0, 1], split="dev"),
    "test": part("h", "i", "j", "k", split="test"),
}


def false(
    folder: Path, numbers: str | list[str], task: Task = LABELS, files: dict[str, Part] = FILES, **values: str
) -> list[str]:
    """The messages; those of which the data cannot decide begin with a question mark."""
    sheet = read_sheet(write(folder, complete(Dataset_in_numbers=numbers, **values)))
    return [f"{'? ' * problem.undecided}{problem.message}" for problem in false_claims(sheet, task, files)]


@pytest.mark.parametrize(
    "numbers",
    [
        "11 texts",
        "11",
        "11 texts, 199K tokens.",
        "Total of 11 samples; 7 semantic samples and 4 syntactic samples. Those are split into 5 train samples and 4 test samples.",
        "11 sentences split over 6 topics, 5 train, 2 dev and 4 test",
        "train: 5 sentences",
        "Train: 5 items, dev: 2 items, test: 4 items",
        "The test data consists of 4 items. Constructed from 558 types: 263 types occurring in one test item, 147 in three.",
        "5 train, 3 positive, 2 negative; 2 dev, 1 negative and 1 positive",
        "5 train, 2 positive, 3 negative",  # does not say which label is which
        "4 test, 4 positive, 0 negative; 5 train, 9 positive",
        "Training data: 5 items, of which 3 glad and 2 arg (=angry).",
        "5 items in train, 2 rows for validation and 4 examples in the test",
        "6 topics, 9 sources, 3 annotators",
        "80:10:10, test set (90%), v2.0, 1--5 scale, in 2020, 10% train",
        "4 test items from 104 templates. 99 positive cases ('glad') and 98 negative cases ('arg').",  # test has no labels here
        "no numbers",
    ],
)
def test_true_and_unrecognised_numbers(tmp_path: Path, numbers: str) -> None:
    assert false(tmp_path, numbers) == []


@pytest.mark.parametrize(
    ("numbers", "messages"),
    [
        ("12 texts", ["says that the data has 12 rows; its files have 11"]),
        ("1,106", ["says that the data has 1106 rows; its files have 11"]),
        ("38 121 news articles", ["says that the data has 38121 rows; its files have 11"]),
        ("train: 35,581 sentences", ["says that train has 35581 rows; kansla/train.tsv has 5"]),
        ("11 sentences, 6 train and 4 test", ["says that train has 6 rows; kansla/train.tsv has 5"]),
        ("Development data: 3 items", ["says that dev has 3 rows; kansla/dev.tsv has 2"]),
        ("The test data consists of 1000 items", ["says that test has 1000 rows; kansla/test.tsv has 4"]),
        ("train:6", ["says that train has 6 rows; kansla/train.tsv has 5"]),
        ("5 train, 2 glad and 2 arg", ["says that 2 rows of train have the label glad; there are 3"]),
        ("train: 5 items; glad: 3, arg: 4", ["says that 4 rows of train have the label arg; there are 2"]),
        (
            "5 train, 4 positive, 1 negative",
            ["says that 4 rows of train are positive and 1 negative; there are 3 glad and 2 arg"],
        ),
        ("dev: 2 items, 2 positive cases ('glad')", ["says that 2 rows of dev have the label glad; there are 1"]),
    ],
)
def test_false_numbers(tmp_path: Path, numbers: str, messages: list[str]) -> None:
    assert false(tmp_path, numbers) == messages


def test_a_very_long_line_is_not_searched(tmp_path: Path) -> None:
    assert false(tmp_path, "7 train, " + "x " * 1000) == [] and false(tmp_path, "7 train, " + "x " * 900) != []


def test_each_line_is_read_by_itself(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path, complete(Dataset_in_numbers=["5 train", "3 dev", "4 test, 9 dev"])))
    lines = [line for line, _ in sheet.values("Dataset in numbers*")]
    assert [problem.line for problem in false_claims(sheet, LABELS, FILES)] == [lines[1], lines[2]]


def test_official_sizes_are_right_where_files_are_reduced(tmp_path: Path) -> None:
    task = Task(**{**vars(LABELS), "rows": {"train": 50, "test": 6}})
    files = {split: Part(task, split, of.file, of.rows) for split, of in FILES.items()}

    def of_reduced(numbers: str) -> list[str]:
        return false(tmp_path, numbers, task, files)

    assert of_reduced("56 texts: 50 train and 6 test") == of_reduced("11 texts: 5 train, 2 dev and 4 test") == []
    assert of_reduced("50 train, 40 glad") == []  # the file does not have all of them
    assert of_reduced("57 texts: 52 train") == [
        "? says that train has 52 rows; kansla/train.tsv has 5, the suite file has 50",
        "? says that the data has 57 rows; its files have 11, the suite file has 56",
    ]
    assert of_reduced("50 train, 3 dev") == [
        "? says that dev has 3 rows; kansla/dev.tsv has 2"
    ]  # officially, there is no dev
    assert false(tmp_path, "60 texts, 50 train", task, {}) == [
        "? says that the data has 60 rows; the suite file has 56"
    ]
    assert false(tmp_path, "60 texts, 50 train", LABELS, {}) == []  # nothing to compare with


def test_complete_files_decide(tmp_path: Path) -> None:
    """Of a task with a reduced train file, the other splits are complete."""
    task = Task(**{**vars(LABELS), "rows": {"train": 50, "dev": 2, "test": 4}})
    files = {split: Part(task, split, of.file, of.rows) for split, of in FILES.items()}
    assert false(tmp_path, "50 train, 3 dev, 2 glad", task, files) == [
        "says that dev has 3 rows; kansla/dev.tsv has 2",
        "says that 2 rows of dev have the label glad; there are 1",
    ]
    official = Task(**{**vars(LABELS), "rows": {"train": 5, "dev": 2, "test": 4}})
    files = {split: Part(official, split, of.file, of.rows) for split, of in FILES.items()}
    assert false(tmp_path, "12 texts", official, files) == ["says that the data has 12 rows; the suite file has 11"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label: can be glad or arg, sentence: the sentence", None),
        ("sentence, label (glad or arg) and metadata", None),
        ("labeled with 'glad' and 'arg'", None),
        ("the sentences are short or long", None),
        ("label (glad or sad)", "names the label sad; the task's labels are glad, arg"),
        ("the labels are glad, arg and neutral", "names the label neutral; the task's labels are glad, arg"),
        ("glad and tired sentences", None),  # says nothing about labels
    ],
)
def test_lists_of_labels(tmp_path: Path, text: str, message: str | None) -> None:
    assert false(tmp_path, "11", Format=text) == ([message] if message else [])


def test_a_list_without_one_of_the_labels(tmp_path: Path) -> None:
    task = Task(**{**vars(LABELS), "labels": ["glad", "arg", "trött"]})
    assert false(tmp_path, "11", task, {}, Data_labeling="one of glad or arg") == [
        "names the labels without trött; the task's labels are glad, arg, trött"
    ]
