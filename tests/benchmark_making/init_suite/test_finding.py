"""Which files are the splits of which tasks, by their names: `golden/init-suite-names.txt`."""

from pathlib import Path

import pytest
from golden import check_golden

from mtl.benchmark_making.init_suite.finding import all_files, find_tasks

UP = range(30)
SAVED = ["dataset_dict.json", "train/dataset_info.json", "train/state.json", "train/data-00000-of-00001.arrow"]
FOLDERS = {
    # Words of splits stand anywhere in a name, or are a folder's.
    **{f"dev as {name}": [f"a/{name}.parquet"] for name in ("valid", "val", "Dev", "eval", "VALIDATION-00000-of-00001")},
    "in the middle": ["xnli.dev.ko.tsv"],
    "with other words": ["a/train_preprocess.tsv", "a/test_preprocess_masked_label.csv"],
    "a folder": ["development/faq.jsonl.gz"],
    "a folder and a name": ["dev/am_dev.tsv"],
    "versions": ["jnli-v1.3/train-v1.3.json", "jnli-v1.3/valid-v1.3.json"],
    "capitals": ["a/trainingSet.csv", "RTE_train.tsv"],
    "a suffix in capitals": ["Reviews.CSV"],
    # What is no split is listed.
    "two words": ["train_dev.tsv", "constrain.tsv"],
    "saved by the library datasets": SAVED,
    "hidden, about the data, or without a word": ["a/train.tsv", "a/sheet.tsv", "n/readme.txt", "c.csv", ".git/train.tsv", ".train.tsv"],
    "archives": ["all.zip", "sst/train.zip", "x.tar", "train.csv.zip", "faq.csv.zip"],
    "other forms": ["train.xlsx", "b/c.md", "folder.tsv/test.tsv/x"],
    "a folder of documents": ["test.tsv", *(f"dev/{number}.txt" for number in range(30))],
    # Numbered parts are one split.
    "parts": [f"data/train-0000{i}-of-00002.parquet" for i in range(2)],
    "parts that are missing": ["data/train-00000-of-00003.parquet"],
    "one part": ["data/train-00000-of-00001.parquet"],
    "parts with hashes": [f"d/train-{i}-of-2-{i:016x}.parquet" for i in range(2)],
    "parts in a folder": [f"data/train/part-{i}.jsonl" for i in range(11)],
    "parts of the Hub's conversions": [f"data/train/000{i}.parquet" for i in range(2)],
    "parts with zeros, as of JaQuAD": [f"data/train/qa_train_000{i}.json" for i in range(3)],
    "perhaps parts": [f"train_{i}.json" for i in range(9)],
    "no parts": [f"data/train/part-{i}.jsonl" for i in (0, 2)],
    "folds, as of FewCLUE": [f"{split}_{i}.json" for split in ("train", "dev") for i in range(5)],
    # Of several files of one split one is read.
    "masked labels": ["train_preprocess.txt", "test_preprocess.txt", "test_preprocess_masked_label.txt"],
    "no labels": ["NER-de-dev.tsv", "NER-de-test.tsv", "NER-de-test-unlabeled.tsv"],
    "features": ["train.tsv", "test.tsv", "test_features.tsv"],
    # The files of a task differ in their split alone.
    "texts and labels": [f"a/{split}_{kind}.txt" for split in ("train", "val") for kind in ("text", "labels")],
    "two kinds of labels": ["train/seq.in", "train/label", "train/seq.out"],
    "labels beside objects": ["train.jsonl", "train-labels.lst"],
    "a folder each": ["a/train.tsv", "a/validation.tsv", "a/test_features.tsv", "b/c/train.csv"],
    "one folder": ["ner_train.jsonl", "ner_dev.jsonl", "my-nli.train.jsonl", "my-nli.test_features.jsonl"],
    "two in a folder": ["sim/sim-words_train.jsonl", "sim/sim-texts_train.jsonl", "other/train.tsv"],
    "a common prefix": ["klej_cdsc-e/train.tsv", "klej_ar/train.tsv"],
    "no common prefix": ["swenli/train.tsv", "swewic/train.tsv"],
    "the same name": ["en/nli/train.tsv", "sv/nli/train.tsv"],
    "names that are no ids": [f"{folder}/train.tsv" for folder in ("Ä o", "a:o", "A*o", "average", "日本")],
    "texts in folders": ["train/x.txt", "train/pos/dev.tsv", *(f"{of}/{n}.txt" for of in ("train/pos", "train/neg", "test/pos") for n in UP)],
    "texts without splits": ["rows.csv", *(f"x/{label}/{n}.txt" for label in "ab" for n in UP)],
}  # fmt: skip


def said_of(data_dir: Path) -> str:
    """The tasks of a folder, what is asked about them, and what is left."""
    found = find_tasks(data_dir)
    lines = [f"{task.id}: {task.folder or '.'} {list(task.files.values())}" for task in found.tasks]
    lines += [f"  {line}" for task in found.tasks for line in (*task.notes, *task.questions, task.problem) if line]
    lines += [f"not read, {why}: {len(paths)}, as {paths[0]}" for why, paths in found.unread.items() if paths]
    return "".join(f"{line}\n" for line in lines)


def test_the_files_of_tasks(tmp_path: Path) -> None:
    said = []
    for number, (name, paths) in enumerate(FOLDERS.items()):
        for path in paths:
            file = tmp_path / str(number) / "data" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        said.append(f"== {name}\n{said_of(tmp_path / str(number) / 'data')}")
    check_golden("init-suite-names.txt", "\n".join(said))


def test_a_folder_that_cannot_be_read_is_not_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.listdir", refuse)
    with pytest.raises(PermissionError):
        all_files(tmp_path)
