"""Files of annotated tokens: sentences, comments, documents, what CoNLL-U adds, and broken lines."""

from pathlib import Path

import pytest
from input_errors import refused

from mtl.data.records import column_names, read_records
from mtl.data.rows import stream_rows
from mtl.tasks.task import Layout, Reading

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
        ("x O\n O\n", [["x", ""]]),
        ("-DOCSTART- -X-\n\nx O\n\n-DOCSTART- -X-\n\ny O\n", [["x"], ["y"]]),
        ("1-2 O\nwon O\n\n1 O\n1-2 O\n", [["1-2", "won"], ["1", "1-2"]]),  # results of games
    ],
)
def test_sentences(tmp_path: Path, content: str, sentences: list[list[str]]) -> None:
    read = rows(tmp_path / "a.txt", content, "column_1[]")
    assert [values[0] for _, values in read] == sentences
    assert [
        values[0] for _, values in rows(tmp_path / "a.txt", content.replace(" \r", "\r"), "column_1[]")
    ] == sentences


def test_documents_and_a_header_that_names_the_columns(tmp_path: Path) -> None:
    content = "-DOCSTART- O\n\nx O\n\ny O\n\n-DOCSTART- O\nz O\n"
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
    ],
)
def test_what_is_no_file_of_tokens(tmp_path: Path, content: str, header: list[str] | None, line: int | None) -> None:
    refused(lambda: rows(tmp_path / "a.txt", content, "column_1[]", header=header), file="a.txt", line=line)


def test_packed_and_streamed(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "a.conll.gz"
    path.write_bytes(gzip.compress(b"x O\n\n" * 3))
    assert [line for line, _ in stream_rows(path)] == [1, 3, 5]
    path.write_bytes(gzip.compress(b"x O\n\ny\n"))
    streamed = stream_rows(path)
    assert next(streamed) == (1, {"column_1": ["x"], "column_2": ["O"]})  # before the line that is broken
