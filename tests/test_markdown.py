from mtl.markdown import markdown_table


def test_columns_of_words_stand_at_their_left_edge() -> None:
    rows = [["a", "b", "c"], ["task", "second", "1"], ["x", "y", "100"]]
    assert markdown_table(rows, left=2).splitlines() == [
        "| a    | b      |   c |",
        "|------|--------|----:|",
        "| task | second |   1 |",
        "| x    | y      | 100 |",
    ]
