"""Sources: data files with all of their columns, and files of annotated tokens."""

import os
from pathlib import Path

import pytest
from input_errors import raises_input_error
from make_parts import column

from mtl.benchmark_making.make.sources import RecipeSource, TokenColumns, read_source
from mtl.benchmark_making.make.table import Origin, Table

CONLL = """# newdoc id = first
# text = Anna's here.
1\tAnna\tB-per
2\t's\tO
3\there\tO
4\t.\tO

1\tNo\tO\tSpaceAfter=No
2\t!\tO\t_

# newdoc id = second
1\tOslo\tB-place
"""


def read(folder: Path, name: str, content: str, **keys: object) -> Table:
    (folder / name).write_text(content, encoding="utf-8")
    return read_source("corpus", RecipeSource(name, **keys), folder)  # type: ignore[arg-type]


def test_a_token_file_has_a_row_for_each_sentence(tmp_path: Path) -> None:
    table = read(tmp_path, "a.conll", CONLL, tokens=TokenColumns(2, 3))
    assert column(table, "text") == ["Anna's here.", "No!", "Oslo"]
    assert column(table, "tags[]") == [["B-per", "O", "O", "O"], ["O", "O"], ["B-place"]]
    assert column(table, "document") == ["first", "first", "second"]
    assert [row.origins for row in table.rows] == [(Origin("a.conll", line),) for line in (3, 8, 12)]


def test_documents_of_conll_2003_are_numbered(tmp_path: Path) -> None:
    table = read(
        tmp_path, "a.txt", "-DOCSTART- -X- O\n\nEU ORG O\n\n-DOCSTART- -X- O\n\nUN ORG B\n", tokens=TokenColumns(1, 3)
    )
    assert column(table, "document") == ["1", "2"] and column(table, "text") == ["EU", "UN"]


def test_lists_and_nested_keys_are_columns(tmp_path: Path) -> None:
    table = read(tmp_path, "a.jsonl", '{"meta": {"id": 1}, "parts": ["a", "b"]}\n{"meta": {"id": 2}}\n')
    assert table.columns == ["meta.id", "parts[]"]
    assert column(table, "parts[]") == [["a", "b"], None]


def test_a_file_without_a_header_gets_the_recipes_columns(tmp_path: Path) -> None:
    assert column(read(tmp_path, "a.tsv", "x\ty\nz\tw\n", header=["one", "two"]), "two") == ["y", "w"]


def test_a_token_line_with_too_few_cells_is_an_error(tmp_path: Path) -> None:
    with raises_input_error(file="a.conll", line=2):
        read(tmp_path, "a.conll", "a\tO\nb\n", tokens=TokenColumns(1, 2))


def test_a_token_file_without_sentences_is_an_error(tmp_path: Path) -> None:
    with raises_input_error(file="a.conll"):
        read(tmp_path, "a.conll", "# text = nothing\n\n", tokens=TokenColumns(1, 2))


def test_a_token_file_without_a_declaration_is_an_error(tmp_path: Path) -> None:
    with raises_input_error(file="a.conll"):
        read(tmp_path, "a.conll", CONLL)


def test_a_source_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with raises_input_error(file="none.tsv"):
        read_source("corpus", RecipeSource("none.tsv"), tmp_path)


def test_a_token_may_begin_with_the_sign_of_a_comment(tmp_path: Path) -> None:
    tabs = read(tmp_path, "a.tsv", "# a remark\n#sun\tO\nshines\tO\n\n#\tO\n1\tO\n", tokens=TokenColumns(1, 2))
    assert column(tabs, "tokens[]") == [["#sun", "shines"], ["#", "1"]]
    spaces = read(tmp_path, "a.txt", "# text = #sun shines\n#sun O\nshines O\n\n# O\n1 O\n", tokens=TokenColumns(1, 2))
    assert column(spaces, "tokens[]") == [["#sun", "shines"], ["#", "1"]] and column(spaces, "text")[0] == "#sun shines"


def test_words_that_stand_for_others_are_no_tokens(tmp_path: Path) -> None:
    content = "1-2\tzum\t_\n1\tzu\tO\n2\tdem\tO\n2.1\tgehen\t_\n3\tSee\tB-place\n"
    assert column(read(tmp_path, "a.conllu", content, tokens=TokenColumns(2, 3)), "tokens[]") == [["zu", "dem", "See"]]
    (row,) = read(tmp_path, "a.txt", "1-2\tO\nwon\tO\n", tokens=TokenColumns(1, 2)).rows
    assert row.items("tokens[]") == ["1-2", "won"]


@pytest.mark.parametrize("content", [b"a\tb\nx\t\xff\n", b"a\tb\nx\n", b"a\tb\n"])
def test_damaged_files_are_errors(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.tsv").write_bytes(content)
    with raises_input_error(file="a.tsv"):
        read_source("corpus", RecipeSource("a.tsv"), tmp_path)


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.tsv")
    (tmp_path / "b.tsv").mkdir()
    (tmp_path / "c.tsv").symlink_to("/dev/zero")
    for name in ("a.tsv", "b.tsv", "c.tsv"):
        with raises_input_error(file=name):
            read_source("corpus", RecipeSource(name), tmp_path)
