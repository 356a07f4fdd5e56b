import zipfile
from pathlib import Path

import pytest

from mtl.benchmark_making.init_suite.names import Guess, all_files, find_tasks
from mtl.benchmark_making.init_suite.reading import files_of_tasks


def make(folder: Path, *paths: str) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    return folder


def only(folder: Path, *paths: str) -> Guess:
    """The only task of a folder with these files."""
    (task,) = find_tasks(make(folder, *paths)).tasks
    return task


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
    task = only(tmp_path / "data", path)
    assert (task.id, list(task.files)) == (id, [split])
    assert (tmp_path / "data" / task.folder / str(task.files[split])).is_file()


DOCUMENTS = [f"dev/{number}.txt" for number in range(30)]
SAVED = ["dataset_dict.json", "train/dataset_info.json", "train/state.json", "train/data-00000-of-00001.arrow"]


@pytest.mark.parametrize(
    ("paths", "ids", "unused", "unreadable"),
    [
        (["train_dev.tsv", "constrain.tsv"], [], ["constrain.tsv", "train_dev.tsv"], []),
        (SAVED, [], [], [SAVED[-1]]),  # by the library datasets
        (["a/train.tsv", "a/sheet.tsv", "n/readme.txt", "c.csv", ".git/train.tsv", ".train.tsv"], ["a"], ["c.csv", "a/sheet.tsv"], []),
        (["train.xlsx", "b/c.md"], [], [], ["train.xlsx"]),
        (["test.tsv", *DOCUMENTS], ["data"], [], ["dev/*.txt (30 files of one text each)"]),
    ],
)  # fmt: skip
def test_what_is_no_split_is_listed(
    tmp_path: Path, paths: list[str], ids: list[str], unused: list[str], unreadable: list[str]
) -> None:
    (tmp_path / "data/b/train.tsv").mkdir(parents=True)  # only plain files are read
    found = find_tasks(make(tmp_path / "data", *paths))
    assert ([task.id for task in found.tasks], found.unused, found.unreadable) == (ids, unused, unreadable)


FOLDS = [f"{split}_{i}.json" for split in ("train", "dev") for i in range(5)]  # as of FewCLUE
NUMBERED = [f"train_{i}.json" for i in range(9)]


@pytest.mark.parametrize(
    ("paths", "train", "question"),
    [
        ([f"data/train-0000{i}-of-00002.parquet" for i in range(2)], "train-00000-of-00002.parquet#*", None),
        (["data/train-00000-of-00003.parquet"], "train-00000-of-00003.parquet#*", None),  # the reader says what is missing
        (["data/train-00000-of-00001.parquet"], "train-00000-of-00001.parquet", None),
        ([f"d/train-0-of-2-{i:016x}.parquet".replace("-0-", f"-{i}-") for i in range(2)], f"train-0-of-2-{0:016x}.parquet#*", None),
        ([f"data/train/part-{i}.jsonl" for i in range(11)], "train/part-0.jsonl#*", None),
        ([f"data/train/000{i}.parquet" for i in range(2)], "train/0000.parquet#*", None),
        ([f"data/train/qa_train_000{i}.json" for i in range(3)], "train/qa_train_0000.json#*", None),  # as of JaQuAD
        (NUMBERED, NUMBERED[0], f"train may be {NUMBERED[0]} or 9 numbered files, parts of one split: {NUMBERED[0]}#*"),
        ([f"data/train/part-{i}.jsonl" for i in (0, 2)], "train/part-0.jsonl", "train may be train/part-0.jsonl or train/part-2.jsonl"),
    ],
)  # fmt: skip
def test_numbered_parts_are_one_split(tmp_path: Path, paths: list[str], train: str, question: str | None) -> None:
    task = only(tmp_path / "folder", *paths)
    assert (task.files, task.questions) == ({"train": train}, [f"files: {question}"] if question else [])
    assert len(find_tasks(make(tmp_path / "folds", *FOLDS)).tasks) == 5


@pytest.mark.parametrize(
    ("names", "left", "question"),
    [
        (["train_preprocess.txt", "test_preprocess.txt", "test_preprocess_masked_label.txt"], 2, None),
        (["NER-de-dev.tsv", "NER-de-test.tsv", "NER-de-test-unlabeled.tsv"], 2, None),
        (["train.tsv", "test.tsv", "test_features.tsv"], 2, "files: test may be test.tsv or test_features.tsv"),
    ],
)
def test_of_two_files_of_one_split_one_is_read(
    tmp_path: Path, names: list[str], left: int, question: str | None
) -> None:
    task = only(tmp_path, *names)
    assert list(task.files.values()) == names[:left] and task.questions == ([question] if question else [])
    assert task.notes == [f'not read: "{names[left]}"; another file has this split']


def test_a_zip_is_a_folder_of_tasks(tmp_path: Path) -> None:
    members = [f"bench/{task}/{split}.csv" for task in ("a", "b") for split in ("train", "test")]
    archives = {
        "all.zip": [*members, "__MACOSX/._x", "bench/readme.md", "../up/train.csv"],
        **{"sst/train.zip": ["data.tsv"], "sst/dev.zip": ["data.tsv"], "bad/test.zip": [], "faq.csv.zip": ["faq.csv"]},
    }
    for name, names in archives.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member in names:
                archive.writestr(member, "")
    found = find_tasks(tmp_path)
    assert {task.id: (task.folder, task.files) for task in found.tasks} == {
        **{id: ("", {split: f"all.zip#bench/{id}/{split}.csv" for split in ("train", "test")}) for id in "ab"},
        "sst": ("sst", {"train": "train.zip#data.tsv", "dev": "dev.zip#data.tsv"}),
    }
    assert (found.unused, found.unreadable) == (["faq.csv.zip"], ["bad/test.zip"])


FLAT = ("ner_train.jsonl", "ner_dev.jsonl", "my-nli.train.jsonl", "my-nli.test_features.jsonl")


@pytest.mark.parametrize(
    ("paths", "tasks"),
    [
        ([f"a/{split}_{kind}.txt" for split in ("train", "val") for kind in ("text", "labels")],
         {("a", "a"): ["train_text.txt + train_labels.txt", "val_text.txt + val_labels.txt"]}),
        (["train/seq.in", "train/label", "train/seq.out"],
         {("label", ""): ["train/seq.in + train/label"], ("seq.out", ""): ["train/seq.in + train/seq.out"]}),
        (["train.jsonl", "train-labels.lst"], {("data", ""): ["train.jsonl + train-labels.lst"]}),
        (["a/train.tsv", "a/validation.tsv", "a/test_features.tsv", "b/c/train.csv"],
         {("a", "a"): ["train.tsv", "validation.tsv", "test_features.tsv"], ("c", "b/c"): ["train.csv"]}),
        (FLAT, {("my-nli", ""): [*FLAT[2:]], ("ner", ""): [*FLAT[:2]]}),
        (["sim/sim-words_train.jsonl", "sim/sim-texts_train.jsonl", "other/train.tsv"],
         {("other", "other"): ["train.tsv"], ("sim-texts", "sim"): ["sim-texts_train.jsonl"], ("sim-words", "sim"): ["sim-words_train.jsonl"]}),
        (["klej_cdsc-e/train.tsv", "klej_ar/train.tsv"], {("ar", "klej_ar"): ["train.tsv"], ("cdsc-e", "klej_cdsc-e"): ["train.tsv"]}),
        (["swenli/train.tsv", "swewic/train.tsv"], {(id, id): ["train.tsv"] for id in ("swenli", "swewic")}),
        (["en/nli/train.tsv", "sv/nli/train.tsv"], {(f"{name}-nli", f"{name}/nli"): ["train.tsv"] for name in ("en", "sv")}),
    ],
)  # fmt: skip
def test_the_files_of_a_task_differ_in_their_split_alone(
    tmp_path: Path, paths: list[str], tasks: dict[tuple[str, str], list[str]]
) -> None:
    found = find_tasks(make(tmp_path / "data", *paths)).tasks
    assert {(task.id, task.folder): [*task.files.values()] for task in found} == tasks


def test_ids_name_files_and_differ(tmp_path: Path) -> None:
    folders = ["Ä o", "a:o", "A*o", "average", "日本"]
    found = find_tasks(make(tmp_path, *(f"{folder}/train.tsv" for folder in folders))).tasks
    assert [task.id for task in found] == ["A-o", "a-o", "average-task", "A-o-2", "task"]


def test_folders_of_texts_are_labels(tmp_path: Path) -> None:
    paths = [f"{split}/{label}/{n}.txt" for split in ("train", "test") for label in ("pos", "neg") for n in range(30)]
    make(tmp_path, *paths, *(f"train/more/{n}.txt" for n in range(30)), "train/urls.txt")
    documents, further = files_of_tasks(tmp_path).tasks[:2]
    assert documents.files == {"train": "train/neg/0.txt#{neg,pos}/*", "test": "test/neg/0.txt#*/*"}
    assert '"more"' in documents.questions[0] and further.files == {"train": "train/urls.txt"}
    alone = files_of_tasks(make(tmp_path / "b", *(f"x/{label}/{n}.txt" for label in "ab" for n in range(30)))).tasks[0]
    assert alone.files == {"train": "a/0.txt#*/*"} and alone.questions[0].startswith("files: no name")


def test_a_folder_that_cannot_be_read_is_no_folder_without_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(PermissionError):
        all_files(tmp_path)
