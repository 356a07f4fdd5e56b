"""A cache of an ELMo's layers on disk: each distinct text is computed once for all seeds, stages, tasks and runs."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl.base.arrays import read_array, read_arrays, write_arrays
from mtl.base.errors import InputError
from mtl.base.files import check_space, replacing, reserve
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.base.progress import Progress
from mtl.base.wording import format_bytes
from mtl.embedders.elmo.model import ELMo
from mtl.model.sequences import ArraySequences

FORMAT = 1  # of the cache: raised whenever the vectors of the same words change, or the layout of the files
SHARD = 256 * 2**20  # bytes in one shard: a crash loses at most one
CHUNK = 2048  # texts that are passed to ELMo together


class LayerCache:
    """A folder of shards of one ELMo and one dtype. A shard is two files: the rows of its texts, and an index of them by a hash of their tokens. The
    index is moved into place last, so a shard that has one is complete. One process at a time fills a cache; the rest wait for it."""

    def __init__(self, folder: Path, elmo: ELMo, dtype: np.dtype) -> None:
        self.folder, self.elmo, self.dtype = folder, elmo, dtype

    def sequences(self, texts: Sequence[Sequence[str]]) -> ArraySequences:
        """The rows of these texts; computes the missing ones first. Raises InputError if the disk has too little space for them."""
        keys = [hashlib.sha256("\n".join(text).encode("utf-8", "surrogatepass")).hexdigest()[:32] for text in texts]
        if set(keys) - self._locations().keys():
            self._fill(dict(zip(keys, texts, strict=True)))
        by_key = self._locations()
        locations = [by_key[key] for key in keys]
        shards = sorted({shard for shard, _ in locations})
        rows = ShardRows([self._rows(shard) for shard in shards])
        first_rows = dict(zip(shards, rows.bounds[:-1].tolist(), strict=True))
        starts = np.array([first_rows[shard] + row for shard, row in locations], dtype=np.int64)
        return ArraySequences(rows, starts, np.array([len(text) for text in texts], dtype=np.int64))

    def _locations(self) -> dict[str, tuple[str, int]]:
        """For each text's key the location of its first row: the shard and the row in it."""
        locations: dict[str, tuple[str, int]] = {}
        for index in sorted(self.folder.glob("*.index.npz")):
            shard = index.name.removesuffix(".index.npz")
            if not (self.folder / f"{shard}.rows.npy").exists():
                continue
            try:
                arrays = read_arrays(index)
                starts = dict(zip(arrays["keys"].tolist(), arrays["starts"].tolist(), strict=True))
            except (OSError, ValueError, KeyError, InputError):  # damaged: its texts are computed again
                continue
            locations.update((key, (shard, start)) for key, start in starts.items())
        return locations

    def _rows(self, shard: str) -> np.ndarray:
        path = self.folder / f"{shard}.rows.npy"
        try:
            return read_array(path, mapped=True)
        except (OSError, ValueError) as error:
            message = f"cannot be read ({error}); delete the folder, it will be computed again"
            raise InputError(message, path=path) from None

    def _fill(self, texts: dict[str, Sequence[str]]) -> None:
        """Compute the rows of those of these texts, by key, that the cache does not have."""
        with lock(self.folder / ".lock", f"{self.folder}: another process is filling this cache"):
            for partial in self.folder.glob(".*.partial"):  # temporary files of killed processes
                partial.unlink()
            # Texts of similar length are computed together.
            missing = sorted(texts.keys() - self._locations().keys(), key=lambda key: (len(texts[key]), key))
            if not missing:  # another process computed them
                return
            tokens = sum(len(texts[key]) for key in missing)
            row_size = self.elmo.width * self.dtype.itemsize
            size = tokens * row_size
            message = "computing ELMo's layers of %d texts, %d tokens: %s on disk in %s"
            logger.info(message, len(missing), tokens, format_bytes(size), self.folder)
            check_space(self.folder, size, "set embeddings.cache=false to compute them in every step")
            with Progress("computing ELMo's layers", tokens, "tokens") as bar:
                tokens_per_shard = max(1, SHARD // row_size)
                shard_numbers = np.cumsum([len(texts[key]) for key in missing]) // tokens_per_shard  # of each text
                for keys in np.split(missing, np.flatnonzero(np.diff(shard_numbers)) + 1):
                    self._write(keys.tolist(), [texts[key] for key in keys], bar)

    def _write(self, keys: list[str], texts: list[Sequence[str]], bar: Progress) -> None:
        """Compute the rows of these texts, and write them as a shard."""
        shard = hashlib.sha256("".join(keys).encode()).hexdigest()[:16]
        sizes = np.array([len(text) for text in texts])
        starts = np.cumsum(sizes) - sizes
        with replacing(self.folder / f"{shard}.rows.npy") as partial:
            shape = (int(sizes.sum()), self.elmo.width)
            rows = np.lib.format.open_memmap(partial, mode="w+", dtype=self.dtype, shape=shape)
            reserve(partial)
            for first in range(0, len(texts), CHUNK):
                computed = self.elmo.rows(texts[first : first + CHUNK])
                for start, vectors in zip(starts[first:].tolist(), computed, strict=False):
                    rows[start : start + len(vectors)] = vectors.cpu().numpy()
                    bar.advance(len(vectors))
            rows.flush()
            del rows
        write_arrays(self.folder / f"{shard}.index.npz", {"keys": np.array(keys), "starts": starts})


class ShardRows:
    """Memory-mapped shards (rows, width) of one width and dtype, which can be indexed as one array of rows."""

    def __init__(self, shards: Sequence[np.ndarray]) -> None:
        self.shards = shards
        self.bounds = np.cumsum([0, *(len(shard) for shard in shards)])

    def __getitem__(self, indices: np.ndarray) -> np.ndarray:
        """Row indices (…,) -> rows (…, width)."""
        gathered = np.empty((*indices.shape, self.shards[0].shape[1]), dtype=self.shards[0].dtype)
        shard_numbers = np.searchsorted(self.bounds, indices, side="right") - 1  # of each row
        for number in np.unique(shard_numbers):
            in_shard = shard_numbers == number
            gathered[in_shard] = self.shards[number][indices[in_shard] - self.bounds[number]]
        return gathered
