"""How a data file is read, from its first lines."""

from pathlib import Path

import pytest

from mtl.benchmark_making.init_suite.sniffing import has_header, sniff
from mtl.tasks.task import Reading

TABLE = "".join(f"text number {i}\t{i % 2}\n" for i in range(30))


@pytest.mark.parametrize(
    ("name", "content", "reading"),
    [
        ("a.tsv", TABLE, Reading()),
        ("a.tsv", TABLE.replace("number", 'the "number"'), Reading()),  # not every quote surrounds a cell
        ("a.tsv", TABLE.replace("text number 3\t", '"text ""number"" 3"\t'), Reading(quoted=True)),
        ("a.tsv", TABLE.replace("text number 3\t", '"text\nnumber 3"\t'), Reading(quoted=True)),
        ("a.csv", TABLE.replace("\t", ";"), Reading(separator=";")),
        ("a.csv", TABLE.replace("\t", "|"), Reading(separator="|")),
        ("a.csv", TABLE, Reading(form="tsv")),
        ("a.csv", TABLE.replace("\t", ",").replace("text", "one; two"), Reading()),
        ("a.tsv", TABLE.encode("utf-16"), Reading()),
        ("a.txt", "one text\nanother text\n", Reading()),
        ("a.txt", TABLE, Reading(form="tsv")),
        ("a.txt", "__label__a some text\n" * 9, Reading(form="fasttext")),
        ("a.jsonl", '{"a": 1}\n', Reading()),
    ],
)
def test_what_the_first_lines_show(tmp_path: Path, name: str, content: str | bytes, reading: Reading) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    sniffed = sniff(path)
    assert (sniffed.reading, sniffed.question) == (reading, None)


@pytest.mark.parametrize(
    ("name", "content", "asked"),
    [
        ("a.tsv", TABLE.replace("text", "żółw").encode("cp1250"), "may be cp1252, cp1250"),
        ("a.txt", "".join(f"{'AB'[i % 2]} some text {i}\n" for i in range(30)).encode(), "is the first word of each line"),
        ("a.csv", "".join(f"one;two{i}|three\n" for i in range(30)).encode(), "';' or '|'"),
    ],
)  # fmt: skip
def test_what_is_asked(tmp_path: Path, name: str, content: bytes, asked: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert asked in str(sniff(tmp_path / name).question)


@pytest.mark.parametrize(("name", "separator"), [("a.txt", " "), ("a.tsv", "\t")])
def test_annotated_tokens(tmp_path: Path, name: str, separator: str) -> None:
    (tmp_path / name).write_text("-DOCSTART- O\n\n" + f"Anna{separator}B-PER\nslept{separator}O\n\n" * 9)
    assert sniff(tmp_path / name).reading.form == "conll"


ROWS = [[f"text {i}", ["pos", "neg"][i % 2]] for i in range(9)]


@pytest.mark.parametrize(
    ("heads", "headed", "asked"),
    [
        ([[["text", "label"], *ROWS]], True, False),
        ([ROWS], False, True),  # "pos" stands in further rows
        ([ROWS, ROWS[1:]], False, False),  # other first lines
        ([[["text", "pos"], *ROWS], [["text", "pos"], *ROWS]], True, False),  # a label in the header of both
        ([[["text", "topic", "label"], ["a b", "label", "x"], ["c d", "y", "x"]]] * 2, True, False),
        ([[["a long text of many words in the first row", "x"], *ROWS]], False, True),
        ([[["a", "1"], ["b", "2"], ["c", "3"]]], False, False),  # a number above numbers
        ([[["text", "1"], ["b", "2"], ["c", "3"]]], False, True),
        ([[["", "text", "label"], *([str(i), *row] for i, row in enumerate(ROWS))]], True, False),  # pandas' row numbers
        ([[["which of the two is the better text", "x"], *ROWS]] * 2, True, False),  # the same in both files
        ([[["2019", "y"], ["1", "a"], ["2", "b"]]] * 2, False, True),  # a number above numbers in both
        ([[["gj04", "1", "", "a b"], ["x", "0", "*", "c d"], ["gj04", "1", "", "e"]], [["x", "1", "", "f g"], ["x", "0", "", "h"]]], False, False),
        ([[["votes", "so many words as no name of a column has"], ["1", "a"], ["2", "b"]]], True, False),
        ([[["0", "1"], *ROWS]], True, True),  # as pandas writes columns without names
        ([[["id", "text", "label"], ["1", "a b", "x"]], [["id", "text"], ["1", "a b"]]], True, False),
    ],
)  # fmt: skip
def test_whether_there_is_a_header(heads: list[list[list[str]]], headed: bool, asked: bool) -> None:
    found, question = has_header({f"{number}.tsv": rows for number, rows in enumerate(heads)})
    assert (found, question is not None) == (headed, asked)
