"""The features of tokens, and of the words of passages, that linear models read."""

import math

from mtl.structured.unit_features import passage_features, shape, token_features


def test_features_of_tokens() -> None:
    first, last = token_features(["In", "Zelburg"])
    assert {"0:in", "1:zelburg", "-1:<s>", "2:</s>", "word:In", "shape:Aa", "shape1:Aa+", "^1:i", "first"} <= set(first)
    assert {"-1,0:in|zelburg", "$4:burg", "^4:zelb", "last"} <= set(last) and "first" not in last
    assert shape("McX-12", "Aa0", "+") == "AaA-0+"
    assert shape("McX-12", "Xx9", "") == "XxX-9"


def test_features_of_words_say_how_far_the_question_is() -> None:
    question, passage = "Who is Anna?", "Anna left. Ewa 25"
    whole, *words = passage_features(question, passage)
    assert len(words) == 5 and "whole" in whole and "whole&0:who" in whole
    assert {"is=anna", "asked=True", "near=0", "shape=Xx", ">left", "first=True"} <= set(words[0])
    assert {"is=25", "shape=9", "<ewa", "near=4", "0:who&shape=9"} <= set(words[4])
    assert not any(name.startswith("first") for name in words[4])
    assert passage_features("", "") == [["whole", "whole&shared=0"]] and math.isfinite(
        len(passage_features("", "a")[1])
    )
