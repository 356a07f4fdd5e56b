import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from input_errors import raises_input_error
from pretraining_parts import lines, tokenizer

from mtl.vectors.pretraining.settings import SPECIAL_TOKENS
from mtl.vectors.pretraining.tokens import portable_tokenizer, word_beginnings

KINDS = ["wordpiece", "bpe"]


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_read_back_with_accents_and_capitals(kind: str) -> None:
    learnt = tokenizer(vocabulary=kind)
    encoded = learnt.encode("Łódź idzie zażółcenie.")
    assert encoded.tokens[0] == "[CLS]" and encoded.tokens[-1] == "[SEP]"
    assert learnt.decode(encoded.ids) == "Łódź idzie zażółcenie."


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_begins_where_the_text_has_a_word(kind: str) -> None:
    learnt = tokenizer(vocabulary=kind, vocab_size=60)
    begins = word_beginnings(learnt)
    for line in lines(30):
        encoded = learnt.encode(line, add_special_tokens=False)
        words = encoded.word_ids  # by the pre-tokenizer
        expected = [i == 0 or words[i] != words[i - 1] for i in range(len(words))]
        assert begins[encoded.ids].tolist() == expected
    assert not begins.all() and begins[: len(SPECIAL_TOKENS)].all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_vocabulary_is_the_same_in_every_process(kind: str) -> None:
    code = (
        "import hashlib; from pretraining_parts import tokenizer;"
        f"print(hashlib.sha256(tokenizer(vocabulary={kind!r}).to_str().encode()).hexdigest())"
    )
    here = hashlib.sha256(tokenizer(vocabulary=kind).to_str().encode()).hexdigest()
    paths = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1]), *sys.path]
    other = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == here


def test_composed_and_decomposed_accents_are_the_same() -> None:
    learnt = tokenizer()
    assert learnt.encode("żo\u0301łw").ids == learnt.encode("żółw").ids


def test_lower_case_is_a_choice() -> None:
    assert "[UNK]" not in tokenizer(lowercase=True).encode("KOTEK").tokens


def test_rare_characters_are_unknown() -> None:
    texts = [*lines(), "kot φ kot"]
    assert "[UNK]" not in tokenizer(texts).encode("φ").tokens
    assert "[UNK]" in tokenizer(texts, alphabet=10).encode("φ").tokens


def test_more_characters_than_entries_are_an_error() -> None:
    with raises_input_error(key="vocab_size"):
        tokenizer(vocab_size=20)


def test_pairs_have_token_types() -> None:
    encoded = portable_tokenizer(tokenizer(), 16)("kot idzie", "żółw", truncation="longest_first")
    types = encoded["token_type_ids"]
    assert types == sorted(types) and set(types) == {0, 1}
    assert types.index(1) == encoded["input_ids"].index(3) + 1  # after the first [SEP]
