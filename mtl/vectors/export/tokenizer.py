"""The Moses tokenizer of `mtl.data.text` as a tokenizer of the library tokenizers: a list of replacements, one or more for each step of sacremoses,
in the same order. Only texts with the literal DOTMULTI are split otherwise, because sacremoses itself reads it as dots."""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sacremoses

from mtl.data.text import UNKNOWN

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# The entries of ids without a word. Moses splits < and > from words, so no token of a text is equal to one of them.
PADDING_WORD, UNKNOWN_WORD = "<pad>", "<unknown>"
FINAL_PERIOD = " ."  # what replaces the last period of a word
# The rules of these languages for apostrophes read more of the surrounding text than a replacement can.
UNSUPPORTED_LANGUAGES = ("en", "fr", "it")


def moses_tokenizer(language: str, words: Sequence[str]) -> "Tokenizer":
    """The tokenizer of a language that is not in UNSUPPORTED_LANGUAGES, which gives these words the ids that `Vocabulary` gives them. A text without
    words becomes one unknown word, if a space stands before it: put a space before each text. It changes the tokens of no other text."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    ids = {word: id for id, word in enumerate([PADDING_WORD, UNKNOWN_WORD, *words])}
    tokenizer = Tokenizer(models.WordLevel(ids, UNKNOWN_WORD))
    steps = [normalizers.Replace(Regex(regex), content) for regex, content in _replacements(language)]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B:1", special_tokens=[])
    return tokenizer


def is_moses(content: Mapping[str, Any]) -> bool:
    """Whether the content of a `tokenizer.json` splits texts by the rules of `moses_tokenizer`, for any language: its pattern of a final period, the
    only one that depends on the language, is not compared. These rules never make a text twenty times longer, whatever that pattern matches."""
    expected = json.loads(moses_tokenizer("sv", []).to_str())
    steps = expected["normalizer"]["normalizers"]
    try:
        for step, stored in zip(steps, content["normalizer"]["normalizers"], strict=True):
            if step["content"] == FINAL_PERIOD:
                step["pattern"] = {"Regex": stored["pattern"]["Regex"]}
    except (KeyError, TypeError, ValueError):  # another form, or another number of steps
        return False
    return all(content.get(part) == expected[part] for part in ("normalizer", "pre_tokenizer", "post_processor"))


@lru_cache
def _replacements(language: str) -> list[tuple[str, str]]:
    """The steps of `sacremoses.MosesTokenizer.tokenize`, with their names there: patterns in Oniguruma's syntax, each with the text that replaces
    its matches. This text is fixed, and cannot repeat what was matched. So a step that puts a space before or after a character matches
    only the empty text there, by looking at the character with (?=…) or (?<=…). Where a pattern has \\K, only what follows it is replaced."""
    moses = sacremoses.MosesTokenizer(lang=language)
    alnum, number = _range(moses.IsAlnum), _range(moses.IsN)
    space = _range(chr(code) for code in range(sys.maxunicode + 1) if re.match(r"\s", chr(code)))
    special = rf"[^{alnum} .'`,\-]"
    return [
        (rf"\A[{space}\x{{0}}-\x{{1f}}]+\z", " "),  # the library skips all further steps for an empty text
        (rf"[{space}]+", " "),  # DEDUPLICATE_SPACE
        (r"[\x{0}-\x{1f}]", ""),  # ASCII_JUNK
        (r"\A +(?=[^ ])", ""),  # str.strip, as the next one
        (r"(?<=[^ ]) +\z", ""),
        (rf"(?={special})", " "),  # PAD_NOT_ISALNUM, as the next one: (a) becomes ( a )
        (rf"(?<={special})", " "),
        (r"(?<!\.)(?=\.\.)", " "),  # replace_multidots, as the next one: a...b becomes a ... b
        (r"(?<=\.\.)(?!\.)", " "),
        (rf"[^{number}]\K,", " , "),  # COMMA_SEPARATE_1, 2 and 3: a,b becomes a , b, and 1,5 stays
        (rf",(?=[^{number}])", " , "),
        (rf"(?<=[{number}]),\z", " , "),
        ("'", " ' "),  # NON_SPECIFIC_APOSTROPHE
        (_final_period(moses), FINAL_PERIOD),  # handles_nonbreaking_prefixes: end. becomes end .
        (r"\A *\z", UNKNOWN),  # not of sacremoses: a text without tokens
    ]


def _final_period(moses: sacremoses.MosesTokenizer) -> str:
    """A pattern of the last period of each word that `handles_nonbreaking_prefixes` splits from it."""
    end = "(?![^ ])"
    numeric = moses.NUMERIC_ONLY_PREFIXES
    prefixes = [prefix for prefix in moses.NONBREAKING_PREFIXES if prefix not in numeric]
    kept = [
        rf"\.+{end}",  # only dots, as in ...
        rf"(?=[^ ]*\.[^ ]*\.{end})[^ ]*[{_range(moses.IsAlpha)}]",  # an abbreviation with inner dots, as e.g.
        rf"(?:{_any_of(prefixes)})\.{end}",  # another abbreviation, as Dr.
    ]
    if numeric:
        kept.append(rf"(?:{_any_of(numeric)})\. +[0-9]")  # one before a number, as No. 5
    none_kept = "".join(f"(?!{word})" for word in kept)
    return rf"(?<![^ ]){none_kept}[^ ]+\K\.{end}(?! +[{_range(moses.IsLower)}])"


def _any_of(words: Iterable[str]) -> str:
    return "|".join("".join(_escape(ord(sign)) for sign in word) for word in words)


def _range(characters: Iterable[str]) -> str:
    """These characters as ranges of a character class, without its brackets."""
    codes = {ord(character) for character in characters}
    starts = sorted(code for code in codes if code - 1 not in codes)
    ends = sorted(code for code in codes if code + 1 not in codes)
    return "".join(f"{_escape(start)}-{_escape(end)}" for start, end in zip(starts, ends, strict=True))


def _escape(code: int) -> str:
    return f"\\x{{{code:x}}}"
