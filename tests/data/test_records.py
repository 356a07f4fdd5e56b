"""Data files in every format: what is read, and the one line that each damaged file gets."""

import csv
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from data_files import write_rows
from input_errors import refused
from mutations import damaged, message_of
from pyarrow import parquet

from mtl.data import parquet as parquet_module
from mtl.data.columns import text
from mtl.data.records import Record, column_names, read_fields, read_records
from mtl.data.rows import stream_rows
from mtl.tasks.layout import Layout, Reading

NESTED = [
    {"id": 1, "first": {"context": "en katt", "word": {"text": "katt"}}, "answers": ["a", "b"], "label": 0, "x": None},
    {"id": 2, "first": {"context": "två", "word": {"text": "å"}}, "answers": [], "label": 1, "score": 2.5, "ok": True},
]


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def values(path: Path, *columns: str) -> list[tuple[Any, ...]]:
    return [record.values for record in read_records(path, columns)]


def wrong(path: Path, *columns: str, line: int | str | None = None) -> None:
    """Reading these columns ends with one line that names the file."""
    refused(lambda: read_records(path, columns), file=path.name, line=line)


TEXTS = [
    '"Solo" zaczyna',
    'i "kończy',
    "",
    "NA",
    "null",
    "  dwie spacje ",
    "a\x0bb\u2028c\x85d\x1ce",
    'x ""y"" "',
    "a,b",
]


def test_tsv_quotes_nothing_and_keeps_every_row(tmp_path: Path) -> None:
    content = "sentence\ttarget\n" + "".join(f"{cell}\t{i % 2}\n" for i, cell in enumerate(TEXTS))
    path = write(tmp_path / "x.tsv", content)
    expected = [Record(i + 2, (str(i % 2), cell)) for i, cell in enumerate(TEXTS)]
    assert read_records(path, ["target", "sentence"]) == expected
    assert column_names(path) == ["sentence", "target"]


@pytest.mark.parametrize("suffix", ["tsv", "csv"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "end"])
def test_line_ends_and_byte_order_mark(tmp_path: Path, suffix: str, end: str, last: str) -> None:
    separator = "\t" if suffix == "tsv" else ","
    content = end.join(separator.join(row) for row in (("a", "b"), ("1", "2"), ("3", "4"))) + (end if last else "")
    path = write(tmp_path / f"x.{suffix}", b"\xef\xbb\xbf" + content.encode())
    assert read_records(path, ["a", "b"]) == [Record(2, ("1", "2")), Record(3, ("3", "4"))]
    assert column_names(path) == ["a", "b"]


def test_damaged_tables(tmp_path: Path) -> None:
    for content in (b"text\ttarget\na\t0\n", b"t\x1b\ttarget\na\t0\n", b"", b"sentence\tsentence\na\tb\n"):
        wrong(write(tmp_path / "x.tsv", content), "sentence", line=1)
    for content in (b"sentence\tb\na\t0\nb\n", b"sentence\ta\na\t0\nb\xc5\t1\n"):
        wrong(write(tmp_path / "x.tsv", content), "sentence", line=3)
    wrong(write(tmp_path / "x.tsv", b"sentence\n"), "sentence")
    wrong(write(tmp_path / "x.csv", ""), "a", line=1)
    wrong(write(tmp_path / "x.csv", "a,b\n"), "a")
    for content in ("a,b\n1,2\n3\n", 'a,b\n1,2\n"3,4\n5,6\n'):
        wrong(write(tmp_path / "x.csv", content), "a", line=3)
    for content in ('a,b\n"1"2,3\n', "a,b\n1\r2,3\n", b"a,b\n1,\xff\n"):
        wrong(write(tmp_path / "x.csv", content), "a", line=2)


def test_csv_quotes_as_the_standard_says_and_rows_have_the_line_they_start_on(tmp_path: Path) -> None:
    cells = [*TEXTS, "two\nlines", "two\r\nlines", "x" * 200_000]
    with (tmp_path / "x.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["n", "cell"], *([i, cell] for i, cell in enumerate(cells))])
    limit = csv.field_size_limit()
    assert values(tmp_path / "x.csv", "cell", "n") == [(cell, str(i)) for i, cell in enumerate(cells)]
    assert csv.field_size_limit() == limit
    path = write(tmp_path / "x.csv", '"a\nb",c\n1,"2\n\n3"\n4,5\n')
    assert read_records(path, ["c"]) == [Record(3, ("2\n\n3",)), Record(6, ("5",))]
    assert column_names(path) == ["a\nb", "c"]
    wrong(path, "x", line=1)
    assert values(write(path, "a\n\n1\n"), "a") == [("",), ("1",)]


def nested_file(folder: Path, suffix: str) -> Path:
    path = folder / f"x{suffix}"
    if suffix == ".parquet":
        parquet.write_table(pyarrow.Table.from_pylist(NESTED), path)
        return path
    return write(path, "\n".join(json.dumps(row, ensure_ascii=False) for row in NESTED))


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_nested_keys_lists_and_types(tmp_path: Path, suffix: str) -> None:
    path = nested_file(tmp_path, suffix)
    rows = read_records(path, ["label", "first.word.text", "answers[]", "first.context"])
    assert rows == [Record(1, (0, "katt", ["a", "b"], "en katt")), Record(2, (1, "å", [], "två"))]
    assert [type(record.values[0]) for record in rows] == [int, int]
    assert read_records(path, []) == [Record(1, ()), Record(2, ())]


def test_names_of_nested_columns_of_first_rows_and_of_those_left_out(tmp_path: Path) -> None:
    names = ["id", "first.context", "first.word.text", "answers[]", "label"]
    assert column_names(nested_file(tmp_path, ".jsonl")) == [*names, "score", "ok"]
    assert column_names(nested_file(tmp_path, ".parquet")) == names  # its schema is the first row's
    path = write(tmp_path / "x.jsonl", '{"a": 1}\n' * 99 + '{"b": 1}\n' + '{"c": 1}\nno json\n')
    assert column_names(path) == ["a", "b"]
    row = '{"a.b": 1, "c[]": 2, "d": [1.5], "e": [{"f": {}}], "h": {}, "i": "\\ud83d\\ude00"}'
    path = write(tmp_path / "x.jsonl", row)
    assert column_names(path) == ["i"] and values(path, "i") == [("😀",)]


def test_damaged_jsonl(tmp_path: Path) -> None:
    for line in (
        *("", "[1]", '{"a": 1', '{"a": NaN}', '{"b": [-Infinity], "a": 1}', '{"a": 1, "a": 2}', '{"a": ' * 100_000),
        *('{"a": ' + "[" * 150 + "]" * 150 + "}", '{"a": ' + "9" * 5000 + "}", '{"a": "\\ud800"}'),
        *('{"b": {"\\uDC00": 1}, "a": 1}', '{"a": 1e999}', '{"a": 9223372036854775808}', '{"a": null}'),
        *('{"a": {"b": 1}}', '{"a": ["x"]}', '{"b": 1, "c\\n": 2}', "{}"),
    ):
        wrong(write(tmp_path / "x.jsonl", '{"a": 1}\n' + line + '\n{"a": 1}\n'), "a", line=2)
    # Other shapes than the column names.
    for value, column in (("x", "a[]"), (["x", 1.5], "a[]"), (None, "a[]"), ({"c": 1}, "a.b")):
        wrong(write(tmp_path / "x.jsonl", json.dumps({"a": value})), column, line=1)


def test_jsonl_lines_end_only_at_line_feeds(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", '{"a": "x\u2028y\x85"}\r\n{"a": "\\r\\n"}\n')
    assert values(path, "a") == [("x\u2028y\x85",), ("\r\n",)]
    wrong(write(path, ""), "a")
    assert column_names(path) == []


def test_parquet_columns_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    columns = {
        "a": ["x", None],
        "f": [1.0, float("nan")],
        "bytes": [b"x", b"y"],
        "a.b": [1, 2],
        "lists": [[1.5], [2.5]],
    }
    parquet.write_table(pyarrow.table(columns), path)
    assert column_names(path) == ["a", "f"]
    wrong(path, "a", line=2)
    wrong(path, "f", line=2)
    wrong(path, "bytes")


def test_parquet_types_and_files_that_are_damaged_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.parquet"
    coded = pyarrow.array(["x", "y"]).dictionary_encode()
    large = pyarrow.array([["é"], []], pyarrow.large_list(pyarrow.large_string()))
    parquet.write_table(pyarrow.table({"coded": coded, "large": large, "flag": [True, False]}), path)
    assert values(path, "coded", "large[]", "flag") == [("x", ["é"], True), ("y", [], False)]
    parquet.write_table(pyarrow.table({"a": pyarrow.array([], pyarrow.string())}), path)
    wrong(path, "a")
    content = nested_file(tmp_path, ".parquet").read_bytes()
    for other in (b"", b"PAR1", content[:-20], content[: len(content) // 2] + content[-8:], b"not parquet at all"):
        wrong(write(tmp_path / "y.parquet", other), "id")
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"a": ["x" * 1000] * 5000}), path)
    assert path.stat().st_size < 10_000  # the repeated text is stored once
    assert len(read_records(path, ["a"])) == 5000
    monkeypatch.setattr(parquet_module, "DECODED_LIMIT", 1_000_000)
    wrong(path, "a")


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet"])
def test_files_that_cannot_be_read(tmp_path: Path, suffix: str) -> None:
    missing = tmp_path / f"none{suffix}"
    wrong(missing, "a")
    refused(lambda: column_names(missing))
    folder, pipe = tmp_path / f"folder{suffix}", tmp_path / f"pipe{suffix}"
    folder.mkdir()
    os.mkfifo(pipe)
    wrong(folder, "a")
    wrong(pipe, "a")


@pytest.mark.parametrize("name", ["x.xml", "x", "x.xml.gz"])
def test_an_unknown_suffix_names_the_known_ones(tmp_path: Path, name: str) -> None:
    wrong(write(tmp_path / name, "a\n1\n"), "a")
    refused(lambda: column_names(tmp_path / name))


def test_values_as_text() -> None:
    cells = {"": "", "x": "x", True: "true", False: "false", 3: "3", 2.0: "2.0", 0.1: "0.1"}
    assert [text(value) for value in cells] == list(cells.values())
    for value, kind in ((None, "null"), (["a"], "a list")):
        with pytest.raises(ValueError, match=f"not {kind}"):
            text(value)


def test_all_fields_of_rows_that_lack_some(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in NESTED))
    assert read_fields(path) == {
        **{"id": [1, 2], "first.context": ["en katt", "två"], "first.word.text": ["katt", "å"], "label": [0, 1]},
        **{"score": [None, 2.5], "ok": [None, True]},
    }
    table = pyarrow.Table.from_pylist([{"a": 1, "b": {"c": None}}, {"a": None, "b": {"c": "x"}}])
    parquet.write_table(table, tmp_path / "rows.parquet")
    assert read_fields(tmp_path / "rows.parquet") == {"a": [1, None], "b.c": [None, "x"]}
    # Of columns with one name, none can be told from the others.
    assert read_fields(write(tmp_path / "rows.tsv", "a\tb\tb\n1\t2\t3\n")) == {"a": ["1"]}
    refused(lambda: read_fields(write(tmp_path / "rows.tsv", "a\tb\n1\n")), file="rows.tsv", line=2)


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet"])
def test_a_damaged_data_file_is_read_or_one_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    write_rows(path, ["a", "b"], [[f"text {number}", number] for number in range(9)])
    for what in damaged(path, 60):
        message_of(lambda: (column_names(path), read_records(path, ["a", "b"]), read_fields(path)), what)


HEADER = ["source", "label", "mark", "sentence"]
HEADED = Layout(header=HEADER)


@pytest.mark.parametrize(("suffix", "separator"), [("tsv", "\t"), ("csv", ",")])
def test_a_file_without_a_header_has_the_columns_that_are_named(tmp_path: Path, suffix: str, separator: str) -> None:
    path = write(tmp_path / f"a.{suffix}", "gj04\t1\t\tOne\nx\t0\t*\tTwo\n".replace("\t", separator))
    records = read_records(path, ["sentence", "label"], layout=HEADED)
    assert records == [Record(1, ("One", "1")), Record(2, ("Two", "0"))]
    assert column_names(path, HEADED) == HEADER and read_fields(path, HEADED)["mark"] == ["", "*"]


def test_a_header_stays_one_and_rows_without_one_have_their_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "index\tsentence\n0\tOne\n")
    assert read_records(path, ["sentence"], layout=HEADED) == [Record(2, ("One",))]
    assert column_names(path, HEADED) == ["index", "sentence"]
    path = write(tmp_path / "a.tsv", "a\t1\t\tOne\nb\t0\tTwo\n")
    refused(lambda: read_records(path, ["sentence"], layout=HEADED), line=2)
    refused(lambda: read_records(write(tmp_path / "b.tsv", ""), [], layout=HEADED))


OBJECTS = [{"a": [{"text": "x", "n": 1, "deep": {"y": 1}}, {"text": "y", "n": 2, "z": 1.5}], "b": [[3, "x"], [4, "y"]]}]


def test_lists_of_objects_are_columns_of_what_all_have(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", json.dumps({**OBJECTS[0], "c": [{"n": 1}, 2]}) + '\n{"a": [], "b": []}\n')
    assert column_names(path) == ["a.text[]", "a.n[]", "b.0[]", "b.1[]", "a[]", "b[]"]
    columns = ("a.text[]", "a.n[]", "b.0[]", "b.1[]")
    assert values(path, *columns) == [(["x", "y"], ["1", "2"], ["3", "4"], ["x", "y"]), ([], [], [], [])]
    for column in ("a.deep[]", "a.z[]", "a.text", "b.2[]", "c.n[]", "a.text.x[]"):
        wrong(path, column, line=1)
    parquet.write_table(pyarrow.table({"a": [[{"text": "x", "n": 1}], []]}), tmp_path / "x.parquet")
    assert column_names(tmp_path / "x.parquet") == ["a.text[]", "a.n[]"]
    assert values(tmp_path / "x.parquet", "a.n[]", "a.text[]") == [(["1"], ["x"]), ([], [])]


CONLL_U = """# newdoc id = a
# sent_id = 1
# text = zum See
1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_
1\tzu\tzu\tADP\t_\t_\t_\t_\t_\t_
2\tdem\tder\tDET\t_\t_\t_\t_\t_\t_
2.1\t\t_\t_\t_\t_\t_\t_\t_\t_
3\tSee\tSee\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No

# newpar
1\t#\t#\tSYM\t_\t_\t_\t_\t_\t_
"""


def rows(
    path: Path, content: str, *columns: str, header: list[str] | None = None
) -> list[tuple[int, tuple[object, ...]]]:
    path.write_text(content, encoding="utf-8", newline="")
    layout = Layout(header, Reading(form="conll"))
    return [(record.line, record.values) for record in read_records(path, columns, layout=layout)]


def test_conll_u(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    read = rows(path, CONLL_U, "form[]", "upos[]", "document")
    assert read == [(4, (["zu", "dem", "See"], ["ADP", "DET", "NOUN"], "a")), (11, (["#"], ["SYM"], "a"))]
    assert column_names(path)[:4] == ["document", "text", "id[]", "form[]"]
    assert [row.get("text") for _, row in stream_rows(path)] == ["zum See", None]
    path = write(tmp_path / "a.conll.gz", gzip.compress(b"x O\n\n" * 2 + b"y\n"))
    streamed = stream_rows(path)  # sentence by sentence, before the line that is broken
    assert [next(streamed)[0] for _ in range(2)] == [1, 3]


@pytest.mark.parametrize(
    ("content", "sentences"),
    [
        ("EU B\nrejects O\n\n\n  \nUN B\n\n", [["EU", "rejects"], ["UN"]]),  # several empty lines
        ("EU  B\r\nrejects\tO\r\n".replace("\t", " "), [["EU", "rejects"]]),
        ("5\u00a0p.m. O\nx O", [["5\u00a0p.m.", "x"]]),  # a space within a token, and no line end
        ("# a remark of many words\n# O\n# O\n\nx O\n", [["#", "#"], ["x"]]),  # a token that looks like a comment
        ("#\ta.b\t\n1\tx\tO\n\n#\ta.b\n1\ty\tO\n", [["1"], ["1"]]),  # as in GermEval, too
        ("#\thttp://a.b\nx\tO\tO\n\n# id = 1\n#\tO\tO\n", [["x"], ["#"]]),  # as in GermEval
        ("x\tO\n\n## 1\tx y\nx\tO\n\n##\tO\n", [["x"], ["x"], ["##"]]),  # as in KLUE
        ("x\tO\t\n\ny\tO\t\t\n\ufeff\n", [["x"], ["y"]]),  # further cells, and a line, of nothing
        ("\u200b\nx O\n", [["x"]]),  # a first line of nothing
        (f"1 O\n{'9' * 5000}-1 O\n", [["1", "9" * 5000 + "-1"]]),  # no number that Python reads
        ("x O\n O\n", [["x", ""]]),
        ("-DOCSTART- -X-\n\nx O\n\n-DOCSTART- -X-\n\ny O\n", [["x"], ["y"]]),
        ("1-2 O\nwon O\n\n1 O\n1-2 O\n", [["1-2", "won"], ["1", "1-2"]]),  # results of games
        ("\u00a0\nx O\n\u00a0\ny O\n", [["x"], ["y"]]),  # lines of no-break spaces
    ],
)
def test_sentences(tmp_path: Path, content: str, sentences: list[list[str]]) -> None:
    read = rows(tmp_path / "a.txt", content, "column_1[]")
    assert [values[0] for _, values in read] == sentences
    read = rows(tmp_path / "a.txt", content.replace(" \r", "\r"), "column_1[]")
    assert [values[0] for _, values in read] == sentences


def test_documents_and_a_header_that_names_the_columns(tmp_path: Path) -> None:
    content = "-DOCSTART- O\n\nx O\n\ny O\n-DOCSTART- O\nz O\n"
    assert [values[0] for _, values in rows(tmp_path / "a.txt", content, "document")] == ["1", "1", "2"]
    read = rows(tmp_path / "a.txt", "EU NNP B\n", "tokens[]", "tags[]", header=["tokens", "pos", "tags"])
    assert read == [(1, (["EU"], ["B"]))]


@pytest.mark.parametrize(
    ("content", "header", "line"),
    [
        ("x\tO\ny\n", None, 2),
        ("x O\ny O O\n", None, 2),
        ("x O\n", ["tokens", "pos", "tags"], 1),
        ("# text = nothing\n\n", None, None),
        ("", None, None),
        ("\u00a0\n", None, None),
    ],
)
def test_what_is_no_file_of_tokens(tmp_path: Path, content: str, header: list[str] | None, line: int | None) -> None:
    refused(lambda: rows(tmp_path / "a.txt", content, "column_1[]", header=header), file="a.txt", line=line)
