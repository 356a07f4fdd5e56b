import os
import subprocess
import sys

import pytest
from input_errors import raises_input_error
from pretraining_parts import lines, tokenizer

from mtl.vectors.pretraining.settings import SPECIAL_TOKENS
from mtl.vectors.pretraining.vocabulary import word_beginnings

of_both_kinds = pytest.mark.parametrize("kind", ["wordpiece", "bpe"])


@of_both_kinds
def test_texts_are_read_back_with_accents_and_capitals(kind: str) -> None:
    learnt = tokenizer(vocabulary=kind)
    encoded = learnt.encode("Łódź idzie zażółcenie.")
    assert encoded.tokens[0] == "[CLS]" and encoded.tokens[-1] == "[SEP]"
    assert learnt.decode(encoded.ids) == "Łódź idzie zażółcenie."


@of_both_kinds
def test_a_word_begins_where_the_text_has_a_word(kind: str) -> None:
    learnt = tokenizer(vocabulary=kind, vocab_size=60)
    begins = word_beginnings(learnt)
    for line in lines(30):
        encoded = learnt.encode(line, add_special_tokens=False)
        words = encoded.word_ids  # by the pre-tokenizer
        expected = [i == 0 or words[i] != words[i - 1] for i in range(len(words))]
        assert begins[encoded.ids].tolist() == expected
    assert not begins.all() and begins[: len(SPECIAL_TOKENS)].all()


@of_both_kinds
def test_the_vocabulary_is_the_same_in_every_process(kind: str) -> None:
    code = f"from pretraining_parts import tokenizer; print(tokenizer(vocabulary={kind!r}).to_str())"
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"]
    other = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=True, env={"PYTHONUTF8": "1", **os.environ}
    )
    assert other.stdout == tokenizer(vocabulary=kind).to_str() + "\n"


def test_accents_and_rare_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    learnt = tokenizer()
    assert learnt.encode("żo\u0301łw").ids == learnt.encode("żółw").ids
    texts = [*lines(), "kot φ kot"]
    assert "[UNK]" not in tokenizer(texts).encode("φ").tokens
    monkeypatch.setattr("mtl.vectors.pretraining.vocabulary.ALPHABET", 10)
    assert "[UNK]" in tokenizer(texts).encode("φ").tokens
    with raises_input_error(key="vocab_size"):
        tokenizer(vocab_size=20)
