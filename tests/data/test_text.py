import numpy as np

from mtl.data.text import UNKNOWN, Texts, Vocabulary, moses


def test_moses_keeps_characters_as_they_are() -> None:
    assert moses("pl")('Czytał "Potop" & <b>, 3,5 zł.') == [
        "Czytał",
        '"',
        "Potop",
        '"',
        "&",
        "<",
        "b",
        ">",
        ",",
        "3,5",
        "zł",
        ".",
    ]


def test_distinct_texts_are_tokenized_once() -> None:
    seen = []

    def tokenize(text: str) -> list[str]:
        seen.append(text)
        return text.split()

    texts = Texts(["a b a", "c", "a b a", "", "d e f g h", " "], tokenize, max_length=3)
    assert seen == ["a b a", "c", "", "d e f g h", " "]
    assert [texts.words(texts.index[text]) for text in ("a b a", "c", "", "d e f g h")] == [
        ["a", "b", "a"],
        ["c"],
        [UNKNOWN],
        ["d", "e", "f"],
    ]
    assert (texts.empty, texts.cut, len(texts)) == (2, 1, 5)
    assert texts.lengths.tolist() == [3, 1, 1, 3, 1]
    assert texts.counts([0, 1]) == {"a": 2, "b": 1, "c": 1}


def test_vocabulary_numbers_words() -> None:
    vocabulary = Vocabulary(["kot", "pies"])
    assert len(vocabulary) == 4
    np.testing.assert_array_equal(vocabulary.ids(["pies", "ryba", "kot"]), [3, Vocabulary.UNKNOWN, 2])
