"""What a notebook shows: Markdown of this package as HTML, in which all text is escaped."""

from xml.etree import ElementTree

import pytest

from mtl.api.show import MarkdownText
from mtl.base.terminal import escaped, inert, markdown_table


def html(text: str) -> ElementTree.Element:
    """The HTML of a text, which must be well formed."""
    return ElementTree.fromstring(MarkdownText(text)._repr_html_().replace("&nbsp;", " "))


def test_a_table_keeps_its_marks_and_bold_cells() -> None:
    made = html(markdown_table([["run", "AVG*", "CBD†"], ["floor", "**40.1\\***", "–"]]))
    assert [cell.text for cell in made.iter("th")] == ["run", "AVG*", "CBD†"]
    assert ["".join(cell.itertext()) for cell in made.iter("td")] == ["floor", "40.1*", "–"]
    assert [strong.text for strong in made.iter("strong")] == ["40.1*"]
    assert [cell.get("style") for cell in made.iter("td")] == ["text-align: left", *["text-align: right"] * 2]


def test_an_escaped_backslash_ends_a_cell() -> None:
    assert [cell.text for cell in html("| a | b |\n|---|---|\n| x\\\\| y |").iter("td")] == ["x\\", "y"]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a|b", "*_`[x](y)`\\", '"&amp;', "**a** `b`", "a\\"])
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    made = html(markdown_table([["name", "x"], [escaped(text), "1"]]))
    assert ["".join(cell.itertext()) for cell in made.iter("td")] == [text, "1"]


MARKUP = ["<img src=x onerror=alert(1)>", "| a |\n|---|\n| <b> | extra | cells |\n| |", "| a |\n|---|", "# <i>x"]


@pytest.mark.parametrize("text", [*MARKUP, "- <u>\n- `</code><b>`", "**<b>**", "", "|", "\\"])
def test_a_strangers_text_never_becomes_markup(text: str) -> None:
    made = html(text)
    tags = "div table thead tbody tr th td strong code p ul li h3"
    assert {element.tag for element in made.iter()} <= set(tags.split())


def test_headings_lists_and_paragraphs_are_printed_as_plain_text() -> None:
    made = html(f"## KLEJ\n\n- one\n- two `x`\n\n{inert('see [1]')}")
    assert [element.tag for element in made] == ["h4", "ul", "p"]
    assert [item.text for item in made.iter("li")] == ["one", "two "]
    assert made.find("p").text == "see [1]"  # type: ignore[union-attr]
    assert repr(MarkdownText("| a |")) == str(MarkdownText("| a |")) == "| a |"
