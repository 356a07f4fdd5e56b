from pathlib import Path

import pytest

from mtl.data.reader import read_cells, read_examples
from mtl.errors import InputError
from mtl.tasks.suite import Task

LABELS = Task(id="t", text=["sentence"], target="target", labels=["0", "1"], metric="accuracy")
NUMBERS = Task(id="r", text=["a", "b"], target="score", range=[0, 5], metric="spearman", group="id")


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_nothing_is_quoted_and_every_row_is_kept(tmp_path: Path) -> None:
    rows = [
        '"Solo" zaczyna',
        'i "kończy',
        "",
        "NA",
        "null",
        "  dwie spacje ",
        "a\x0bb\u2028c\x85d\x1ce",
        'x ""y"" "',
        "\u200b",
    ]
    content = "sentence\ttarget\n" + "".join(f"{row}\t{i % 2}\n" for i, row in enumerate(rows))
    examples = read_examples(LABELS, write(tmp_path / "x.tsv", content.encode()))
    assert [example.texts[0] for example in examples] == rows
    assert [example.line for example in examples] == list(range(2, 2 + len(rows)))
    assert [example.target for example in examples] == [i % 2 for i in range(len(rows))]


def test_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    for content in ("sentence\ttarget\r\na\t0\r\nb\t1\r\n", "sentence\ttarget\na\t0\nb\t1"):
        path = write(tmp_path / "x.tsv", b"\xef\xbb\xbf" + content.encode())
        assert [(e.texts, e.target) for e in read_examples(LABELS, path)] == [(("a",), 0), (("b",), 1)]


def test_columns_by_name_and_ratings_with_a_point(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", b"id\tb\tscore\ta\n7\ty\t5.0\tx\n")
    (example,) = read_examples(NUMBERS, path)
    assert (example.texts, example.target, example.group) == (("x", "y"), 5.0, "7")
    path = write(tmp_path / "test.tsv", b"b\ta\ny\tx\n")
    (example,) = read_examples(NUMBERS, path, targets=False)
    assert (example.texts, example.target, example.group) == (("x", "y"), None, None)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"text\ttarget\na\t0\n", ":1: no column 'sentence' in the header; it has text, target"),
        (b"sentence\na\n", ":1: no column 'target'"),
        (b"", ":1: no column 'sentence' in the header; it has nothing"),
        (b"sentence\ttarget\n", ": no rows after the header"),
        (b"sentence\ttarget\na\t0\nb\n", ":3: 1 cells where the header has 2"),
        (b"sentence\ttarget\na\tb\t0\n", ":2: 3 cells where the header has 2"),
        (b"sentence\ttarget\na\t0\n\nb\t1\n", ":3: 1 cells where the header has 2"),
        (b"sentence\ttarget\na\t0\nb\t2\n", ":3: column 'target': unknown label '2', expected one of 0, 1"),
        (b"sentence\ttarget\na\t0\nb\xc5\t1\n", ":3: not UTF-8 (byte 0xc5)"),
        ("sentence\ttarget\n".encode("utf-16"), ":1: not UTF-8"),
    ],
)
def test_complaints_name_file_and_line(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = write(tmp_path / "x.tsv", content)
    with pytest.raises(InputError) as caught:
        read_examples(LABELS, path)
    assert str(caught.value).startswith(f"{path}{complaint}")


@pytest.mark.parametrize(("cell", "complaint"), [("5.01", "outside 0 to 5"), ("x", "not a number"), ("nan", "outside")])
def test_targets_out_of_range(tmp_path: Path, cell: str, complaint: str) -> None:
    path = write(tmp_path / "x.tsv", f"id\ta\tb\tscore\n1\tx\ty\t0\n1\tx\ty\t{cell}\n".encode())
    with pytest.raises(InputError, match=rf"x\.tsv:3: column 'score': .*{complaint}"):
        read_examples(NUMBERS, path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_cells(tmp_path / "none.tsv", ["a"])
    with pytest.raises(InputError, match="cannot be read"):
        read_cells(tmp_path, ["a"])
