"""The Moses tokenizer of `mtl.data.text` as the content of a `tokenizer.json`, which the library tokenizers reads.

The file holds sacremoses' rules, one replacement for each of its steps, in its order, and splits texts as it does. So programs without
mtl and without sacremoses split texts as the run did. The exception are texts that hold the literal DOTMULTI, which sacremoses itself
reads as dots."""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sacremoses

from mtl.data.text import UNKNOWN

# The names of ids that stand for no word. Moses splits < and > from words, so these are no tokens of a text.
PADDING_WORD, UNKNOWN_WORD = "<pad>", "<unknown>"
PERIOD = " ."  # what a final period becomes
# How transformers writes that nothing is put around the tokens.
UNCHANGED = {
    "type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {},
}
# Their rules for apostrophes depend on more of the text than a replacement that leaves its surroundings can express.
APOSTROPHE_RULES = ("en", "fr", "it")


def can_express(language: str) -> bool:
    """Whether `tokenizer_json` splits texts of the language as Moses does."""
    return language not in APOSTROPHE_RULES


def tokenizer_json(language: str, words: Sequence[str]) -> dict[str, Any]:
    """The tokenizer of a language that gives these words the ids of a `Vocabulary`, and texts without a token one unknown word.

    Exception: the library gives an empty text no token at all, so a space must stand before each text; it changes nothing else. The
    language must be one that `can_express` knows.
    """
    steps = [
        {"type": "Replace", "pattern": {"Regex": pattern}, "content": put} for pattern, put in _replacements(language)
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: id for id, word in enumerate([PADDING_WORD, UNKNOWN_WORD, *words])},
            "unk_token": UNKNOWN_WORD,
        },
    }


def is_moses(content: Mapping[str, Any]) -> bool:
    """Whether the content of a `tokenizer.json` splits texts by the rules of `tokenizer_json`, which make no text ten times longer.

    Languages differ in the pattern of the final period alone, so that it is not compared.
    """
    return _rules(content) == _rules(tokenizer_json("sv", []))


def _rules(content: Mapping[str, Any]) -> list[Any]:
    """What a tokenizer does to a text, without the pattern of the final period."""
    normalizer = content.get("normalizer")
    steps = normalizer.get("normalizers") if isinstance(normalizer, dict) else None
    shown = [
        {**step, "pattern": None} if isinstance(step, dict) and step.get("content") == PERIOD else step
        for step in (steps if isinstance(steps, list) else ())
    ]
    return [*shown, content.get("pre_tokenizer"), content.get("post_processor") or UNCHANGED]


@lru_cache
def _replacements(language: str) -> list[tuple[str, str]]:
    """The steps of `sacremoses.MosesTokenizer.tokenize` as patterns in Oniguruma's syntax, and what to put in place of each match.

    A replacement cannot refer to its match. So a space beside a character is put into an empty match beside it, and a pattern drops
    what stands before the character to replace by \\K.
    """
    moses = sacremoses.MosesTokenizer(lang=language)
    alnum, number = _range(moses.IsAlnum), _range(moses.IsN)
    space = _range(chr(code) for code in range(sys.maxunicode + 1) if re.match(r"\s", chr(code)))
    special = rf"[^{alnum} .'`,\-]"
    return [
        (rf"\A[{space}\x{{0}}-\x{{1f}}]+\z", " "),  # an empty text would skip all further steps
        (rf"[{space}]+", " "),
        (r"[\x{0}-\x{1f}]", ""),
        (r"\A +(?=[^ ])", ""),
        (r"(?<=[^ ]) +\z", ""),
        (rf"(?={special})", " "),
        (rf"(?<={special})", " "),
        (r"(?<!\.)(?=\.\.)", " "),
        (r"(?<=\.\.)(?!\.)", " "),
        (rf"[^{number}]\K,", " , "),
        (rf",(?=[^{number}])", " , "),
        (rf"(?<=[{number}]),\z", " , "),
        ("'", " ' "),
        (_final_period(moses), PERIOD),
        (r"\A *\z", UNKNOWN),
    ]


def _final_period(moses: sacremoses.MosesTokenizer) -> str:
    """A pattern of the last period of each word that `handles_nonbreaking_prefixes` splits from it."""
    end = "(?![^ ])"
    numeric = moses.NUMERIC_ONLY_PREFIXES
    kept = [
        rf"\.+{end}",
        rf"(?=[^ ]*\.[^ ]*\.{end})[^ ]*[{_range(moses.IsAlpha)}]",
        rf"(?:{_any_of(prefix for prefix in moses.NONBREAKING_PREFIXES if prefix not in numeric)})\.{end}",
    ]
    if numeric:
        kept.append(rf"(?:{_any_of(numeric)})\. +[0-9]")
    before = "".join(f"(?!{word})" for word in kept)
    return rf"(?<![^ ]){before}[^ ]+\K\.{end}(?! +[{_range(moses.IsLower)}])"


def _any_of(words: Iterable[str]) -> str:
    return "|".join("".join(map(_code, map(ord, word))) for word in words)


def _range(characters: Iterable[str]) -> str:
    """These characters as the inside of a character class."""
    codes = sorted(set(map(ord, characters)))
    starts = [code for number, code in enumerate(codes) if number == 0 or codes[number - 1] != code - 1]
    ends = [code for number, code in enumerate(codes) if number + 1 == len(codes) or codes[number + 1] != code + 1]
    return "".join(f"{_code(start)}-{_code(end)}" for start, end in zip(starts, ends, strict=True))


def _code(code: int) -> str:
    return f"\\x{{{code:x}}}"
