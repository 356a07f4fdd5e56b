import csv
import io

import pytest

from mtl.benchmark_making.audits.findings import (
    DAMAGED,
    control_character,
    damage,
    escape,
    is_half_quoted,
    is_quoted,
    plain,
    spreadsheet_error,
)

TEXTS = ['"Tak" - powiedział.', 'film "Ida"', '"a" i "b"', 'cal: 5"', '"']


@pytest.mark.parametrize("text", TEXTS)
def test_csv_quoting_is_detected_and_removed(text: str) -> None:
    file = io.StringIO()
    csv.writer(file, delimiter="\t", lineterminator="").writerow([text, "1"])
    cell = file.getvalue().split("\t")[0]
    assert is_quoted(cell) and plain(cell) == text
    assert not is_quoted(text) and not is_half_quoted(text) and plain(text) == text


@pytest.mark.parametrize("text", ["", '""', '"Nie rozumiem ."', 'a ""b""', "'a'"])
def test_quotations_and_empty_quotes_are_not_csv_quoting(text: str) -> None:
    assert not is_quoted(text) and not is_half_quoted(text)


def test_half_of_a_quoted_cell() -> None:
    for cell in ('"Zakład ""Silikony"" w', 'w ""Silikony"" Nowej"'):
        assert is_half_quoted(cell) and not is_quoted(cell)
    assert plain("  a\u00a0 b\t") == "a b"


@pytest.mark.parametrize("encoding", ["cp1250", "cp1252", "iso8859-1", "iso8859-2"])
def test_wrong_encoding_is_detected(encoding: str) -> None:
    right = "Zażółć gęślą jaźń – över ån"
    hit = damage(right.encode().decode(encoding, errors="ignore"))
    assert hit and DAMAGED[hit] in right
    for text in [right, "OGÓŁEM", "BĘŻ", "ÓŹ", "ciężą", "SMÅ”", "«Å»"[:2]]:  # some are valid UTF-8 by chance
        assert damage(text) is None


def test_control_characters() -> None:
    assert control_character("Vel\x87zqueza") == "\x87"
    assert control_character("a\ufeffb") == "\ufeff"
    assert control_character("zwykły\u00a0tekst \U0001f468\u200d\U0001f469") is None


def test_spreadsheet_errors_and_escapes() -> None:
    assert spreadsheet_error(" #NAME? ") == "#NAME?"
    assert spreadsheet_error("hasło #NAME? w arkuszu") is None
    escapes = {r"a\nb": r"\n", r"\"a\"": r"\"", "sin&theta;": "&theta;", "&#8211;": "&#8211;", r"\u0142": r"\u0142"}
    assert {text: escape(text) for text in escapes} == escapes
    assert [escape(t) for t in ["R&D; x", "a & b;", r"C:\temp", "&nosuch;"]] == [None] * 4
