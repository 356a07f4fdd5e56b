"""Texts as tokens: the tokenizer, the vocabulary that gives each word an id, and the distinct texts of a suite."""

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from mtl.base.arrays import read_arrays, write_arrays
from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.progress import progress

UNKNOWN = "<unk>"
# Stand around each text if `boundary_words` is set, as in jiant. Moses splits < and > from words, so no text contains them.
BOUNDARIES = ("<SOS>", "<EOS>")
FORMAT = 1  # version of cached texts; increase it when the file's layout changes, or the tokens of the same texts

Tokenizer = Callable[[str], list[str]]


def moses_version() -> str:
    """The tokenizer and its version, which everything that is computed from tokens follows from."""
    import sacremoses

    return f"sacremoses {sacremoses.__version__}"


@lru_cache
def moses(language: str) -> Tokenizer:
    """The Moses tokenizer: the official fastText vectors of most European languages were trained on its tokens."""
    from sacremoses import MosesTokenizer  # half a second, which reports and scores do without
    from sacremoses.corpus import NonbreakingPrefixes

    if language not in NonbreakingPrefixes().available_langs:
        problem = "Moses has no list of abbreviations for it; general rules tokenize the texts"
        logger.warning("language %s: %s", language, problem)
    return partial(MosesTokenizer(lang=language).tokenize, escape=False)


class Vocabulary:
    """Maps words to ids. Id 0 is padding, 1 is the unknown word, `words` have the ids from 2 on."""

    PADDING, UNKNOWN, FIRST = 0, 1, 2

    def __init__(self, words: Iterable[str]) -> None:
        self.words = list(words)
        self._ids = {word: id for id, word in enumerate(self.words, start=self.FIRST)}

    def __len__(self) -> int:
        """The number of ids: the words, padding and the unknown word."""
        return len(self.words) + self.FIRST

    def add(self, words: Iterable[str]) -> None:
        """Append words that are not in the vocabulary yet."""
        for word in words:
            self._ids[word] = len(self)
            self.words.append(word)

    def shorten(self, length: int) -> None:
        """Remove the words with the ids from `length` on."""
        for word in self.words[length - self.FIRST :]:
            del self._ids[word]
        del self.words[length - self.FIRST :]

    def ids(self, words: Iterable[str]) -> np.ndarray:
        """The ids of the words, int64 (words,)."""
        return np.array([self._ids.get(word, self.UNKNOWN) for word in words], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class TokenizedTexts:
    """The distinct texts of a suite, tokenized once for all tasks, seeds, stages and runs."""

    index: dict[str, int]  # by text, its number
    types: list[str]  # the distinct words
    tokens: np.ndarray  # int32 (tokens,), of all texts, as numbers of `types`
    starts: np.ndarray  # int64 (texts + 1,), of each text in `tokens`, and the end of the last one
    empty: int  # the number of texts without a token, each of which has an unknown one
    cut: int  # the number of texts that were cut

    @staticmethod
    def tokenize(texts: Sequence[str], language: str, max_length: int, cache: Path | None = None) -> "TokenizedTexts":
        """Tokenize the distinct texts (Moses), each cut to `max_length` tokens; with a folder `cache`, only if no earlier call did."""
        index = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        if cache is None:
            return _tokenize(index, moses(language), max_length)
        key = hashlib.sha256(repr((FORMAT, language, max_length, moses_version())).encode())
        for text in index:  # the length says where a text ends, since a text may have any character
            content = text.encode("utf-8", "surrogatepass")
            key.update(b"%d " % len(content) + content)
        path = cache / f"texts-{key.hexdigest()[:16]}.npz"
        if (cached := _read_cache(path, index)) is not None:
            return cached
        result = _tokenize(index, moses(language), max_length)
        types = np.frombuffer("\n".join(result.types).encode("utf-8", "surrogatepass"), dtype=np.uint8)
        counted = np.array([result.empty, result.cut])
        write_arrays(path, {"types": types, "tokens": result.tokens, "starts": result.starts, "counted": counted})
        return result

    def __len__(self) -> int:
        """The number of texts: the distinct ones, and those of `with_further`."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        """The number of tokens of each text, int64 (texts,)."""
        return np.diff(self.starts)

    def shortened(self, max_length: int) -> "TokenizedTexts":
        """The same texts, of which none is cut yet, each cut to its first `max_length` tokens."""
        lengths = self.lengths
        positions = np.arange(len(self.tokens)) - np.repeat(self.starts[:-1], lengths)
        starts = np.concatenate([[0], np.cumsum(np.minimum(lengths, max_length))])
        cut = self.cut + int((lengths > max_length).sum())
        return replace(self, tokens=self.tokens[positions < max_length], starts=starts, cut=cut)

    def with_further(self, texts: Sequence[Sequence[str]]) -> "TokenizedTexts":
        """The same texts, and after them further texts of at least one token each. They are not in `index`."""
        type_ids = {word: number for number, word in enumerate(self.types)}
        added = [type_ids.setdefault(word, len(type_ids)) for words in texts for word in words]
        tokens = np.concatenate([self.tokens, np.array(added, dtype=self.tokens.dtype)])
        starts = np.concatenate([self.starts, self.starts[-1] + np.cumsum([len(words) for words in texts])])
        return replace(self, types=list(type_ids), tokens=tokens, starts=starts)

    def with_boundaries(self) -> "TokenizedTexts":
        """The same texts, each with the words of BOUNDARIES around it."""
        ends = np.column_stack([self.starts[:-1], self.starts[1:]])  # of each text, before which the words are inserted
        words = np.tile([len(self.types), len(self.types) + 1], len(self))
        tokens = np.insert(self.tokens, ends.ravel(), words)
        starts = self.starts + 2 * np.arange(len(self.starts))
        return replace(self, types=[*self.types, *BOUNDARIES], tokens=tokens, starts=starts)

    def words(self, text: int) -> list[str]:
        """The tokens of the text with this number: that in `Dataset.texts` and `Split.texts`, if these are the texts of a dataset."""
        return [self.types[token] for token in self.tokens[self.starts[text] : self.starts[text + 1]]]

    def counts(self, texts: np.ndarray) -> np.ndarray:
        """How often each of `types` occurs in the texts with these distinct indices, int64 (types,)."""
        wanted = np.zeros(len(self), dtype=bool)
        wanted[texts] = True
        return np.bincount(self.tokens[np.repeat(wanted, self.lengths)], minlength=len(self.types))


def _tokenize(index: dict[str, int], tokenizer: Tokenizer, max_length: int) -> TokenizedTexts:
    """The texts of an index, tokenized."""
    empty = cut = 0
    type_ids: dict[str, int] = {}
    tokens = array("i")
    starts = array("q", [0])
    for text in progress(index, "tokenizing", "texts"):
        words = tokenizer(text)
        cut += len(words) > max_length
        empty += not words
        tokens.extend(type_ids.setdefault(word, len(type_ids)) for word in words[:max_length] or [UNKNOWN])
        starts.append(len(tokens))
    return TokenizedTexts(index, list(type_ids), np.array(tokens, np.int32), np.array(starts, np.int64), empty, cut)


def _read_cache(path: Path, index: dict[str, int]) -> TokenizedTexts | None:
    """The cached tokens of the texts of an index; None if the file is missing or damaged."""
    try:
        arrays = read_arrays(path)
        types = arrays["types"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        empty, cut = arrays["counted"].tolist()
        return TokenizedTexts(index, types, arrays["tokens"], arrays["starts"], empty, cut)
    except (OSError, ValueError, KeyError, InputError):
        return None


def tokenized(texts: Sequence[str], language: str, max_length: int, cache_dir: Path | None = None) -> TokenizedTexts:
    """The texts as `TokenizedTexts`. Log how many are cut, and how many have no token."""
    result = TokenizedTexts.tokenize(texts, language, max_length, cache_dir)
    if result.empty:
        message = "%d of %d distinct texts have no token; each is kept as one unknown token"
        logger.warning(message, result.empty, len(result))
    if result.cut:
        message = "%d of %d distinct texts are longer than max_length=%d tokens and are cut"
        logger.info(message, result.cut, len(result), max_length)
    logger.info("%d distinct texts, %d tokens", len(result), len(result.tokens))
    return result
