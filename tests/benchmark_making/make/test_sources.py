"""Sources: data files with all of their columns, and files of annotated tokens."""

import os
from pathlib import Path
from typing import Any

import pytest
from input_errors import raises_input_error
from make_parts import column

from mtl.benchmark_making.make.recipe import RecipeSource, TokenColumns, read_source
from mtl.benchmark_making.make.table import Origin, Table

CONLL = """# newdoc id = first
# text = Anna's here.
1\tAnna\tB-per\t_
2\t's\tO\t_
3\there\tO\t_
4\t.\tO\t_

1\tNo\tO\tSpaceAfter=No
2\t!\tO\t_

# newdoc id = second
1\tOslo\tB-place\t_
"""


def read(folder: Path, name: str, content: str, **keys: object) -> Table:
    (folder / name).write_text(content, encoding="utf-8")
    return read_source("corpus", RecipeSource(name, **keys), folder)  # type: ignore[arg-type]


def test_a_token_file_has_a_row_for_each_sentence_and_documents_may_be_numbered(tmp_path: Path) -> None:
    table = read(tmp_path, "a.conll", CONLL, tokens=TokenColumns(2, 3))
    assert column(table, "text") == ["Anna's here.", "No!", "Oslo"]
    assert column(table, "tags[]") == [["B-per", "O", "O", "O"], ["O", "O"], ["B-place"]]
    assert column(table, "document") == ["first", "first", "second"]
    assert [row.origins for row in table.rows] == [(Origin("a.conll", line),) for line in (3, 8, 12)]
    content = "-DOCSTART- -X- O\n\nEU ORG O\n\n-DOCSTART- -X- O\n\nUN ORG B\n"
    table = read(tmp_path, "a.txt", content, tokens=TokenColumns(1, 3))
    assert column(table, "document") == ["1", "2"] and column(table, "text") == ["EU", "UN"]


def test_lists_nested_keys_and_the_recipe_s_names_are_columns(tmp_path: Path) -> None:
    table = read(tmp_path, "a.jsonl", '{"meta": {"id": 1}, "parts": ["a", "b"]}\n{"meta": {"id": 2}}\n')
    assert table.columns == ["meta.id", "parts[]"]
    assert column(table, "parts[]") == [["a", "b"], None]
    assert column(read(tmp_path, "a.tsv", "x\ty\nz\tw\n", header=["one", "two"]), "two") == ["y", "w"]


def test_a_source_is_no_link_out_of_the_recipe_s_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.tsv").write_text("text\nSECRET\n", encoding="utf-8")
    (tmp_path / "r").mkdir()
    (tmp_path / "r/a.tsv").symlink_to("../secret.tsv")
    with raises_input_error(file="a.tsv"):
        read_source("corpus", RecipeSource("a.tsv"), tmp_path / "r")


@pytest.mark.parametrize(
    ("content", "keys", "line"),
    [
        (b"a\t\xff\n", {"tokens": TokenColumns(1, 2)}, 1),
        (b"a\tO\n", {"tokens": TokenColumns(1, 3)}, 1),
        (None, {"tokens": TokenColumns(1, 2)}, None),
    ],
)
def test_files_that_are_no_sources(
    content: bytes | None, keys: dict[str, Any], line: int | None, tmp_path: Path
) -> None:
    if content is None:
        os.mkfifo(tmp_path / "a.conll")
    else:
        (tmp_path / "a.conll").write_bytes(content)
    with raises_input_error(file="a.conll", line=line):
        read_source("corpus", RecipeSource("a.conll", **keys), tmp_path)
