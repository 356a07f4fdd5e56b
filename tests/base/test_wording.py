import pytest

from mtl.base.wording import inert, markdown_table


def test_columns_of_words_stand_at_their_left_edge() -> None:
    rows = [["a", "b", "c"], ["task", "second", "1"], ["x", "y", "100"]]
    assert markdown_table(rows, left=2).splitlines() == [
        "| a    | b      |   c |",
        "|------|--------|----:|",
        "| task | second |   1 |",
        "| x    | y      | 100 |",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("klej_cbd/train.tsv: 5 * 3", "klej_cbd/train.tsv: 5 * 3"),
        ("<img src=x> [a](javascript:b) `c`\n# d", "\\<img src=x> \\[a](javascript:b) \\`c\\` # d"),
        ("\\<b>", "\\\\\\<b>"),
    ],
)
def test_inert_text_has_no_markup(text: str, shown: str) -> None:
    assert inert(text) == shown
