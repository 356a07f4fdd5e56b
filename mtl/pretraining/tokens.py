"""The tokens of all documents in one file, which is read through a memory map, and the segments that training reads."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from mtl.errors import InputError
from mtl.files import replacing
from mtl.pretraining.vocabulary import CLS, PAD, SEP

DOCUMENTS = 1000  # that are tokenized together
TOKENS, ENDS = "tokens.bin", "documents.npy"


@dataclass(frozen=True)
class Tokens:
    """The documents' tokens, each document followed by a separator. flat: (tokens,). ends: int64 (documents,), after the separator."""

    flat: np.ndarray
    ends: np.ndarray

    @property
    def count(self) -> int:
        """The tokens without separators."""
        return len(self.flat) - len(self.ends)


def write_tokens(documents: Iterable[str], tokenizer: Tokenizer, min_tokens: int, folder: Path) -> None:
    """Tokenize documents and write them to the folder. Documents with fewer than `min_tokens` tokens are dropped.

    A token takes 2 bytes if the vocabulary has at most 65,536 entries, else 4. Raises InputError if no document is left.
    """
    dtype = token_type(tokenizer.get_vocab_size())
    tokenizer.encode_special_tokens = True  # a text with "[MASK]" in it holds no mask
    ends: list[int] = []
    done = 0
    with replacing(folder / TOKENS) as partial, partial.open("wb") as file:
        for ids in _encoded(documents, tokenizer):
            if len(ids) >= max(1, min_tokens):
                file.write(np.array([*ids, SEP], dtype=dtype).tobytes())
                done += len(ids) + 1
                ends.append(done)
        if not ends:
            short = f"document of min_tokens={min_tokens} tokens or more to train on; set a smaller min_tokens="
            raise InputError(f"the texts hold no {short if min_tokens > 1 else 'words to train on; add text'}")
    with (
        replacing(folder / ENDS) as partial,
        partial.open("wb") as file,
    ):  # last: with this file, the tokens are complete
        np.save(file, np.array(ends, dtype=np.int64))


def token_type(vocabulary: int) -> type[np.unsignedinteger]:
    """The type of a token in the file."""
    return np.uint16 if vocabulary <= 2**16 else np.uint32


def _encoded(documents: Iterable[str], tokenizer: Tokenizer) -> Iterator[list[int]]:
    documents = iter(documents)
    while block := list(islice(documents, DOCUMENTS)):
        for encoding in tokenizer.encode_batch_fast(block, add_special_tokens=False):
            yield encoding.ids


def read_tokens(folder: Path, vocabulary: int) -> Tokens:
    """The tokens that `write_tokens` wrote, read through a memory map. vocabulary: its number of entries.

    Raises InputError for a damaged file.
    """
    file, dtype = folder / TOKENS, np.dtype(token_type(vocabulary))
    ends = _read_ends(folder / ENDS)
    size, expected = file.stat().st_size if file.exists() else 0, int(ends[-1]) * dtype.itemsize
    if size != expected:
        raise InputError(f"{file}: has {size} bytes in place of {expected}; delete {folder / ENDS}, and run this again")
    return Tokens(np.memmap(file, dtype=dtype, mode="r"), ends)


def _read_ends(path: Path) -> np.ndarray:
    """Raises InputError for what are no ends of documents."""
    try:
        ends = np.load(path, allow_pickle=False)
        good = ends.dtype == np.int64 and ends.ndim == 1 and len(ends) and (np.diff(ends, prepend=0) > 1).all()
    except (OSError, ValueError, EOFError, AttributeError):
        good = False
    if not good:
        raise InputError(f"{path}: is damaged; delete it, and run this again")
    return ends


class Segments:
    """What training reads: parts of the text, each with the special tokens [CLS] and [SEP] around it."""

    def __init__(self, tokens: Tokens, starts: np.ndarray, lengths: np.ndarray) -> None:
        """starts, lengths: of each segment in `tokens.flat`, int64 (segments,)."""
        self.tokens, self.starts, self.lengths = tokens, starts, lengths

    def __len__(self) -> int:
        return len(self.starts)

    def inputs(self, segments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The tokens of these segments, int64 (segments, time), padded, and whether each token is one of the text, bool, same shape.

        Time is that of the longest of them. [CLS], [SEP] and padding are no tokens of the text.
        """
        lengths = self.lengths[segments]
        columns = np.arange(lengths.max())
        inside = columns < lengths[:, None]
        places = self.starts[segments][:, None] + columns
        ids = np.full((len(segments), lengths.max() + 2), PAD, dtype=np.int64)
        ids[:, 0] = CLS
        ids[:, 1:-1][inside] = self.tokens.flat[places[inside]]
        ids[np.arange(len(segments)), lengths + 1] = SEP
        is_text = np.zeros(ids.shape, dtype=bool)
        is_text[:, 1:-1] = inside & (ids[:, 1:-1] != SEP)
        return ids, is_text


def packed_segments(tokens: Tokens, chunk: int) -> Segments:
    """All documents one after the other, cut every `chunk` tokens; the last segment may be shorter."""
    size = len(tokens.flat) - 1  # without the last separator, which a segment has anyway
    starts = np.arange(0, size, chunk, dtype=np.int64)
    return Segments(tokens, starts, np.minimum(chunk, size - starts))


def document_segments(tokens: Tokens, chunk: int) -> Segments:
    """Each document for itself, cut every `chunk` tokens; the last segment of a document may be shorter."""
    begins = np.concatenate([[0], tokens.ends[:-1]])
    sizes = tokens.ends - begins - 1  # without the separator, which a segment has anyway
    pieces = -(-sizes // chunk)
    number = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)  # of a piece in its document
    starts = np.repeat(begins, pieces) + number * chunk
    return Segments(tokens, starts, np.minimum(chunk, np.repeat(begins + sizes, pieces) - starts))


CUTS = {"packed": packed_segments, "document": document_segments}
