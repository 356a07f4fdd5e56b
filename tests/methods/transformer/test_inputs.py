"""Rows as token ids: as the tokenizer itself reads texts and pairs, with marked words behind them."""

import numpy as np
import pytest
from input_errors import refused
from tiny_transformers import write_bert, write_roberta

from mtl.methods.transformer.inputs import InputReader
from mtl.methods.transformer.opening import open_pretrained
from mtl.methods.transformer.pretrained import Pretrained

LONG = "solen skiner idag och jag skrattar gott åt vädret som faller"
TEXTS = [LONG, "regnet faller", "", "fin dag"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Pretrained:
    # Its folder names no token types: transformers alone would give none.
    folder = write_bert(tmp_path_factory.mktemp("bert"), TEXTS, names=["input_ids", "attention_mask"])
    return open_pretrained(str(folder))


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Pretrained:
    return open_pretrained(str(write_roberta(tmp_path_factory.mktemp("roberta"), TEXTS)))


def read(pretrained: Pretrained, inputs: list[tuple[str, ...]], length: int) -> tuple[list[np.ndarray], InputReader]:
    reader = InputReader(pretrained, length)
    sequences = reader.sequences(inputs)
    starts, lengths = sequences.starts, sequences.lengths.numpy()
    return [np.array(sequences.rows[np.arange(s, s + n)]) for s, n in zip(starts, lengths, strict=True)], reader


@pytest.mark.parametrize("length", [64, 12, 9])
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_texts_and_pairs_are_those_of_the_tokenizer(kind: str, length: int, request: pytest.FixtureRequest) -> None:
    pretrained: Pretrained = request.getfixturevalue(kind)
    inputs: list[tuple[str, ...]] = [(a,) for a in TEXTS] + [(a, b) for a in TEXTS for b in TEXTS]
    found, reader = read(pretrained, inputs, length)
    cut = 0
    for parts, tokens in zip(inputs, found, strict=True):
        options = {"truncation": "longest_first", "max_length": length, "return_token_type_ids": True}
        columns = [[text] for text in parts]  # lists, since transformers takes an empty second text alone for none
        wanted = pretrained.tokenizer(*columns, **options)
        assert tokens[:, 0].tolist() == wanted["input_ids"][0]
        assert tokens[:, 1].tolist() == wanted["token_type_ids"][0]
        cut += len(pretrained.tokenizer(*columns)["input_ids"][0]) > length
    assert reader.cut == cut and (cut > 0) == (length < 64)
    assert reader.notes() == ([f"{cut} of {len(inputs)} distinct inputs are cut to {length} tokens."] if cut else [])


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_marked_words_follow_behind_separators(kind: str, request: pytest.FixtureRequest) -> None:
    pretrained: Pretrained = request.getfixturevalue(kind)
    tokenizer = pretrained.tokenizer
    ((whole,), _) = read(pretrained, [("fin dag", LONG, "dag", "sol")], 64)
    pair = tokenizer("fin dag", LONG)["input_ids"]
    words = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in ("dag", "sol")]
    assert whole[:, 0].tolist() == [*pair, *words[0], tokenizer.sep_token_id, *words[1], tokenizer.sep_token_id]
    assert len(set(whole[len(pair) - 1 :, 1])) == 1  # they belong to the second text
    # Where the row is too long, the pair is cut and the words stay.
    ((cut,), reader) = read(pretrained, [("fin dag", LONG, "dag", "sol")], len(whole) - 3)
    tail = sum(len(word) + 1 for word in words)
    assert len(cut) == len(whole) - 3 and reader.cut == 1
    assert cut[-tail:, 0].tolist() == whole[-tail:, 0].tolist()


def test_further_texts_may_be_one_or_long(bert: Pretrained) -> None:
    # One text and two words are a pair and a further text.
    tokenizer = bert.tokenizer
    ((found,), _) = read(bert, [(LONG, "dag", "regnet")], 64)
    wanted = [*tokenizer(LONG, "dag")["input_ids"], *tokenizer("regnet", add_special_tokens=False)["input_ids"], 3]
    assert found[:, 0].tolist() == wanted
    # A long marked span leaves room for the texts.
    ((found,), _) = read(bert, [(LONG, LONG, LONG * 5, LONG * 5)], 30)
    assert len(found) == 30
    assert (found[:, 0] == 3).sum() == 4
    # A text that is no Unicode can be read.
    ((found,), _) = read(bert, [("dag \ud800 fin",)], 64)
    assert len(found) == len(bert.tokenizer("dag ? fin")["input_ids"])


@pytest.mark.parametrize(("kind", "marks"), [("bert", (2, 3)), ("roberta", (2, 4))])
def test_an_input_is_never_longer_than_the_limit_and_a_limit_without_room_is_an_error(
    kind: str, marks: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    """The marks of the tokenizer, a token of each text, and a separator and a token of each further text need room."""
    pretrained: Pretrained = request.getfixturevalue(kind)
    for parts in ((LONG,), (LONG, "dag"), (LONG, LONG, LONG), (LONG, "dag", LONG, "sol", LONG)):
        sides, further = min(len(parts), 2), max(0, len(parts) - 2)
        least = marks[sides - 1] + sides + 2 * further
        for length in range(1, least):
            refused(read, pretrained, [("dag",) * len(parts), parts], length, key="max_length")
        for length in range(least, 30):
            ((found,), _) = read(pretrained, [parts], length)
            assert least <= len(found) <= length
