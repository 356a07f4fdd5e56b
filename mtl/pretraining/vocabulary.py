"""A subword vocabulary learnt from text, as a tokenizer that transformers loads.

The result follows from the text alone. The library by itself numbers the characters within words in the order of a hash table, which
differs from process to process, and breaks ties between merges by these numbers. Here, they are numbered beforehand.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from mtl.errors import InputError
from mtl.pretraining.settings import SPECIAL_TOKENS, PretrainingSettings

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

INNER = "##"  # begins each subword that does not begin a word
PAD, UNKNOWN, CLS, SEP, MASK = range(len(SPECIAL_TOKENS))


def learn_tokenizer(lines: Iterable[str], again: Iterable[str], settings: PretrainingSettings) -> Tokenizer:
    """Learn a vocabulary from lines of text. lines, again: the same lines twice, because the text need not fit into memory.

    Raises InputError if the text has more characters than the vocabulary may have entries.
    """
    tokenizer = _tokenizer(_model(settings.vocabulary, {}, []), settings.lowercase)
    first, inner = _alphabet(_normalized(lines, tokenizer), tokenizer, settings.alphabet)
    reserved = [*SPECIAL_TOKENS, *inner]
    if settings.vocab_size < len(reserved) + len(first):
        raise InputError(
            f"vocab_size={settings.vocab_size}: the characters of the texts alone take {len(reserved) + len(first)}; set a larger"
            " vocab_size= or a smaller alphabet="
        )
    trainer = {"wordpiece": trainers.WordPieceTrainer, "bpe": trainers.BpeTrainer}[settings.vocabulary]
    tokenizer.train_from_iterator(
        again,
        trainer(
            vocab_size=settings.vocab_size,
            min_frequency=settings.min_count,
            special_tokens=reserved,
            initial_alphabet=first,
            limit_alphabet=len(first),
            continuing_subword_prefix=INNER,
            show_progress=False,
        ),
    )
    # The characters within words were passed as special tokens to be numbered first; a new tokenizer does not treat them so.
    learnt = json.loads(tokenizer.to_str())["model"]
    merges = [(left, right) for left, right in learnt.get("merges", [])]
    return _tokenizer(_model(settings.vocabulary, learnt["vocab"], merges), settings.lowercase, complete=True)


def _alphabet(lines: Iterator[str], tokenizer: Tokenizer, size: int) -> tuple[list[str], list[str]]:
    """The most frequent characters, sorted, and the subwords of one character that do not begin a word."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(line)
    by_count = sorted(counts, key=lambda character: (-counts[character], character))
    first = sorted([character for character in by_count if not character.isspace()][:size])
    splits = tokenizer.pre_tokenizer.pre_tokenize_str
    return first, [f"{INNER}{character}" for character in first if len(splits(character * 2)) == 1]


def _normalized(lines: Iterable[str], tokenizer: Tokenizer) -> Iterator[str]:
    for line in lines:
        yield tokenizer.normalizer.normalize_str(line)


def _model(kind: str, vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> models.Model:
    unknown = SPECIAL_TOKENS[UNKNOWN]
    if kind == "wordpiece":
        return models.WordPiece(vocabulary, unk_token=unknown)
    return models.BPE(vocabulary, merges, unk_token=unknown, continuing_subword_prefix=INNER)


def _tokenizer(model: models.Model, lowercase: bool, complete: bool = False) -> Tokenizer:
    """A tokenizer that keeps accents and splits at white space and punctuation. complete: whether the model has a vocabulary."""
    tokenizer = Tokenizer(model)
    bert = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=lowercase
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), bert])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix=INNER)
    if complete:
        tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in SPECIAL_TOKENS])
        cls, sep = SPECIAL_TOKENS[CLS], SPECIAL_TOKENS[SEP]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{cls} $A {sep}",
            pair=f"{cls} $A {sep} $B:1 {sep}:1",
            special_tokens=[(cls, CLS), (sep, SEP)],
        )
    return tokenizer


def portable_tokenizer(tokenizer: Tokenizer, max_length: int) -> "PreTrainedTokenizerFast":
    """The tokenizer as transformers saves and loads it. max_length: the longest input, with special tokens."""
    from transformers import PreTrainedTokenizerFast

    pad, unknown, cls, sep, mask = SPECIAL_TOKENS
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=pad,
        unk_token=unknown,
        cls_token=cls,
        sep_token=sep,
        mask_token=mask,
        model_max_length=max_length,
        # Else the tokenizer, once loaded, gives no token types, which a BERT needs for pairs.
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def word_beginnings(tokenizer: Tokenizer) -> np.ndarray:
    """Whether each entry of the vocabulary begins a word, bool (vocabulary,)."""
    vocabulary = tokenizer.get_vocab()
    begins = np.ones(max(vocabulary.values()) + 1, dtype=bool)
    begins[[number for token, number in vocabulary.items() if token.startswith(INNER)]] = False
    return begins
