from mtl.stats.comparison import Comparison
from mtl.stats.ranks import rank_intervals


def compared(difference: float, p: float | None) -> Comparison:
    return Comparison(difference, difference - 1, difference + 1, p, p)


def test_ranks_of_an_order_with_a_tie() -> None:
    pairs = {
        ("a", "b"): compared(5.0, 0.001),
        ("a", "c"): compared(6.0, 0.001),
        ("a", "d"): compared(9.0, 0.001),
        ("c", "b"): compared(1.0, 0.4),
        ("d", "b"): compared(-4.0, 0.01),
        ("c", "d"): compared(5.0, 0.01),
    }
    assert rank_intervals(pairs) == {"a": (1, 1), "b": (2, 3), "c": (2, 3), "d": (4, 4)}


def test_equal_runs_share_all_ranks() -> None:
    pairs = {(a, b): compared(0.1, 0.8) for a, b in (("x", "y"), ("x", "z"), ("y", "z"))}
    assert rank_intervals(pairs) == dict.fromkeys("xyz", (1, 3))


def test_a_chain_whose_ends_alone_are_separated() -> None:
    pairs = {("a", "b"): compared(1.0, 0.2), ("b", "c"): compared(1.0, 0.2), ("a", "c"): compared(2.0, 0.01)}
    assert rank_intervals(pairs) == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}


def test_runs_without_verdicts_have_no_rank() -> None:
    pairs = {("a", "b"): compared(5.0, 0.001), ("a", "few"): compared(9.0, None), ("b", "few"): compared(9.0, None)}
    assert rank_intervals(pairs) == {"a": (1, 1), "b": (2, 2)}
    assert rank_intervals({("a", "few"): compared(9.0, None)}) == {}


def test_where_pairs_are_missing_there_are_no_ranks() -> None:
    assert rank_intervals({("a", "b"): compared(5.0, 0.001), ("a", "c"): compared(5.0, 0.001)}) == {}
