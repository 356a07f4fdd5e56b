import zipfile
from pathlib import Path

import pytest

from mtl.benchmark_making.init_suite.names import all_files, find_tasks
from mtl.benchmark_making.init_suite.reading import files_of_tasks


def make(folder: Path, *paths: str) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    return folder


def files(folder: Path, *paths: str) -> dict[str, dict[str, str]]:
    """By task id its files, of a folder with these files."""
    return {task.id: task.files for task in find_tasks(make(folder, *paths)).tasks}


@pytest.mark.parametrize(
    ("path", "id", "split"),
    [
        *((f"a/{name}.parquet", "a", "dev") for name in ("valid", "val", "Dev", "eval", "VALIDATION-00000-of-00001")),
        ("xnli.dev.ko.tsv", "xnli.ko", "dev"),
        ("a/train_preprocess.tsv", "a", "train"),
        ("a/test_preprocess_masked_label.csv", "a", "test"),
        ("development/faq.jsonl.gz", "faq", "dev"),
        ("dev/am_dev.tsv", "am", "dev"),
        ("jnli-v1.3/train-v1.3.json", "jnli-v1.3", "train"),
        ("a/trainingSet.csv", "a", "train"),
    ],
)
def test_words_of_splits_stand_anywhere_in_a_name_or_are_a_folder(
    tmp_path: Path, path: str, id: str, split: str
) -> None:
    (task,) = find_tasks(make(tmp_path / "data", path)).tasks
    assert (task.id, list(task.files)) == (id, [split])
    assert (tmp_path / "data" / task.folder / task.files[split]).is_file()


def test_two_words_of_splits_say_nothing(tmp_path: Path) -> None:
    found = find_tasks(make(tmp_path, "train_dev.tsv", "constrain.tsv"))
    assert (found.tasks, found.unused) == ([], ["constrain.tsv", "train_dev.tsv"])


def test_a_data_set_saved_by_the_library_datasets_is_no_table(tmp_path: Path) -> None:
    saved = ["dataset_dict.json", *(f"train/{name}" for name in ("dataset_info.json", "state.json"))]
    found = find_tasks(make(tmp_path, *saved, "train/data-00000-of-00001.arrow"))
    assert (found.tasks, found.unused, found.unreadable) == ([], [], ["train/data-00000-of-00001.arrow"])


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([f"data/train-0000{i}-of-00002.parquet" for i in range(2)], "train-00000-of-00002.parquet#*"),
        (["data/train-00000-of-00003.parquet"], "train-00000-of-00003.parquet#*"),  # the reader says what is missing
        (["data/train-00000-of-00001.parquet"], "train-00000-of-00001.parquet"),
        (
            [f"data/train-0000{i}-of-00002-{i:016x}.parquet" for i in range(2)],
            f"train-00000-of-00002-{0:016x}.parquet#*",
        ),
        ([f"data/train/part-{i}.jsonl" for i in range(11)], "train/part-0.jsonl#*"),
        ([f"data/train/000{i}.parquet" for i in range(2)], "train/0000.parquet#*"),
        ([f"data/train/qa_train_000{i}.json" for i in range(3)], "train/qa_train_0000.json#*"),  # as of JaQuAD
    ],
)
def test_numbered_parts_are_one_split(tmp_path: Path, paths: list[str], expected: str) -> None:
    (task,) = find_tasks(make(tmp_path, *paths)).tasks
    assert (task.id, task.files, task.question) == ("qa" if "qa" in expected else "data", {"train": expected}, None)


def test_numbered_files_are_parts_if_the_user_says_so_or_tasks(tmp_path: Path) -> None:
    numbered = [f"train_{i}.json" for i in range(9)]
    (task,) = find_tasks(make(tmp_path / "data", *numbered, "test.json")).tasks
    assert (task.files, len(task.twice)) == ({"train": "train_0.json", "test": "test.json"}, 8)
    assert task.question == ("files: train may be train_0.json or 9 numbered files, parts of one split: train_0.json#*")
    folds = [f"{split}_{i}.json" for split in ("train", "dev") for i in range(5)]  # as of FewCLUE
    assert len(find_tasks(make(tmp_path / "folds", *folds)).tasks) == 5


def test_files_without_labels_are_left_out_if_others_have_them(tmp_path: Path) -> None:
    names = ["train_preprocess.txt", "test_preprocess.txt", "test_preprocess_masked_label.txt"]
    (task,) = find_tasks(make(tmp_path / "pos", *names)).tasks
    assert task.files == {"train": names[0], "test": names[1]} and (task.twice, task.question) == (names[2:], None)
    (task,) = find_tasks(make(tmp_path / "ner", "NER-de-dev.tsv", "NER-de-test-unlabeled.tsv", "NER-de-test.tsv")).tasks
    assert (task.id, task.files["test"]) == ("NER-de", "NER-de-test.tsv")


def test_files_that_differ_in_more_than_a_number_are_asked_for(tmp_path: Path) -> None:
    (task,) = find_tasks(make(tmp_path, *(f"data/train/part-{i}.jsonl" for i in (0, 2)))).tasks
    assert task.question == "files: train may be train/part-0.jsonl or train/part-2.jsonl"


def test_a_zip_is_a_folder_of_tasks(tmp_path: Path) -> None:
    members = [f"bench/{task}/{split}.csv" for task in ("a", "b") for split in ("train", "test")]
    archives = {
        "all.zip": [*members, "__MACOSX/._x", "bench/readme.md", "../up/train.csv"],
        "sst/train.zip": ["data.tsv"],
    }
    archives |= {"sst/dev.zip": ["data.tsv"], "bad/test.zip": [], "faq.csv.zip": ["faq.csv"]}
    for name, names in archives.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member in names:
                archive.writestr(member, "")
    found = find_tasks(tmp_path)
    assert {task.id: (task.folder, task.files) for task in found.tasks} == {
        "a": ("", {"train": "all.zip#bench/a/train.csv", "test": "all.zip#bench/a/test.csv"}),
        "b": ("", {"train": "all.zip#bench/b/train.csv", "test": "all.zip#bench/b/test.csv"}),
        "sst": ("sst", {"train": "train.zip#data.tsv", "dev": "dev.zip#data.tsv"}),
    }
    assert (found.unused, found.unreadable) == (["faq.csv.zip"], ["bad/test.zip"])


def test_texts_and_labels_in_two_files_are_one_task(tmp_path: Path) -> None:
    paths = [f"a/{split}_{kind}.txt" for split in ("train", "val") for kind in ("text", "labels")]
    assert files(tmp_path / "x", *paths) == {
        "a": {"train": "train_text.txt + train_labels.txt", "dev": "val_text.txt + val_labels.txt"}
    }
    assert files(tmp_path / "y", "train/seq.in", "train/label", "train/seq.out") == {
        "label": {"train": "train/seq.in + train/label"},
        "seq.out": {"train": "train/seq.in + train/seq.out"},
    }
    assert files(tmp_path / "z", "train.jsonl", "train-labels.lst") == {
        "z": {"train": "train.jsonl + train-labels.lst"}
    }


def test_the_files_of_a_task_differ_in_their_split_alone(tmp_path: Path) -> None:
    found = find_tasks(make(tmp_path / "x", "a/train.tsv", "a/validation.tsv", "a/test_features.tsv", "b/c/train.csv"))
    assert [(task.id, task.folder) for task in found.tasks] == [("a", "a"), ("c", "b/c")]
    assert found.tasks[0].files == {"train": "train.tsv", "dev": "validation.tsv", "test": "test_features.tsv"}
    assert found.tasks[1].files == {"train": "train.csv"}
    flat = ("ner_train.jsonl", "ner_dev.jsonl", "my-nli.train.jsonl", "my-nli.test_features.jsonl")
    assert files(tmp_path / "y", *flat) == {
        "my-nli": {"train": "my-nli.train.jsonl", "test": "my-nli.test_features.jsonl"},
        "ner": {"train": "ner_train.jsonl", "dev": "ner_dev.jsonl"},
    }
    below = make(tmp_path / "z", "sim/sim-words_train.jsonl", "sim/sim-texts_train.jsonl", "other/train.tsv")
    places = [("other", "other"), ("sim-texts", "sim"), ("sim-words", "sim")]
    assert [(task.id, task.folder) for task in find_tasks(below).tasks] == places


@pytest.mark.parametrize(
    ("paths", "ids"),
    [
        (["train.tsv"], ["data"]),
        (["klej_cdsc-e/train.tsv", "klej_cdsc-r/train.tsv", "klej_ar/train.tsv"], ["ar", "cdsc-e", "cdsc-r"]),
        (["swenli/train.tsv", "swewic/train.tsv"], ["swenli", "swewic"]),
        (["en/nli/train.tsv", "sv/nli/train.tsv"], ["en-nli", "sv-nli"]),
        (
            ["Ä o/train.tsv", "a:o/train.tsv", "A*o/train.tsv", "average/train.tsv", "日本/train.tsv"],
            ["A-o", "a-o", "average-task", "A-o-2", "task"],
        ),
    ],
)
def test_ids_name_files_and_differ(tmp_path: Path, paths: list[str], ids: list[str]) -> None:
    assert list(files(tmp_path / "data", *paths)) == ids


def test_what_is_no_split_is_listed_and_only_plain_files_are_read(tmp_path: Path) -> None:
    odd = ("a/sheet.tsv", "notes/readme.txt", "counts.csv", ".git/train.tsv", ".train.tsv")
    (tmp_path / "b" / "train.tsv").mkdir(parents=True)
    found = find_tasks(make(tmp_path, "a/train.tsv", *odd))
    assert [task.id for task in found.tasks] == ["a"]
    assert found.unused == ["counts.csv", "a/sheet.tsv"]
    assert find_tasks(make(tmp_path / "x", "train.xlsx", "b/c.md")).unreadable == ["train.xlsx"]
    documents = find_tasks(make(tmp_path / "y", "test.tsv", *(f"dev/{number}.txt" for number in range(30))))
    assert [task.id for task in documents.tasks] == ["y"]
    assert documents.unreadable == ["dev/*.txt (30 files of one text each)"]


def test_folders_of_texts_are_labels(tmp_path: Path) -> None:
    paths = [f"{split}/{label}/{n}.txt" for split in ("train", "test") for label in ("pos", "neg") for n in range(30)]
    make(tmp_path, *paths, *(f"train/more/{n}.txt" for n in range(30)), "train/urls.txt")
    documents, further = files_of_tasks(tmp_path).tasks[:2]
    assert documents.files == {"train": "train/neg/0.txt#{neg,pos}/*", "test": "test/neg/0.txt#*/*"}
    assert '"more"' in str(documents.question) and further.files == {"train": "train/urls.txt"}
    (alone,) = files_of_tasks(make(tmp_path / "b", *(f"x/{label}/{n}.txt" for label in "ab" for n in range(30)))).tasks[
        :1
    ]
    assert alone.files == {"train": "a/0.txt#*/*"} and str(alone.question).startswith("files: no name")


def test_two_files_of_one_split(tmp_path: Path) -> None:
    (task,) = find_tasks(make(tmp_path, "a/test.tsv", "a/test_features.tsv", "a/train.tsv")).tasks
    assert task.files == {"train": "train.tsv", "test": "test.tsv"}
    assert task.twice == ["test_features.tsv"] and "test may be test.tsv or test_features.tsv" in str(task.question)


def test_a_folder_that_cannot_be_read_is_no_folder_without_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(PermissionError):
        all_files(tmp_path)
