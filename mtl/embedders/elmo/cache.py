"""A disk cache of ELMo's vectors: each distinct text is computed once for all seeds, stages, tasks and runs."""

import hashlib
import logging
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl.embedders.elmo.model import ELMo
from mtl.embedders.sequences import ArraySequences
from mtl.errors import InputError
from mtl.files import check_space, format_bytes, replacing, reserve
from mtl.locks import waiting_lock
from mtl.progress import Progress

logger = logging.getLogger("mtl")

# The cache's version: raised whenever the vectors of the same words change, or the layout of the files.
FORMAT = 1

# Bytes in one shard: a crash loses at most one shard.
SHARD = 256 * 2**20

# Texts that are passed to ELMo together.
CHUNK = 2048


class LayerCache:
    """A folder of shards. A shard is two files: the rows of its texts, and an index of the texts.

    The names of both files are a hash of the texts. The index is moved into place last, so a shard that has an index is
    complete. One process at a time fills a cache; others wait for it.
    """

    def __init__(self, folder: Path, elmo: ELMo, dtype: np.dtype) -> None:
        """folder: must belong to this ELMo and this dtype only."""
        self.folder = folder
        self.elmo = elmo
        self.dtype = dtype

    def sequences(self, texts: Sequence[Sequence[str]]) -> ArraySequences:
        """The rows of these texts; computes the missing ones first.

        Raises InputError if the disk has too little space for them.
        """
        keys = [text_key(text) for text in texts]
        if set(keys) - set(self._locations()):
            self._fill(dict(zip(keys, texts, strict=True)))
        locations = self._locations()
        shards = sorted({locations[key][0] for key in keys})
        rows = ShardRows([self._open(shard) for shard in shards])
        first = dict(zip(shards, rows.bounds[:-1].tolist(), strict=True))
        starts = np.array([first[locations[key][0]] + locations[key][1] for key in keys], dtype=np.int64)
        return ArraySequences(rows, starts, np.array([len(text) for text in texts], dtype=np.int64))

    def _locations(self) -> dict[str, tuple[str, int]]:
        """For each text's key the location of its first row: the shard and the row in it."""
        locations: dict[str, tuple[str, int]] = {}
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
            ):  # damaged: its texts are computed again
                continue
            locations.update((key, (shard, start)) for key, start in found)
        return locations

    def _open(self, shard: str) -> np.ndarray:
        path = self.folder / f"{shard}.rows.npy"
        try:
            rows: np.ndarray = np.load(path, mmap_mode="r")
        except (OSError, EOFError, ValueError) as error:
            raise InputError(
                f"{path}: cannot be read ({error}); delete the folder, it will be computed again"
            ) from None
        return rows

    def _fill(self, texts: dict[str, Sequence[str]]) -> None:
        with waiting_lock(self.folder / ".lock", f"{self.folder}: another process is filling this cache"):
            for partial in self.folder.glob(".*.partial"):  # temporary files of killed processes
                partial.unlink()
            present = set(self._locations())
            missing = [key for key in texts if key not in present]
            if not missing:  # another process computed them
                return
            tokens = sum(len(texts[key]) for key in missing)
            size = tokens * self.elmo.width * self.dtype.itemsize
            logger.info(
                "computing ELMo's layers of %d texts, %d tokens: %s on disk in %s",
                *(len(missing), tokens, format_bytes(size), self.folder),
            )
            check_space(self.folder, size, "set embeddings.cache=false to compute them in every step")
            # Texts of similar length are computed together.
            missing.sort(key=lambda key: (len(texts[key]), key))
            with Progress("computing ELMo's layers", tokens, "tokens") as shown:
                for part in _split(missing, [len(texts[key]) for key in missing], self._shard_tokens()):
                    self._write(part, [texts[key] for key in part], shown)

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
    """Memory-mapped shards that can be indexed as one array of rows."""

    def __init__(self, shards: Sequence[np.ndarray]) -> None:
        """shards: (rows, width) each, all with the same width and dtype."""
        self.shards = shards
        self.bounds = np.cumsum([0, *(len(shard) for shard in shards)])

    def __getitem__(self, indices: np.ndarray) -> np.ndarray:
        """Row indices (…,) -> rows (…, width)."""
        gathered = np.empty((*indices.shape, self.shards[0].shape[1]), dtype=self.shards[0].dtype)
        shards = np.searchsorted(self.bounds, indices, side="right") - 1
        for shard in np.unique(shards):
            in_shard = shards == shard
            gathered[in_shard] = self.shards[shard][indices[in_shard] - self.bounds[shard]]
        return gathered


def text_key(words: Sequence[str]) -> str:
    """A text's key in a cache: the first 128 bits of the SHA-256 of its tokens, as 32 hexadecimal digits."""
    return hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _split(keys: list[str], sizes: list[int], max_size: int) -> list[list[str]]:
    """Split the keys into consecutive parts whose sizes add up to at most max_size; a larger key is a part of its own."""
    parts: list[list[str]] = []
    room = 0
    for key, size in zip(keys, sizes, strict=True):
        if not parts or size > room:
            parts.append([])
            room = max_size
        parts[-1].append(key)
        room -= size
    return parts
