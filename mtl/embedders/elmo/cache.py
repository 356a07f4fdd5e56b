"""ELMo's vectors on disk: each distinct text's rows computed once, for all seeds, stages, tasks and runs."""

import hashlib
import logging
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl.embedders.elmo.model import ELMo
from mtl.errors import InputError
from mtl.files import check_space, format_bytes, replacing, reserve, waiting_lock
from mtl.progress import Progress
from mtl.training.batches import TokenTable

logger = logging.getLogger("mtl")

# Of a cache: raised when the same words come to give other vectors, or the files another layout.
FORMAT = 1

# Bytes in one shard: what a crash loses at most.
SHARD = 256 * 2**20

# Texts whose words are encoded together.
CHUNK = 2048


class LayerCache:
    """A folder of shards. A shard is a text index and the rows of its texts, in two files.

    The rows are moved into place first, the index last, and both under names that follow from the texts: a shard whose
    index is there is whole. One process at a time fills a cache; others wait for it.
    """

    def __init__(self, folder: Path, elmo: ELMo, dtype: np.dtype) -> None:
        """folder: for this ELMo and this type of numbers alone."""
        self.folder = folder
        self.elmo = elmo
        self.dtype = dtype

    def table(self, texts: Sequence[Sequence[str]]) -> TokenTable:
        """The rows of these texts, those that are missing computed first.

        Raises InputError where the disk has no room for them.
        """
        keys = [text_key(text) for text in texts]
        if set(keys) - set(self._places()):
            self._fill(dict(zip(keys, texts, strict=True)))
        places = self._places()
        shards = sorted({places[key][0] for key in keys})
        rows = ShardRows([self._open(shard) for shard in shards])
        first = dict(zip(shards, rows.bounds[:-1].tolist(), strict=True))
        starts = np.array([first[places[key][0]] + places[key][1] for key in keys], dtype=np.int64)
        return TokenTable(rows, starts, np.array([len(text) for text in texts], dtype=np.int64))

    def _places(self) -> dict[str, tuple[str, int]]:
        """Where each text's rows begin: the shard and the row, by the text's key."""
        places: dict[str, tuple[str, int]] = {}
        for index in sorted(self.folder.glob("*.index.npz")):
            shard = index.name.removesuffix(".index.npz")
            if not (self.folder / f"{shard}.rows.npy").exists():
                continue
            try:
                with np.load(index) as file:
                    found = zip(file["keys"].tolist(), file["starts"].tolist(), strict=True)
            except (
                OSError,
                ValueError,
                KeyError,
                EOFError,
                zipfile.BadZipFile,
            ):  # damaged: its texts are computed anew
                continue
            places.update((key, (shard, start)) for key, start in found)
        return places

    def _open(self, shard: str) -> np.ndarray:
        path = self.folder / f"{shard}.rows.npy"
        try:
            rows: np.ndarray = np.load(path, mmap_mode="r")
        except (OSError, EOFError, ValueError) as error:
            raise InputError(f"{path}: cannot be read ({error}); remove the folder, it is made anew") from None
        return rows

    def _fill(self, texts: dict[str, Sequence[str]]) -> None:
        with waiting_lock(self.folder / ".lock", f"{self.folder}: another process is filling this cache"):
            for partial in self.folder.glob(".*.partial"):  # left by a process that was killed
                partial.unlink()
            present = set(self._places())
            missing = [key for key in texts if key not in present]
            if not missing:  # another process has computed them
                return
            tokens = sum(len(texts[key]) for key in missing)
            size = tokens * self.elmo.width * self.dtype.itemsize
            logger.info(
                "computing ELMo's layers of %d texts, %d tokens: %s on disk in %s",
                *(len(missing), tokens, format_bytes(size), self.folder),
            )
            check_space(self.folder, size, "set embeddings.cache=false to compute them in every step")
            # Texts of like length are computed together.
            missing.sort(key=lambda key: (len(texts[key]), key))
            with Progress("computing ELMo's layers", tokens, "tokens") as shown:
                for some in _split(missing, [len(texts[key]) for key in missing], self._shard_tokens()):
                    self._write(some, [texts[key] for key in some], shown)

    def _shard_tokens(self) -> int:
        return max(1, SHARD // (self.elmo.width * self.dtype.itemsize))

    def _write(self, keys: list[str], texts: list[Sequence[str]], shown: Progress) -> None:
        shard = hashlib.sha256("".join(keys).encode()).hexdigest()[:16]
        sizes = np.array([len(text) for text in texts])
        starts = np.cumsum(sizes) - sizes
        with replacing(self.folder / f"{shard}.rows.npy") as partial:
            shape = (int(sizes.sum()), self.elmo.width)
            rows = np.lib.format.open_memmap(partial, mode="w+", dtype=self.dtype, shape=shape)
            reserve(partial)
            for first in range(0, len(texts), CHUNK):
                for start, vectors in zip(
                    starts[first:].tolist(), self.elmo.rows(texts[first : first + CHUNK]), strict=False
                ):
                    rows[start : start + len(vectors)] = vectors.cpu().numpy()
                    shown.advance(len(vectors))
            rows.flush()
            del rows
        with replacing(self.folder / f"{shard}.index.npz") as partial, partial.open("wb") as file:
            np.savez(file, keys=np.array(keys), starts=starts)


class ShardRows:
    """Memory-mapped shards as one array that is indexed by row numbers."""

    def __init__(self, shards: Sequence[np.ndarray]) -> None:
        """shards: (rows, width) each, of one width and type."""
        self.shards = shards
        self.bounds = np.cumsum([0, *(len(shard) for shard in shards)])

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        """Rows (…, width) for row numbers (…,)."""
        gathered = np.empty((*places.shape, self.shards[0].shape[1]), dtype=self.shards[0].dtype)
        shards = np.searchsorted(self.bounds, places, side="right") - 1
        for shard in np.unique(shards):
            here = shards == shard
            gathered[here] = self.shards[shard][places[here] - self.bounds[shard]]
        return gathered


def text_key(words: Sequence[str]) -> str:
    """What names a text in a cache: 128 bits of the SHA-256 of its tokens."""
    return hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _split(keys: list[str], sizes: list[int], most: int) -> list[list[str]]:
    """The keys in consecutive parts of at most so many tokens, or of one text."""
    parts: list[list[str]] = []
    room = 0
    for key, size in zip(keys, sizes, strict=True):
        if not parts or size > room:
            parts.append([])
            room = most
        parts[-1].append(key)
        room -= size
    return parts
