"""The text of a pre-training on its way to segments: documents, and a memory-mapped file of their tokens."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from mtl.base.arrays import read_array
from mtl.base.errors import InputError
from mtl.base.files import replacing, sha256
from mtl.data.files import text_lines
from mtl.model.sequences import ArraySequences
from mtl.vectors.pretraining.vocabulary import CLS, PAD, SEP

DOCUMENTS = 1000  # that are tokenized together
TOKENS, ENDS = "tokens.bin", "documents.npy"


@dataclass(frozen=True)
class PretrainingTexts:
    """Text files, plain or gzipped, and texts that are documents of their own; the files come first."""

    files: Sequence[Path] = ()
    texts: Sequence[str] = ()
    language: str | None = None  # its code, for the model card; None: not said
    source: str = ""  # where `texts` come from, for the model card
    vocabulary: Sequence[Path] = ()  # the files that the vocabulary is learnt from; none: all of these texts

    def check(self) -> None:
        for path in (*self.files, *self.vocabulary):
            if not path.is_file() or not path.stat().st_size:
                raise InputError("is no file with text; name text files", path=path)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the files' SHA-256, of the texts and of the vocabulary's files, as 64 hexadecimal digits."""
        digest = hashlib.sha256()
        for path in self.files:
            digest.update(sha256(path).encode())
        for text in self.texts:
            digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        for path in self.vocabulary:
            digest.update(b"vocabulary" + sha256(path).encode())
        return digest.hexdigest()

    def lines(self, title: str) -> Iterator[str]:
        """All lines to learn the vocabulary from, with a progress of this title. Raises InputError for an unreadable file."""
        yield from text_lines(self.vocabulary or self.files, title)
        yield from map(_without_surrogates, () if self.vocabulary else self.texts)

    def by_document(self, kind: str, title: str) -> Iterator[str]:
        """The documents that are not empty: each `line`, or each `block` of lines up to an empty one. Raises InputError for an unreadable file."""
        for path in self.files:
            lines = text_lines([path], title)
            if kind == "line":
                yield from filter(None, lines)
            else:
                yield from (" ".join(block) for has_text, block in groupby(lines, key=bool) if has_text)
        yield from filter(None, (" ".join(_without_surrogates(text).split()) for text in self.texts))


def _without_surrogates(text: str) -> str:
    """The text with question marks for halves of surrogate pairs, which UTF-8 does not have."""
    return text.encode("utf-8", "replace").decode("utf-8")


def write_tokens(documents: Iterable[str], tokenizer: Tokenizer, min_tokens: int, folder: Path) -> None:
    """Write the tokens, uint32, of documents with `min_tokens` or more, a separator after each, and their ends, int64. Raises InputError for none."""
    tokenizer.encode_special_tokens = True  # a text with "[MASK]" in it holds no mask
    sizes: list[int] = []  # of the documents with their separators
    remaining = iter(documents)
    with replacing(folder / TOKENS) as partial, partial.open("wb") as file:
        while block := list(islice(remaining, DOCUMENTS)):
            for encoding in tokenizer.encode_batch_fast(block, add_special_tokens=False):
                if len(encoding.ids) >= max(1, min_tokens):
                    file.write(np.array([*encoding.ids, SEP], dtype=np.uint32).tobytes())
                    sizes.append(len(encoding.ids) + 1)
        if not sizes:
            if min_tokens <= 1:
                raise InputError("the texts hold no words to train on; add text")
            missing = f"the texts hold no document of min_tokens={min_tokens} tokens or more to train on"
            raise InputError(f"{missing}; set a smaller min_tokens=")
    # Last: with this file, the tokens are complete.
    with replacing(folder / ENDS) as partial, partial.open("wb") as file:
        np.save(file, np.cumsum(sizes, dtype=np.int64))


def read_tokens(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The tokens that `write_tokens` wrote, through a memory map, and the ends of the documents. Raises InputError for damaged files."""
    try:
        ends = read_array(folder / ENDS)
        if ends.dtype != np.int64 or ends.ndim != 1 or (np.diff(ends, prepend=0) < 2).any():
            raise ValueError
        return np.memmap(folder / TOKENS, dtype=np.uint32, mode="r", shape=(int(ends[-1]),)), ends
    except (OSError, ValueError, IndexError):
        message = f"is damaged, or {TOKENS} beside it; delete it, and run this again"
        raise InputError(message, path=folder / ENDS) from None


class Segments:
    """What training reads: pieces of documents, with [CLS] and [SEP] around each. A document's last piece may have fewer than `chunk` tokens."""

    def __init__(self, flat: np.ndarray, ends: np.ndarray, chunk: int) -> None:
        sizes = np.diff(ends, prepend=0) - 1  # of documents, without the separator, which a segment has anyway
        starts = ends - 1 - sizes
        pieces = -(-sizes // chunk)  # of each document, rounded up
        first_pieces = np.cumsum(pieces) - pieces
        documents = np.repeat(np.arange(len(ends)), pieces)  # the document of each segment
        offsets = (np.arange(len(documents)) - first_pieces[documents]) * chunk  # of a segment in its document
        self.lengths = np.minimum(chunk, sizes[documents] - offsets)  # in tokens, int64 (segments,)
        self._pieces = ArraySequences(flat, starts[documents] + offsets, self.lengths)
        self.documents, self.tokens = len(ends), int(sizes.sum())  # how many there are

    def __len__(self) -> int:
        return len(self.lengths)

    def inputs(self, segments: np.ndarray) -> np.ndarray:
        """The tokens of these segments, int64 (segments, time), padded; time is that of the longest of them."""
        tokens, lengths = self._pieces.gather(torch.from_numpy(segments))
        ids = np.pad(tokens.numpy().astype(np.int64), ((0, 0), (1, 1)), constant_values=PAD)
        ids[:, 0] = CLS
        ids[np.arange(len(segments)), lengths + 1] = SEP
        return ids
