import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from audit_parts import CHOICE, LABELS, PAIR, POSITIVE, RATING, WORD, only, part

from mtl.benchmark_making.audits.cells import is_quoted, plain
from mtl.benchmark_making.audits.findings import id_findings, target_findings
from mtl.benchmark_making.audits.text_findings import text_findings
from mtl.benchmark_making.data_files import write_records


def test_clean_rows_have_no_finding() -> None:
    clean = part("solen skiner", '"Regnet faller ."', 'jag sa: "hej"', targets=[0, 1, 0])
    assert text_findings(clean) == target_findings(clean) == []
    assert target_findings(part(" ", "  ", "a", "b", targets=[0, 1, 0, 1])) == []  # blank texts are no duplicates
    assert target_findings(part(("a", "b"), ("b", "a"), targets=[0, 1], task=PAIR)) == []


def test_blank_texts() -> None:
    found = only(text_findings(part("a", "", "b", "   ", "\u00a0")))
    assert (found.kind, found.count, found.where) == ("blank", 3, "kansla/train.tsv:3, 5, 6")
    pairs = only(text_findings(part(("a", "b"), ("c", ""), ("d", "e"), task=PAIR)))
    assert str(pairs) == (
        "**samma train**: 1 of 3 rows has an empty text, or one with only whitespace (samma/train.tsv:3);"
        " a model has nothing to predict the target from."
    )


def test_csv_quoting() -> None:
    found = only(text_findings(part('"a ""b"""', "c", 'd "e"', '"""f"" g"', '"h"', "i")))
    assert (found.kind, found.count) == ("quoting", 2)
    assert "2 of 6 rows have" in found.what and "2 of the 4 cells with quotation marks" in found.what
    assert found.where == "kansla/train.tsv:2, 5"
    pairs = only(text_findings(part(('"a ""b"""', '"""c"""'), ("d", "e"), task=PAIR)))
    assert pairs.count == 1 and "2 of the 2 cells" in pairs.what
    found = only(text_findings(part('"a"', '"b"', '"c"', "d")))  # nearly every cell
    assert (found.kind, found.count) == ("quoting", 3)


@pytest.mark.parametrize(
    ("kind", "texts", "count", "shown"),
    [
        ("control", ["Vel\x87zqueza i inni", "zwykły\u00a0tekst \U0001f468\u200d\U0001f469", "b\ufeff"], 2, r"“Vel\x87zqueza”"),
        ("replacement", ["za\ufffd\ufffd", "a", "b"], 1, "“za\ufffd\ufffd”"),
        ("encoding", ["a", "czy Ĺ‚adny", "b"], 1, "“Ĺ‚adny”"),
        ("spreadsheet", ["#NAME?", "hasło #NAME? w arkuszu", " #REF! "], 2, "“#NAME?”"),
        ("nan", ["nan", " NaN", "nan i ojciec", "banan"], 2, "“nan”"),
        ("escapes", ["raz\\ndwa trzy", "R&D; x", "a & b;", r"C:\temp", "&nosuch;", "AT&amp;T"], 2, r"“raz\ndwa”"),
        ("escapes", [r"\"a\"", "sin&theta;", "&#8211;", r"\u0142"], 4, r"“\"a\"”"),
    ],
)  # fmt: skip
def test_damaged_texts(kind: str, texts: list[str], count: int, shown: str) -> None:
    found = only(text_findings(part(*texts)))
    assert (found.kind, found.count) == (kind, count)
    assert shown in found.what


def test_repeated_rows() -> None:
    found = only(target_findings(part("a", "b", " a", "a", "b  ", "c", targets=[0, 1, 0, 0, 1, 1])))
    assert (found.kind, found.count, found.where) == ("duplicates", 3, "kansla/train.tsv:4 = 2, 5 = 2, 6 = 3")
    assert "training" in found.meaning
    test = only(target_findings(part("a", "b", "a", split="test")))
    assert test.count == 1 and "(texts)" in test.what and "score" in test.meaning


def test_contradicting_rows() -> None:
    found = only(target_findings(part("a", "b", "a", "c", targets=[0, 1, 1, 1])))
    assert (found.kind, found.count, found.where) == ("conflicts", 2, "kansla/train.tsv:2 glad, 4 arg")
    assert found.what == "1 text has different targets, in 2 of 4 rows, such as “a”"
    words = only(target_findings(part("a", "b", "a", targets=["katt", "hund", "fisk"], task=WORD)))
    assert (words.kind, words.where) == ("conflicts", "ord/train.tsv:2 katt, 4 fisk")
    ratings = target_findings(part("a", "a", "b", "b", "a", "a", targets=[1, 4.5, 2, 2.5, 1, 3], task=RATING))
    assert [(f.kind, f.count) for f in ratings] == [("duplicates", 1), ("conflicts", 6)]
    assert ratings[1].what.startswith("2 texts have")
    assert ratings[1].where == "betyg/train.tsv:2 1, 3 4.5, 7 3; 4 2, 5 2.5"


def test_labels_that_never_occur_and_targets_that_are_all_the_same() -> None:
    train = only(target_findings(part("a", "b", targets=[1, 1])))
    assert (train.kind, train.what, train.count) == ("labels", "no row has the label glad", 1)
    dev = only(target_findings(part("a", "b", targets=[0, 0], task=POSITIVE, split="dev")))
    assert dev.what == "no row has the label 1" and "does not measure" in dev.meaning
    for task, target in ((RATING, 2), (WORD, "katt")):
        found = only(target_findings(part("a", "b", targets=[target, target], task=task)))
        assert (found.kind, found.what) == ("labels", "all rows have the same target")


def test_rows_of_a_choice_may_differ_in_their_number_of_candidates() -> None:
    rows = [("q1", "a", "b", "c"), ("q2", "a"), ("q3", "", "b"), ("q1", "a", "b", "c")]
    train = part(*rows, targets=[2, 0, 1, 1], task=CHOICE)
    assert [(f.kind, f.count, f.where) for f in text_findings(train)] == [("blank", 1, "val/train.tsv:4")]
    found = only(target_findings(train))
    assert (found.kind, found.where) == ("conflicts", "val/train.tsv:2 2, 5 1")
    quoted = part(("q", "a", "b"), ("r", "c", '"d ""e"""'), targets=[0, 0], task=CHOICE)
    assert [(f.kind, f.where) for f in text_findings(quoted)] == [("quoting", "val/train.tsv:3")]


def test_csv_quoting_is_detected_and_removed() -> None:
    for text in ('"Tak" - powiedział.', 'film "Ida"', '"a" i "b"', 'cal: 5"', '"'):
        file = io.StringIO()
        csv.writer(file, delimiter="\t", lineterminator="").writerow([text, "1"])
        cell = file.getvalue().split("\t")[0]
        assert is_quoted(cell) and plain(cell) == text
        assert not is_quoted(text) and plain(text) == text
    assert not any(map(is_quoted, ("", '""', '"Nie rozumiem ."', 'a ""b""', "'a'")))  # quotations and empty quotes


@pytest.mark.parametrize("encoding", ["cp1250", "cp1252", "iso8859-1", "iso8859-2"])
def test_wrong_encoding_is_detected(encoding: str) -> None:
    right = "Zażółć gęślą jaźń – över ån"
    found = text_findings(part(right.encode().decode(encoding, errors="ignore")))
    assert "encoding" in [finding.kind for finding in found]
    # Some are valid UTF-8 by chance.
    assert text_findings(part(right, "OGÓŁEM", "BĘŻ", "ÓŹ", "ciężą", "SMÅ”", "«Å")) == []


@pytest.mark.parametrize(("column", "ids"), [("id", []), ("nummer", ["nummer"])])
def test_repeated_ids_of_rows_that_are_scored(tmp_path: Path, column: str, ids: list[str]) -> None:
    write_records(tmp_path / "rows.jsonl", [column, "text"], [(n % 4, "t") for n in range(6)])
    rows = replace(part(*"abcdef", split="test"), file="rows.jsonl")
    found = only([*id_findings(rows, tmp_path, ids)])
    assert (found.kind, found.count, found.where) == ("ids", 2, "rows.jsonl:5 = 1, 6 = 2")
    assert found.what == f"2 of 6 rows have the id of an earlier row, such as {column} “0”"
    assert not [*id_findings(replace(rows, split="train"), tmp_path, ids)]
    (tmp_path / "line.json").write_text(f'[{{"{column}": 1, "text": "t"}}, {{"{column}": 1, "text": "u"}}]')
    one_line = replace(part("t", "u", split="test"), file="line.json")
    assert only([*id_findings(one_line, tmp_path, ids)]).where == "line.json:1 = 1"
    assert not [*id_findings(replace(rows, task=replace(LABELS, group=column)), tmp_path, ids)]
