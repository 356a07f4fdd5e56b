"""Texts as tokens: the tokenizer, the distinct texts of a suite, and the vocabulary that numbers their words."""

import gzip
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, cast

import numpy as np
from sacremoses import MosesTokenizer
from tqdm import tqdm

from mtl.errors import InputError

UNKNOWN = "<unk>"
Tokenizer = Callable[[str], list[str]]

logger = logging.getLogger("mtl")


def moses(language: str) -> Tokenizer:
    """The Moses tokenizer: what the official fastText vectors of most European languages were trained on."""
    tokenizer = MosesTokenizer(lang=language)

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

    def ids(self, words: Iterable[str]) -> np.ndarray:
        """The words' numbers, int64 (words,)."""
        return np.array([self._ids.get(word, self.UNKNOWN) for word in words], dtype=np.int64)


class Texts:
    """The distinct texts of a suite, tokenized once for all tasks, seeds and stages.

    `types` are the distinct words; the words of text i are `types[j] for j in tokens[starts[i]:starts[i + 1]]`.
    """

    def __init__(self, texts: Sequence[str], tokenize: Tokenizer, max_length: int) -> None:
        """Tokenize the distinct ones among `texts`; each keeps its first `max_length` tokens.

        A text with no token is kept as one unknown token and counted in `empty`.
        """
        self.index = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        self.empty = 0
        self.cut = 0
        type_ids: dict[str, int] = {}
        tokens: list[int] = []
        starts = [0]
        for text in tqdm(self.index, desc="tokenizing", unit=" texts", leave=False, disable=None):
            words = tokenize(text)
            self.cut += len(words) > max_length
            self.empty += not words
            tokens.extend(type_ids.setdefault(word, len(type_ids)) for word in words[:max_length] or [UNKNOWN])
            starts.append(len(tokens))
        self.types = list(type_ids)
        self.tokens = np.array(tokens, dtype=np.int32)
        self.starts = np.array(starts, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.index)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each text, int64 (texts,)."""
        return np.diff(self.starts)

    def words(self, text: int) -> list[str]:
        """The tokens of one text."""
        return [self.types[token] for token in self.tokens[self.starts[text] : self.starts[text + 1]]]

    def counts(self, texts: Iterable[int]) -> Counter[str]:
        """How often each word stands in these texts."""
        numbers = np.zeros(len(self.types), dtype=np.int64)
        for text in texts:
            np.add.at(numbers, self.tokens[self.starts[text] : self.starts[text + 1]], 1)
        return Counter({self.types[i]: int(numbers[i]) for i in np.flatnonzero(numbers)})


def tokenized_lines(files: Sequence[Path], tokenize: Tokenizer) -> Iterator[list[str]]:
    """The tokens of each line of text files, plain or gzip. Raises InputError for what cannot be read."""
    for path in files:
        try:
            size = path.stat().st_size
            with (
                path.open("rb") as raw,
                tqdm(total=size, desc=path.name, unit="B", unit_scale=True, disable=None) as bar,
            ):
                plain = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if raw.peek(2)[:2] == b"\x1f\x8b" else raw
                for number, line in enumerate(plain, start=1):
                    try:
                        yield tokenize(line.decode("utf-8").strip())
                    except UnicodeDecodeError:
                        raise InputError(f"{path}:{number}: not UTF-8; save the file as UTF-8") from None
                    if number % 1000 == 0:
                        bar.update(raw.tell() - bar.n)
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except (OSError, EOFError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from None
