"""The subword vocabulary of a pre-training, and the tokenizer that splits texts into its entries."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from mtl.base.errors import InputError
from mtl.vectors.pretraining.settings import SPECIAL_TOKENS, PretrainingSettings

INNER = "##"  # begins each subword that does not begin a word
PAD, UNKNOWN, CLS, SEP, MASK = range(len(SPECIAL_TOKENS))
ALPHABET = 1000  # characters of the vocabulary, the most frequent ones
MIN_COUNT = 2  # how often a pair must occur to become a subword


def learn_tokenizer(lines: Iterable[str], same_lines: Iterable[str], settings: PretrainingSettings) -> Tokenizer:
    """Learn a vocabulary from lines, which are read twice. Raises InputError if their characters alone take more than `vocab_size` entries."""
    tokenizer = _new_tokenizer(settings, {}, [])
    initial, inner = _alphabet(lines, tokenizer)
    # The library would number these characters as a hash table orders them, differently in each process; ties depend on it.
    reserved = [*SPECIAL_TOKENS, *inner]
    least = len(reserved) + len(initial)
    if settings.vocab_size < least:
        message = f"the characters of the texts alone take {least}; set a larger vocab_size="
        raise InputError(message, key="vocab_size", value=settings.vocab_size)
    trainer_classes = {"wordpiece": trainers.WordPieceTrainer, "bpe": trainers.BpeTrainer}
    trainer = trainer_classes[settings.vocabulary](
        vocab_size=settings.vocab_size,
        min_frequency=MIN_COUNT,
        special_tokens=reserved,
        initial_alphabet=initial,
        limit_alphabet=len(initial),
        continuing_subword_prefix=INNER,
        show_progress=False,
    )
    tokenizer.train_from_iterator(same_lines, trainer)
    learnt = json.loads(tokenizer.to_str())["model"]
    merges = [(left, right) for left, right in learnt.get("merges", [])]
    complete = _new_tokenizer(settings, learnt["vocab"], merges)  # in which characters within words are not special
    complete.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in SPECIAL_TOKENS])
    cls, sep = SPECIAL_TOKENS[CLS], SPECIAL_TOKENS[SEP]
    templates = {"single": f"{cls} $A {sep}", "pair": f"{cls} $A {sep} $B:1 {sep}:1"}
    complete.post_processor = processors.TemplateProcessing(**templates, special_tokens=[(cls, CLS), (sep, SEP)])
    return complete


def _alphabet(lines: Iterable[str], tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    """The most frequent characters, sorted, and the subwords of one character that do not begin a word."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(tokenizer.normalizer.normalize_str(line))
    by_count = sorted(counts, key=lambda character: (-counts[character], character))
    initial = sorted([character for character in by_count if not character.isspace()][:ALPHABET])
    split = tokenizer.pre_tokenizer.pre_tokenize_str
    return initial, [f"{INNER}{character}" for character in initial if len(split(character * 2)) == 1]


def _new_tokenizer(settings: PretrainingSettings, entries: dict[str, int], merges: list[tuple[str, str]]) -> Tokenizer:
    """A tokenizer with these entries that keeps accents and splits at white space and punctuation."""
    unknown = SPECIAL_TOKENS[UNKNOWN]
    if settings.vocabulary == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(entries, unk_token=unknown))
    else:
        tokenizer = Tokenizer(models.BPE(entries, merges, unk_token=unknown, continuing_subword_prefix=INNER))
    bert = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=False)
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), bert])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix=INNER)
    return tokenizer


def portable_tokenizer(tokenizer: Tokenizer, max_length: int) -> Any:
    """The tokenizer as transformers saves and loads it, for inputs of at most this length with special tokens."""
    from transformers import PreTrainedTokenizerFast

    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL_TOKENS, strict=True))
    # Without these, the tokenizer, once loaded, gives no token types, which a BERT needs for pairs.
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=max_length, model_input_names=inputs, **names)  # fmt: skip


def word_beginnings(tokenizer: Tokenizer) -> np.ndarray:
    """Whether each entry of the vocabulary begins a word, bool (vocabulary,)."""
    vocabulary = tokenizer.get_vocab()
    begins = np.ones(max(vocabulary.values()) + 1, dtype=bool)
    begins[[number for token, number in vocabulary.items() if token.startswith(INNER)]] = False
    return begins
