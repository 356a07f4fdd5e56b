"""What a notebook shows: Markdown in which a stranger's text never becomes markup."""

import pytest

from mtl.api.show import MarkdownText
from mtl.base.wording import escaped, inert, markdown_table

MARKUP = ["<img src=x onerror=alert(1)>", "\\\\<b>", "[x](javascript:alert(1))", "![x](y)", "`</code><b>`"]
MARKUP += ["[x]: y", "<a@b.c>"]


@pytest.mark.parametrize("text", MARKUP)
def test_a_strangers_text_never_becomes_markup(text: str) -> None:
    for written in (text, escaped(text), inert(text), markdown_table([["name", "x"], [text, "1"]])):
        assert not {*"<["} & {*MarkdownText(written)._repr_markdown_()}
