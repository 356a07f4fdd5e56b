import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from input_errors import refused
from kinds_suite import write_kinds_suite
from small_suite import write_tsv

from mtl.base.settings.layers import shipped
from mtl.data.examples import read_examples
from mtl.data.splits import read_task, split_files
from mtl.tasks.layout import Reading
from mtl.tasks.suite import load_suite
from mtl.tasks.task import Task


def test_a_regression_has_no_strata(suite_file: Path) -> None:
    task = load_suite(suite_file).tasks["betyg"]
    task.files["dev"] = None
    data = suite_file.parent / "data"
    write_tsv(data / "scores/train.tsv", ("text", "score"), *((f"text {i}", str(i / 10)) for i in range(100)))
    assert len(read_task(task, data, 0.1).held_out) == 10


def test_rows_of_one_article_stay_on_one_side(tmp_path: Path) -> None:
    task = load_suite(shipped("configs") / "suite/klej.yaml").tasks["psc"]
    rows, articles = [], {}
    for article in range(60):
        for extract in range(5):
            articles[f"extract {article} {extract}"] = article
            # Two abstracts of the five each, which join the extracts in a ring; and one of another article.
            rows += [(article, extract, article, (extract + i) % 5, "1") for i in (0, 1)]
            rows += [(article, extract, (article + 7) % 60, extract, "0")]
    random.Random(1).shuffle(rows)
    cells = [(f"extract {a} {e}", f"abstract {b} {s}", label) for a, e, b, s, label in rows]
    write_tsv(tmp_path / "klej_psc/train.tsv", ("extract_text", "summary_text", "label"), *cells)
    write_tsv(tmp_path / "klej_psc/test_features.tsv", ("extract_text", "summary_text"), ("a", "b"))
    read = read_task(task, tmp_path, 0.1)
    sides = [{articles[e.texts[0]] for e in read.rows[split]} for split in ("train", "dev")]
    assert not sides[0] & sides[1] and len(sides[1]) == 6
    assert [sum(e.target == label for e in read.rows["dev"]) for label in (0, 1)] == [30, 60]


def test_read_task_holds_out_where_there_is_no_dev_file(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    data = suite_file.parent / "data"
    pairs = read_task(suite.tasks["samma"], data, 0.1)
    assert (len(pairs.rows["train"]), len(pairs.rows["dev"]), "test" in pairs.rows) == (54, 6, False)
    assert pairs.held_out == [e.line for e in pairs.rows["dev"]]
    single = read_task(suite.tasks["kansla"], data, 0.1)
    assert ([len(rows) for rows in single.rows.values()], single.held_out) == ([60, 30, 10], [])
    # One group cannot be held out.
    suite = load_suite(suite_file)
    path = suite_file.parent / "data/pairs/train.tsv"
    path.write_text("topic\ta\tb\tsame\n1\tx\ty\t0\n1\tx\tz\t1\n", encoding="utf-8")
    refused(lambda: read_task(suite.tasks["samma"], suite_file.parent / "data", 0.1), file="train.tsv")


@pytest.mark.parametrize(
    ("suffix", "rows"),
    [
        (".tsv", ["text\tlabel\n", *(f"word {i}\t{i % 2}\n" for i in range(40))]),
        (".csv", ["text,label\n", *(f'"word {i}\nof two lines",{i % 2}\n' for i in range(40))]),
        (".jsonl", [f'{{"text": "word {i}", "label": "{i % 2}"}}\n' for i in range(40)]),
    ],
)
@pytest.mark.parametrize("last", ["\n", ""])
def test_files_of_the_train_and_dev_that_are_used(suffix: str, rows: list[str], last: str, tmp_path: Path) -> None:
    task = Task(
        id="a", kind="labels", text=["text"], target="label", labels=["0", "1"], metric="accuracy", folder="a",
        files={"train": f"all{suffix}", "dev": None, "test": None},
    )  # fmt: skip
    (tmp_path / "a").mkdir()
    whole = "".join(rows)
    (tmp_path / f"a/all{suffix}").write_text(whole.removesuffix("\n") + last, encoding="utf-8")
    contents = split_files(task, tmp_path, 0.2)
    assert list(contents) == [f"a/train{suffix}", f"a/dev{suffix}"]
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    written = {split: read_examples(task, tmp_path / f"a/{split}{suffix}") for split in ("train", "dev")}
    used = read_task(task, tmp_path, 0.2).rows
    for split in written:
        assert [(row.texts, row.target) for row in written[split]] == [(row.texts, row.target) for row in used[split]]
    header = rows[: len(rows) - 40]
    both = contents[f"a/train{suffix}"].decode() + contents[f"a/dev{suffix}"].decode()
    assert sorted(both) == sorted(whole + "".join(header))


def test_files_that_exist_are_copied_and_rows_that_are_no_lines_refused(tmp_path: Path) -> None:
    suite = load_suite(write_kinds_suite(tmp_path))
    task = suite.tasks["mood"]
    copied = split_files(task, tmp_path / "data", 0.1)
    assert len(copied) == 2
    for split in ("train", "dev"):
        path = task.path(split, tmp_path / "data")
        assert path is not None and copied[f"{task.folder}/{path.name}"] == path.read_bytes()
    rows = [{"text": f"word {i}", "label": str(i % 2)} for i in range(40)]
    (tmp_path / "all.json").write_text(json.dumps(rows), encoding="utf-8")
    files = {"train": "all.json", "dev": None, "test": None}
    task = replace(task, text=["text"], target="label", labels=["0", "1"], files=files, folder="")
    refused(split_files, task, tmp_path, 0.1, file="all.json")


@pytest.mark.parametrize(
    ("train", "dev"),
    [
        ("all.tsv#split=train", None),
        ("tr-1.tsv#*", None),
        ("bare.tsv + labels.txt", None),
        ("plain.tsv", "all.tsv#split=dev"),
    ],
)
def test_splits_that_are_not_whole_files_are_not_written(train: str, dev: str | None, tmp_path: Path) -> None:
    rows = [(f"word {i}", str(i % 2), ["train", "dev", "test"][i % 3]) for i in range(60)]
    for name in ("all", "plain", "tr-1", "tr-2"):
        write_tsv(tmp_path / f"{name}.tsv", ("text", "label", "split"), *rows)
    write_tsv(tmp_path / "bare.tsv", ("text",), *[row[:1] for row in rows])
    (tmp_path / "labels.txt").write_text("0\n1\n" * 30, encoding="utf-8")
    task = replace(LETTERS, files={"train": train, "dev": dev, "test": None})
    assert read_task(task, tmp_path, 0.2).rows["dev"]
    refused(split_files, task, tmp_path, 0.2, file=Path((dev or train).partition("#")[0].partition(" ")[0]).name)


LETTERS = Task(id="a", kind="labels", text=["text"], target="label", labels=["0", "1"], metric="accuracy",
    files={"train": "all.tsv", "dev": None, "test": None})  # fmt: skip


def test_a_carriage_return_in_a_cell_ends_no_row(tmp_path: Path) -> None:
    lines = [f"word {i}\rof one row\t{i % 2}\r\n" for i in range(40)]
    (tmp_path / "all.tsv").write_bytes("".join(["text\tlabel\r\n", *lines]).encode())
    contents = split_files(LETTERS, tmp_path, 0.2)
    written = b"".join(contents.values()).decode().replace("text\tlabel\r\n", "")
    assert sorted(re.findall(r"[^\n]*\n", written)) == sorted(lines)
    assert contents["a/dev.tsv"].count(b"\n") == 9


@pytest.mark.parametrize("encoding", [None, "utf-16", "UTF-32-LE"])
def test_encodings_whose_line_ends_have_several_bytes_are_refused(encoding: str | None, tmp_path: Path) -> None:
    rows = "".join(f"word {i}\t{i % 2}\n" for i in range(40))
    (tmp_path / "all.tsv").write_bytes(f"text\tlabel\n{rows}".encode(encoding or "utf-16"))
    task = replace(LETTERS, reading=None if encoding is None else Reading(encoding=encoding))
    assert len(read_task(task, tmp_path, 0.2).rows["dev"]) == 8
    refused(lambda: split_files(task, tmp_path, 0.2), file="all.tsv")


def test_copied_files_of_one_name_keep_their_folders(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        write_tsv(tmp_path / split / "rows.tsv", ("text", "label"), (split, "0"))
    task = replace(LETTERS, files={"train": "train/rows.tsv", "dev": "dev/rows.tsv", "test": None})
    contents = {f"a/{split}/rows.tsv": f"text\tlabel\n{split}\t0\n".encode() for split in ("train", "dev")}
    assert split_files(task, tmp_path, 0.2) == contents
