"""Texts as tokens: the tokenizer, the distinct texts of a suite, and the vocabulary that numbers their words."""

import copy
import gzip
import hashlib
import logging
import zipfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, cast

import numpy as np
import sacremoses

from mtl.errors import InputError
from mtl.files import replacing
from mtl.progress import Progress, progress

UNKNOWN = "<unk>"
FORMAT = 1  # of cached texts: raised when the same texts come to give other tokens, or the file another layout
Tokenizer = Callable[[str], list[str]]

logger = logging.getLogger("mtl")


@lru_cache
def moses(language: str) -> Tokenizer:
    """The Moses tokenizer: what the official fastText vectors of most European languages were trained on."""
    tokenizer = sacremoses.MosesTokenizer(lang=language)

    def tokenize(text: str) -> list[str]:
        return tokenizer.tokenize(text, escape=False)

    return tokenize


class Vocabulary:
    """Words by number. 0 is padding, 1 stands for every unknown word, `words` begin at 2."""

    PADDING, UNKNOWN, FIRST = 0, 1, 2

    def __init__(self, words: Iterable[str]) -> None:
        self.words = list(words)
        self._ids = {word: id for id, word in enumerate(self.words, start=self.FIRST)}

    def __len__(self) -> int:
        """The number of ids: the words, padding and the unknown word."""
        return len(self.words) + self.FIRST

    def add(self, words: Iterable[str]) -> None:
        """Number further words, which are new, after those that are there."""
        for word in words:
            self._ids[word] = len(self)
            self.words.append(word)

    def ids(self, words: Iterable[str]) -> np.ndarray:
        """The words' numbers, int64 (words,)."""
        return np.array([self._ids.get(word, self.UNKNOWN) for word in words], dtype=np.int64)


class TokenizedTexts:
    """The distinct texts of a suite, tokenized once for all tasks, seeds, stages and runs.

    `types` are the distinct words; the words of text i are `types[j] for j in tokens[starts[i]:starts[i + 1]]`. `empty`
    counts the texts with no token, each of which is kept as one unknown token; `cut` those that were longer than the most.
    """

    def __init__(self, texts: Sequence[str], language: str, max_length: int, cache_dir: Path | None = None) -> None:
        """Tokenize the distinct ones among `texts` (Moses); each keeps its first `max_length` tokens.

        cache_dir: where the result is kept, under a name that follows from all that it follows from. None: nowhere.
        """
        self.index = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        key = [str(FORMAT), language, str(max_length), sacremoses.__version__, *self.index]
        name = hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        path = None if cache_dir is None else cache_dir / f"texts-{name}.npz"
        if path is None or not self._load(path):
            self._tokenize(moses(language), max_length)
            if path is not None:
                self._save(path)

    def _tokenize(self, tokenize: Tokenizer, max_length: int) -> None:
        self.empty = 0
        self.cut = 0
        type_ids: dict[str, int] = {}
        tokens = array("i")
        starts = array("q", [0])
        for text in progress(self.index, "tokenizing", "texts"):
            words = tokenize(text)
            self.cut += len(words) > max_length
            self.empty += not words
            tokens.extend(type_ids.setdefault(word, len(type_ids)) for word in words[:max_length] or [UNKNOWN])
            starts.append(len(tokens))
        self.types = list(type_ids)
        self.tokens = np.array(tokens, dtype=np.int32)
        self.starts = np.array(starts, dtype=np.int64)

    def _save(self, path: Path) -> None:
        types = packed_words(self.types)
        counted = np.array([self.empty, self.cut])
        with replacing(path) as partial, partial.open("wb") as file:
            np.savez(file, types=types, tokens=self.tokens, starts=self.starts, counted=counted)

    def _load(self, path: Path) -> bool:
        """Whether the file is there and whole."""
        try:
            with np.load(path) as file:
                self.types = unpacked_words(file["types"])
                self.tokens, self.starts = file["tokens"], file["starts"]
                self.empty, self.cut = file["counted"].tolist()
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return False
        return True

    def __len__(self) -> int:
        return len(self.index)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each text, int64 (texts,)."""
        return np.diff(self.starts)

    def shortened(self, max_length: int) -> "TokenizedTexts":
        """The same texts, each cut to its first `max_length` tokens."""
        short = copy.copy(self)
        lengths = self.lengths
        places = np.arange(len(self.tokens)) - np.repeat(self.starts[:-1], lengths)
        short.tokens = self.tokens[places < max_length]
        short.starts = np.concatenate([[0], np.cumsum(np.minimum(lengths, max_length))])
        short.cut += int((lengths > max_length).sum())
        return short

    def words(self, text: int) -> list[str]:
        """The tokens of one text."""
        return [self.types[token] for token in self.tokens[self.starts[text] : self.starts[text + 1]]]

    def counts(self, texts: np.ndarray) -> np.ndarray:
        """How often each of `types` stands in these texts, int64 (types,). texts: int64 (texts,), different ones."""
        chosen = np.zeros(len(self), dtype=bool)
        chosen[texts] = True
        return np.bincount(self.tokens[np.repeat(chosen, self.lengths)], minlength=len(self.types))


def tokenized(texts: Sequence[str], language: str, max_length: int, cache_dir: Path | None = None) -> TokenizedTexts:
    """The texts as tokens, each cut to its first `max_length`; logs how many are cut or have no token.

    cache_dir: where the result is kept. None: nowhere.
    """
    made = TokenizedTexts(texts, language, max_length, cache_dir)
    if made.empty:
        logger.warning(
            "%d of %d distinct texts have no token; each is kept as one unknown token", made.empty, len(made)
        )
    if made.cut:
        logger.info(
            "%d of %d distinct texts are longer than max_length=%d tokens and are cut", made.cut, len(made), max_length
        )
    logger.info("%d distinct texts, %d tokens", len(made), len(made.tokens))
    return made


def packed_words(words: Sequence[str]) -> np.ndarray:
    """Words, at least one and none with a line end, as an array that a file can hold."""
    return np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), dtype=np.uint8)


def unpacked_words(packed: np.ndarray) -> list[str]:
    """What `packed_words` packed."""
    return packed.tobytes().decode("utf-8", "surrogatepass").split("\n")


def tokenized_lines(files: Sequence[Path], tokenize: Tokenizer) -> Iterator[list[str]]:
    """The tokens of each line of text files, plain or gzip. Raises InputError for what cannot be read."""
    for path in files:
        try:
            size = path.stat().st_size
            with (
                path.open("rb") as raw,
                Progress(f"tokenizing {path}", size, "B") as shown,
            ):
                plain = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if raw.peek(2)[:2] == b"\x1f\x8b" else raw
                for number, line in enumerate(plain, start=1):
                    try:
                        yield tokenize(line.decode("utf-8").strip())
                    except UnicodeDecodeError:
                        raise InputError(f"{path}:{number}: not UTF-8; save the file as UTF-8") from None
                    if number % 1000 == 0:
                        shown.reach(raw.tell())
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except (OSError, EOFError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from None
