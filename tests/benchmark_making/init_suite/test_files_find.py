from pathlib import Path

import pytest

from mtl.benchmark_making.init_suite.files import file_name, find_tasks


def make(folder: Path, *paths: str) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    return folder


def files(folder: Path, *paths: str) -> dict[str, dict[str, str]]:
    """By task id its files, of a folder with these files."""
    return {task.id: task.files for task in find_tasks(make(folder, *paths)).tasks}


def test_a_folder_with_one_set_of_split_files_is_a_task(tmp_path: Path) -> None:
    found = find_tasks(make(tmp_path, "a/train.tsv", "a/validation.tsv", "a/test_features.tsv", "b/c/train.csv"))
    assert [(task.id, task.folder) for task in found.tasks] == [("a", "a"), ("c", "b/c")]
    assert found.tasks[0].files == {"train": "train.tsv", "dev": "validation.tsv", "test": "test_features.tsv"}
    assert found.tasks[1].files == {"train": "train.csv"}


@pytest.mark.parametrize("name", ["dev", "valid", "val", "validation", "Dev", "VALIDATION-00000-of-00001"])
def test_the_names_of_the_dev_split(tmp_path: Path, name: str) -> None:
    assert files(tmp_path, f"a/{name}.parquet") == {"a": {"dev": f"{name}.parquet"}}


def test_tasks_flat_in_one_folder(tmp_path: Path) -> None:
    assert files(tmp_path, "ner_train.jsonl", "ner_dev.jsonl", "my-nli.train.jsonl", "my-nli.test_features.jsonl") == {
        "my-nli": {"train": "my-nli.train.jsonl", "test": "my-nli.test_features.jsonl"},
        "ner": {"train": "ner_train.jsonl", "dev": "ner_dev.jsonl"},
    }


def test_several_tasks_in_one_folder_below(tmp_path: Path) -> None:
    found = find_tasks(make(tmp_path, "sim/sim-words_train.jsonl", "sim/sim-texts_train.jsonl", "other/train.tsv"))
    assert [(task.id, task.folder) for task in found.tasks] == [
        ("other", "other"),
        ("sim-texts", "sim"),
        ("sim-words", "sim"),
    ]


def test_files_in_the_data_folder_itself_are_named_after_it(tmp_path: Path) -> None:
    assert files(tmp_path / "reviews", "train.tsv") == {"reviews": {"train": "train.tsv"}}


def test_a_prefix_of_all_names_is_left_out(tmp_path: Path) -> None:
    assert list(files(tmp_path, "klej_cdsc-e/train.tsv", "klej_cdsc-r/train.tsv", "klej_ar/train.tsv")) == [
        "ar",
        "cdsc-e",
        "cdsc-r",
    ]


def test_a_prefix_without_a_separator_is_part_of_the_name(tmp_path: Path) -> None:
    assert list(files(tmp_path, "swenli/train.tsv", "swewic/train.tsv")) == ["swenli", "swewic"]


def test_ids_name_files_and_differ(tmp_path: Path) -> None:
    found = files(tmp_path, "Ä o/train.tsv", "a:o/train.tsv", "A*o/train.tsv", "average/train.tsv", "日本/train.tsv")
    assert list(found) == ["A-o", "a-o", "average-task", "A-o-2", "task"]


def test_tasks_of_one_name_get_their_folders_names(tmp_path: Path) -> None:
    assert list(files(tmp_path, "en/nli/train.tsv", "sv/nli/train.tsv")) == ["en-nli", "sv-nli"]


def test_what_is_no_split_is_listed(tmp_path: Path) -> None:
    made = make(
        tmp_path, "a/train.tsv", "a/sheet.tsv", "notes/readme.txt", "counts.csv", ".git/train.tsv", ".train.tsv"
    )
    found = find_tasks(made)
    assert [task.id for task in found.tasks] == ["a"]
    assert found.unused == ["counts.csv", "a/sheet.tsv"]
    assert found.empty == ["notes"]


def test_two_files_of_one_split(tmp_path: Path) -> None:
    (task,) = find_tasks(make(tmp_path, "a/test.tsv", "a/test_features.tsv", "a/train.tsv")).tasks
    assert task.files == {"train": "train.tsv", "test": "test.tsv"}
    assert task.unused == ["test_features.tsv"]


def test_only_plain_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a" / "train.tsv").mkdir(parents=True)
    assert find_tasks(tmp_path).tasks == []


@pytest.mark.parametrize(
    ("name", "plain"),
    [("PolEmo 2.0", "PolEmo-2.0"), ("Żółw", "Zow"), ("../x", "x"), ("-a.", "a"), ("日本", "otherwise")],
)
def test_file_name(name: str, plain: str) -> None:
    assert file_name(name, "otherwise") == plain
