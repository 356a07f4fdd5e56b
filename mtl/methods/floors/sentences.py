"""Split a text into sentences by its punctuation and its language's abbreviations."""

import re
from functools import lru_cache

from sacremoses.corpus import NonbreakingPrefixes

_END = re.compile(
    r"""
    (?:[.!?…]+["'”’»)\]]*)  # the end of a sentence, with the quotation marks and brackets that it closes
    (?=\s+["'”‘“«»(\[—–-]*\s*[^\W_]) # before white space and the first letter or digit of the next one
    |[ \t]*(?:\r\n|[\n\r\u2028\u2029]) # or the end of a line
    """,
    re.VERBOSE,
)


def sentences(text: str, language: str) -> list[str]:
    """The sentences of a text, without white space around them. Lines are sentences of their own, too.

    A full stop ends no sentence after an abbreviation of the language (Moses's list; none for other languages), after a single
    letter, and before a small letter. language: its code.
    """
    found, start = [], 0
    for end in _END.finditer(text):
        if not end[0].startswith(".") or _is_end(text, start, end, language):
            found.append(text[start : end.end()].strip())
            start = end.end()
    return [sentence for sentence in [*found, text[start:].strip()] if sentence]


def _is_end(text: str, start: int, end: re.Match[str], language: str) -> bool:
    """Whether the full stop at `end` ends the sentence that begins at `start`."""
    following = next((sign for sign in text[end.end() :] if sign.isalnum()), "")
    words = text[start : end.start()].split()
    word = words[-1].lstrip("\"'“”‘«»([") if words else ""
    return not following.islower() and word not in _abbreviations(language) and not (len(word) == 1 and word.isalpha())


@lru_cache
def _abbreviations(language: str) -> frozenset[str]:
    known = NonbreakingPrefixes()
    return frozenset(known.words(language)) if language in known.available_langs else frozenset()
