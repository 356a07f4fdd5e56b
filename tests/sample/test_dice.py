from mtl.sample.dice import Dice, distinct, whole


def test_the_seed_decides_all_choices() -> None:
    one, two, other = ([Dice(seed).number(1, 6) for _ in range(1)] + Dice(seed).sample(range(20), 20) for seed in "aab")
    assert one == two != other
    assert sorted(one[1:]) == list(range(20))


def test_numbers_stay_in_their_bounds_and_reach_them() -> None:
    dice = Dice("bounds")
    assert {dice.number(2, 4) for _ in range(200)} == {2, 3, 4}
    assert [whole(value, 0, 5) for value in (-1, 0.5, 1.49, 9)] == [0, 1, 1, 5]


def test_a_frame_is_one_sentence_of_its_alternatives() -> None:
    dice = Dice("frames")
    found = {dice.fill("[en|ett] {x} [syns|hörs]", x="tåg") for _ in range(200)}
    assert found == {"En tåg syns", "Ett tåg syns", "En tåg hörs", "Ett tåg hörs"}


def test_distinct_rows_share_no_text_with_earlier_ones() -> None:
    numbers = iter([1, 1, 2, 3, 2, 4])
    seen = {"3"}
    assert distinct(3, seen, lambda: next(numbers), str) == [1, 2, 4]
    assert seen == {"1", "2", "3", "4"}
