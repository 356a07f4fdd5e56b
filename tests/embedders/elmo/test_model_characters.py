import numpy as np

from mtl.embedders.elmo.model import character_ids


def test_words_are_enclosed_by_markers() -> None:
    # The original code's ids plus one: bytes from 1 on, 259 begins a word, 260 ends it, 261 pads it.
    assert character_ids(["ż", ""], 6).tolist() == [[259, 0xC5 + 1, 0xBC + 1, 260, 261, 261], [259, 260, *[261] * 4]]
    assert character_ids(["<S>", "</S>"], 4).tolist() == [[259, 257, 260, 261], [259, 258, 260, 261]]


def test_long_words_are_cut_in_bytes() -> None:
    assert character_ids(["aż" * 9], 5).tolist() == [[259, 98, 0xC5 + 1, 0xBC + 1, 260]]
    assert character_ids(["aaż"], 5).tolist() == [[259, 98, 98, 0xC5 + 1, 260]]  # inside a character
    np.testing.assert_array_equal(character_ids(["a" * 48], 50), character_ids(["a" * 99], 50))
