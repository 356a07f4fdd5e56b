"""Splits: no key in two of them, the numbers asked for, and the shares of the strata."""

import logging
from collections import Counter

import numpy as np
import pytest
from make_parts import column, do, table_of, work_of

from mtl.benchmark_making.make.table import Table

SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}


def corpus(rows: int, keys: int) -> Table:
    rng = np.random.default_rng(0)
    names = [f"k{key}" for key in rng.integers(0, keys, rows)]
    labels = [str(label) for label in rng.choice(["x", "y", "z"], rows, p=[0.6, 0.3, 0.1])]
    return table_of(id=[str(row) for row in range(rows)], author=names, label=labels)


def test_shares_make_splits_that_are_exact_and_stratified() -> None:
    table, work = work_of("split", corpus(1000, 10), shares=SHARES, stratify="label")
    assert Counter(column(table, "split")) == {"train": 800, "dev": 100, "test": 100} == work.facts["reached"]
    strata = Counter(zip(column(table, "split"), column(table, "label"), strict=True))
    for label, rows in Counter(column(table, "label")).items():
        assert all(abs(strata[name, label] - share * rows) <= 1.5 for name, share in SHARES.items())
    table, work = work_of("split", corpus(1000, 10), shares={"train": 0.3, "test": 0.037}, stratify="label")
    assert Counter(column(table, "split")) == {"train": 300, "test": 37} and len(work.dropped) == 663


@pytest.mark.parametrize("keys", [20, 300])
def test_a_key_stands_in_one_split_only(keys: int) -> None:
    table = corpus(1000, keys)
    done, work = work_of("split", table, shares=SHARES, keys=["author"], stratify="label")
    splits: dict[str, set[str]] = {}
    for row in done.rows:
        splits.setdefault(row.cell("author"), set()).add(row.cell("split"))
    assert all(len(own) == 1 for own in splits.values()) and len(done.rows) == 1000
    if keys == 300:
        assert work.facts["reached"] == {"train": 800, "dev": 100, "test": 100}


def test_keys_of_lists_and_of_two_columns_and_not_other_columns_decide() -> None:
    lists = [["a"], ["a", "b"], ["b"], [], [""], [""], [""], ["f"]]
    table = do("split", table_of(**{"keys[]": lists}), shares={"train": 0.5, "test": 0.5}, keys=["keys[]"])
    splits = column(table, "split")
    assert len(set(splits[:3])) == 1 and Counter(splits) == {"train": 4, "test": 4}
    table = table_of(id=["p", "q", "r", "s"], other=["q", "p", "s", "r"])
    splits = column(do("split", table, shares={"train": 0.5, "test": 0.5}, keys=["id", "other"]), "split")
    assert splits[0] == splits[1] != splits[2] == splits[3]
    table = corpus(200, 40)
    fewer = table_of(author=column(table, "author"))
    splits = [column(do("split", each, shares=SHARES, keys=["author"]), "split") for each in (table, fewer)]
    assert splits[0] == splits[1]


def test_numbers_far_from_those_asked_for_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    authors = ["a"] * 60 + ["b"] * 30 + ["c"] * 10
    with caplog.at_level(logging.WARNING, "mtl"):
        do("split", table_of(author=authors), shares={"train": 0.5, "dev": 0.4, "test": 0.1}, keys=["author"])
    assert "train has 60 rows where 50 were asked for" in caplog.text
