"""Forms of data files: what each is read as, and what is said of a file in the place of data."""

import bz2
import gzip
import json
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from input_errors import refused
from pyarrow import parquet

from mtl.data import files, forms
from mtl.data.files import read_lines, split_lines
from mtl.data.records import column_names, read_records
from mtl.data.rows import stream_rows
from mtl.tasks.layout import Layout, Reading

SEMICOLONS = Layout(reading=Reading(separator=";"))
QUOTED = Layout(reading=Reading(quoted=True))
CP1250 = Layout(reading=Reading(encoding="cp1250"))
UTF_16_LE = Layout(reading=Reading(encoding="utf-16-le"))
# The form of SQuAD, and the rows that it stands for.
ARTICLES = [
    {"title": "t", "paragraphs": [{"context": "p", "qas": [{"id": "1", "question": "q"}]}]},
    {
        "title": "u",
        "paragraphs": [{"context": "r", "qas": [{"id": "2", "question": "?"}]}, {"context": "s", "qas": []}],
    },
]
QUESTIONS = [
    {"title": "t", "context": "p", "id": "1", "question": "q"},
    {"title": "u", "context": "r", "id": "2", "question": "?"},
]
JSON = [{"text": "a b", "n": 1}, {"text": "c", "n": 2}]
POLISH = "text\tn\nżółw\t1\n"
CHINESE = "文本内容很长\tn\n好\t1\n"


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def zstd(content: bytes) -> bytes:
    return bytes(pyarrow.compress(content, codec="zstd", asbytes=True))


def form(name: str) -> Layout:
    return Layout(reading=Reading(form=name))


@pytest.mark.parametrize(
    ("name", "content", "layout", "expected"),
    [
        ("a.csv", "text;n\na,b;1\n", SEMICOLONS, [(2, {"text": "a,b", "n": "1"})]),
        ("a.csv", 'text|n\n"a|b"|1\n', Layout(reading=Reading(separator="|")), [(2, {"text": "a|b", "n": "1"})]),
        ("a.csv", "text\tn\na,b\t1\n", form("tsv"), [(2, {"text": "a,b", "n": "1"})]),
        ("a.tsv", 'text\tn\n"a ""b""\nc"\t1\nd\t2\n', QUOTED, [(2, {"text": 'a "b"\nc', "n": "1"}), (4, {"text": "d", "n": "2"})]),
        ("a.tsv", "text\tn\r\na\t1\r\n\r\n\n", Layout(), [(2, {"text": "a", "n": "1"})]),  # empty last lines
        ("a.csv", "text,n\na,1\n\n\n", Layout(), [(2, {"text": "a", "n": "1"})]),
        ("a.tsv", "text\na\n\n", Layout(), [(2, {"text": "a"}), (3, {"text": ""})]),  # of one column, an empty line is a row
        ("a.tsv", POLISH.encode("utf-16"), Layout(), [(2, {"text": "żółw", "n": "1"})]),
        ("a.tsv", CHINESE.encode("utf-16-le"), UTF_16_LE, [(2, {"文本内容很长": "好", "n": "1"})]),  # no byte order mark
        ("a.tsv", POLISH.encode("cp1250"), CP1250, [(2, {"text": "żółw", "n": "1"})]),
        ("a.tsv", b"\xef\xbb\xbftext\tn\na\t1\n", Layout(), [(2, {"text": "a", "n": "1"})]),
        ("a.txt", "one text\nanother\n\n", Layout(), [(1, {"text": "one text"}), (2, {"text": "another"})]),
        ("a.txt", "x\n", Layout(header=["sentence"]), [(1, {"sentence": "x"})]),
        ("a.txt", "__label__a __label__b some  text\n", form("fasttext"), [(1, {"label": "a b", "text": "some  text"})]),
        ("a.json", json.dumps(JSON, indent=1), Layout(), [(2, JSON[0]), (6, JSON[1])]),
        ("a.json", "".join(json.dumps(row) + "\n" for row in JSON), Layout(), [(1, JSON[0]), (2, JSON[1])]),
        ("a.json", json.dumps({"x": {"n": 1}, "y": {"n": 2}}), Layout(), [(1, {"id": "x", "n": 1}), (2, {"id": "y", "n": 2})]),
        ("a.json", json.dumps({"v": 1, "data": {"dev": [], "train": JSON}}), Layout(part="data.train"), [(1, JSON[0]), (2, JSON[1])]),
        ("a.json", json.dumps({"train": [["a", "x"]]}), Layout(part="train"), [(1, {"column_1": "a", "column_2": "x"})]),
        ("a.json", json.dumps({"train": [["a", "x"]]}), Layout(["text", "label"], part="train"), [(1, {"text": "a", "label": "x"})]),
        ("a.csv", "text,split\na,dev\nb,train\n", Layout(part="split=train"), [(3, {"text": "b", "split": "train"})]),
        ("a.csv", "q.text,split\na,dev\nb,train\n", Layout(part="split=train"), [(3, {"q.text": "b", "split": "train"})]),
        ("a.json", json.dumps([{"n": 1, "s": "x"}, {"n": 2, "s": "y"}]), Layout(part="s=y"), [(1, {"n": 2, "s": "y"})]),
        ("a.json", json.dumps({"version": "2.0", "data": ARTICLES}), Layout(), list(enumerate(QUESTIONS, start=1))),
        ("a.txt", "one\x85two\u2028three\n".encode("utf-16"), Layout(), [(1, {"text": "one\x85two\u2028three"})]),
        ("a.ndjson", '{"n": 1}\n', Layout(), [(1, {"n": 1})]),
    ],
)  # fmt: skip
def test_what_each_form_is_read_as(
    tmp_path: Path, name: str, content: bytes | str, layout: Layout, expected: list[tuple[int, dict[str, Any]]]
) -> None:
    path = write(tmp_path / name, content)
    assert list(stream_rows(path, layout)) == expected
    columns = list(expected[0][1])
    assert column_names(path, layout) == columns
    records = read_records(path, columns, layout=layout)
    assert [(record.line, dict(zip(columns, record.values, strict=True))) for record in records] == expected


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstd)]
)
def test_packed_files(tmp_path: Path, suffix: str, pack: Any) -> None:
    content = b"text\tn\n" + b"".join(b"a text\t%d\n" % number for number in range(500))
    path = write(tmp_path / f"a.tsv{suffix}", pack(content))
    assert [row["n"] for _, row in stream_rows(path)] == [str(number) for number in range(500)]
    write(path, pack(content)[:-20])
    refused(lambda: list(stream_rows(path)), file=path.name)


def test_a_zip_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "one.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("one.csv", "n,s\n1,a\n2,b\n")
    assert list(stream_rows(path, Layout(part="s=b"))) == [(3, {"n": "2", "s": "b"})]
    refused(lambda: list(stream_rows(path.rename(tmp_path / "a.zip"), Layout(part="one.csv"))), file="a.zip")


def test_two_files_line_by_line(tmp_path: Path) -> None:
    texts, labels = write(tmp_path / "text.txt", "a b\nc\n"), write(tmp_path / "label", "1\n0\n")
    layout = Layout(beside=labels)
    expected = [{"text": "a b", "label": "1"}, {"text": "c", "label": "0"}]
    assert [row for _, row in stream_rows(texts, layout)] == expected
    named = Layout(["sentence", "class"], beside=labels)
    records = read_records(texts, ["class", "sentence"], layout=named)
    assert [record.values for record in records] == [("1", "a b"), ("0", "c")]
    parquet.write_table(pyarrow.table({"text": ["a b", "c"]}), tmp_path / "x.parquet")
    records = read_records(tmp_path / "x.parquet", ["text", "label"], layout=layout)
    assert [record.values for record in records] == [("a b", "1"), ("c", "0")]
    for content in ("1\n", "1\n0\n2\n"):
        write(labels, content)
        refused(lambda: list(stream_rows(texts, layout)))
    write(labels, "1\n")
    refused(lambda: list(stream_rows(write(tmp_path / "x.jsonl", '{"label": 1}\n'), layout)), file="x.jsonl")
    refused(lambda: list(stream_rows(write(tmp_path / "x.tsv", "text\na\nb\n"), layout)), file="x.tsv", line=3)


@pytest.mark.parametrize(
    ("name", "content", "layout"),
    [
        *(("a.tsv", "version https://git-lfs.github.com/spec/v1\noid sha256:12\n", Layout()), ("a.csv", "<!DOCTYPE html>\n<html>", Layout())),
        *(("a.tsv", content, Layout()) for content in (b"text\0\x01n\n", POLISH.encode("cp1250"))),
        *(("a.csv", content, Layout()) for content in ("text;n\na;1\n", "text, n\na, 1\n")),
        *(("a.tsv", content, Layout()) for content in ('text\tn\n"a\nb"\t1\n', "text\tn\n\na\t1\n")),
        ("a.json", '{"version": 1, "data": [{"n": 1}]}', Layout()),
        ("a.json", '{"data": [{"paragraphs": [{"context": "p", "qas": ["q"]}]}]}', Layout()),
        ("a.json", '{"data": [{"paragraphs": [{"context": "p"}]}]}', Layout()),
        *(("a.json", content, Layout()) for content in ('[{"n": 1}, {"n": 2}', '[{"n": 1}\n {"n": 2}]', "[1, 2]", '[{"n": 1},]')),
        *(("a.json", '[{"n": 1}]\n[{"n": 2}]', Layout()), ("a.json", '[["a", "x", "y"]]', Layout(["n", "m"]))),
        *(("a.jsonl", '{"n": 1}\n', Layout(part="train")), ("a.csv", "n\n1\n", Layout(part="train"))),
        *(("a.json", '"n"', Layout()), ("a.json", '{"a": {"n": 1}, "a": {"n": 1}}', Layout())),
        *(("a.json", '{"train": []}', Layout(part="dev")), ("a.csv", "text,n\na,1\n", Layout(part="n=2"))),
        ("a.txt", "a text without a label\n", form("fasttext")),
    ],
)  # fmt: skip
def test_what_is_in_the_place_of_data_is_named(tmp_path: Path, name: str, content: bytes | str, layout: Layout) -> None:
    path = write(tmp_path / name, content)
    refused(lambda: read_records(path, ["n"], layout=layout), file=name)


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = write(tmp_path / "a.jsonl.gz", gzip.compress(b" " * 2**27))
    refused(lambda: list(stream_rows(bomb)), file="a.jsonl.gz")
    names = [f"c{number}" for number in range(forms.MOST_COLUMNS + 1)]
    refused(lambda: column_names(write(tmp_path / "wide.csv", ",".join(names) + "\n")), file="wide.csv", line=1)
    wide = write(tmp_path / "wide.jsonl", json.dumps(dict.fromkeys(names, 1)))
    refused(lambda: list(stream_rows(wide)), file="wide.jsonl", line=1)
    monkeypatch.setattr(files, "MOST_LINES", 3)
    refused(lambda: list(stream_rows(write(tmp_path / "long.txt", "a\n" * 4))), file="long.txt")


CONTENT = "\ufeffa\r\nb\x0b\u2028c\n\nd".encode()


def test_lines_end_with_a_line_feed_only(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(CONTENT)
    assert read_lines(path) == split_lines(CONTENT, "x") == ["a", "b\x0b\u2028c", "", "d"]
    assert split_lines(b"", "x") == [] and split_lines(b"\n", "x") == [""]


def test_files_that_cannot_be_read_or_that_no_memory_may_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path / "none", tmp_path):
        refused(read_lines, path)
    monkeypatch.setattr(files, "FILE_LIMIT", 5)
    path = tmp_path / "x"
    path.write_bytes(b"123456")
    refused(lambda: read_lines(path), file="x")
