"""Texts in one line of a file."""

import random

import pytest

from mtl.tasks.targets import escape, unescape


def test_any_text_is_read_back_unchanged() -> None:
    chance = random.Random(1)
    for _ in range(2000):
        text = "".join(chance.choices(["\\", "\t", "\n", "\r", "n", "t", "r", " ", "å", "\x85", "\u2028", '"'], k=8))
        line = escape(text)
        assert unescape(line) == text and not {"\t", "\n", "\r"} & set(line)


def test_a_plain_text_is_its_line() -> None:
    assert escape('Rad "ett", 100 % år') == 'Rad "ett", 100 % år'
    assert escape("a\n\\n") == "a\\n\\\\n"


@pytest.mark.parametrize(("line", "named"), [("C:\\mapp", r"'\\m'"), ("slut\\", r"'\\' is no escape")])
def test_a_backslash_that_begins_no_escape(line: str, named: str) -> None:
    with pytest.raises(ValueError) as caught:
        unescape(line)
    assert named.replace("\\\\", "\\\\") in str(caught.value)
