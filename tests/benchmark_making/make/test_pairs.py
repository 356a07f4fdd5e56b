"""Steps about two texts."""

import random
from typing import Any

import numpy as np
import pytest
from make_parts import column, do, table_of, work_of

from mtl.benchmark_making.make.table import Table

EXTRACTS = table_of("extracts", id=["1", "1", "2", "3"], extract=["a b c d", "a b e f", "g h a i", "x y z w"])
ABSTRACTS = table_of("abstracts", id=["1", "1", "2", "4"], abstract=["a b c", "e f", "a b g h", "a x y"])
OPTIONS = {"texts": ["extract", "abstract"], "groups": ["id", "id"]}


def found(table: Table) -> list[tuple[Any, ...]]:
    return list(zip(column(table, "extract"), column(table, "abstract"), column(table, "similarity"), strict=True))


def test_the_least_similar_texts_of_a_group_and_the_most_similar_of_others() -> None:
    table, work = work_of("pairs", EXTRACTS, ABSTRACTS, scope="within", order="least_similar", most=1, **OPTIONS)
    assert found(table) == [("a b c d", "e f", 0), ("a b e f", "a b c", 0.5), ("g h a i", "a b g h", 0.75)]
    assert table.columns == ["id", "extract", "other_id", "abstract", "similarity"]
    assert [dropped.row.values for dropped in work.dropped] == [EXTRACTS.rows[3].values, ABSTRACTS.rows[3].values]
    assert table.rows[0].origins == EXTRACTS.rows[0].origins + ABSTRACTS.rows[1].origins
    assert len(do("pairs", EXTRACTS, ABSTRACTS, scope="within", **OPTIONS).rows) == 5
    table = do("pairs", EXTRACTS, ABSTRACTS, scope="across", most=1, at_least=0.3, **OPTIONS)
    assert found(table) == [("a b c d", "a b g h", 0.5), ("a b e f", "a b g h", 0.5), ("x y z w", "a x y", 0.5)]


def test_one_pair_of_each_two_groups_also_in_each_split() -> None:
    options = {**OPTIONS, "scope": "across", "most": 2, "one_per_groups": True}
    table, work = work_of("pairs", EXTRACTS, ABSTRACTS, **options)
    groups = [frozenset(pair) for pair in zip(column(table, "id"), column(table, "other_id"), strict=True)]
    assert len(groups) == len(set(groups)) and ("a b c d", "a b g h", 0.5) in found(table)
    assert "a pair that is at least as similar has the same two groups" in [dropped.reason for dropped in work.dropped]
    columns = {"id": ["1", "2"] * 2, "split": ["train", "train", "dev", "dev"]}
    texts = ["a b c", "a b d", "a b e", "a b f"]
    tables = table_of("extracts", extract=texts, **columns), table_of("abstracts", abstract=texts, **columns)
    table = do("pairs", *tables, scope="across", most=1, one_per_groups=True, same="split", **OPTIONS)
    assert column(table, "split") == ["train", "dev"]


def test_two_columns_are_two_sides() -> None:
    table = table_of(question=["a b c", "d"], answer=["C x B", "e"])
    assert column(do("similarity", table, columns=["question", "answer"]), "similarity") == [2 / 3, 0]
    table = table_of("packages", id=["p", "q"], title=["a b", "b c"], text=["a b d", "b e"])
    options: dict[str, Any] = {"texts": ["title", "text"], "groups": ["id", "id"]}
    right = do("pairs", table, table, scope="within", **options)
    assert [(row.cell("title"), row.cell("other_text")) for row in right.rows] == [("a b", "a b d"), ("b c", "b e")]
    wrong = do("pairs", table, table, scope="across", most=1, **options)
    assert [(row.cell("title"), row.cell("other_text")) for row in wrong.rows] == [("a b", "b e"), ("b c", "a b d")]


@pytest.mark.parametrize("penalty", [1.0, 1.2, 3.0])
def test_cut_finds_the_best_of_all_runs(penalty: float) -> None:
    chance = random.Random(1)
    texts = [[" ".join(chance.choices("abcdefgh", k=3)) + "." for _ in range(8)] for _ in range(40)]
    likes = [" ".join(chance.choices("abcdefgh", k=chance.randrange(1, 6))) for _ in texts]
    expected = []
    for parts, like in zip(texts, likes, strict=True):
        best, value, wanted = "", -1.0, set(like.split())
        for size in range(1, 9):
            for start in range(len(parts) - size + 1):
                run = set(" ".join(parts[start : start + size]).replace(".", "").split())
                reached = len(wanted & run) / len(wanted) / penalty**size
                if reached > value + 1e-12:
                    best, value = " ".join(parts[start : start + size]), reached
        expected.append(best)
    table = table_of(like=likes, text=list(map(" ".join, texts)))
    cut = do("cut", table, column="text", like="like", penalty=penalty)
    assert column(cut, "text") == expected


SENTENCES = table_of("sentences", id=["1", "1", "1", "2", "2"], text=["a b c", "a b d", "x y", "a b e", "a b e"])


@pytest.mark.parametrize("scope", ["within", "across"])
def test_a_table_paired_with_itself_gives_each_pair_once_and_no_row_with_itself(scope: str) -> None:
    most = {"within": None, "across": 3}[scope]
    options: dict[str, Any] = {"texts": ["text", "text"], "groups": ["id", "id"]}
    table, work = work_of("pairs", SENTENCES, SENTENCES, scope=scope, most=most, **options)
    pairs = [frozenset(row.origins) for row in table.rows]
    assert all(len(pair) == 2 for pair in pairs) and len(set(pairs)) == len(pairs) == 4
    same = [row.cell("id") == row.cell("other_id") for row in table.rows]
    assert all(same) if scope == "within" else not any(same)
    by_two_columns = do("pairs", SENTENCES, SENTENCES, scope="across", most=9, **{**options, "groups": ["id", "text"]})
    assert all(len(set(row.origins)) == 2 for row in by_two_columns.rows)
    # A row that is in no pair, as "x y" is across groups, is dropped once.
    assert [dropped.row for dropped in work.dropped] == ([] if scope == "within" else [SENTENCES.rows[2]])
    if scope == "within":
        nearest = do("pairs", SENTENCES, SENTENCES, scope=scope, most=1, **options)
        texts = list(zip(column(nearest, "text"), column(nearest, "other_text"), strict=True))
        assert texts == [("a b c", "a b d"), ("x y", "a b c"), ("a b e", "a b e")]


@pytest.mark.parametrize("scope", ["within", "across"])
def test_texts_of_the_same_split_are_paired_alone(scope: str) -> None:
    rng = np.random.default_rng(0)
    words = list("abcdefgh")
    splits = ["train", "dev", "train", "test"] * 10
    tables = []
    for name in ("extract", "abstract"):
        texts = [" ".join(rng.choice(words, 4, replace=False)) for _ in splits]
        tables.append(table_of(name, id=[*map(str, rng.integers(0, 6, 40))], split=splits, **{name: texts}))
    options = {**OPTIONS, "scope": scope, "most": 2}
    table = do("pairs", *tables, same="split", **options)
    assert column(table, "split") == column(table, "other_split")
    apart = []
    for split in ("train", "dev", "test"):
        own = [each.with_rows(row for row in each.rows if row.cell("split") == split) for each in tables]
        apart += do("pairs", *own, **options).rows
    assert sorted(table.rows, key=lambda row: row.cell("split")) == sorted(apart, key=lambda row: row.cell("split"))
