"""ELMo embeddings as in the KLEJ paper's Table 3: fixed weights, a learned scalar mix of the layers, and a cache of the layers on disk."""

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from allennlp_light.modules.scalar_mix import ScalarMix
from torch import Tensor, nn

from mtl.base.arrays import read_array, read_arrays, write_arrays
from mtl.base.errors import InputError
from mtl.base.files import check_space, replacing, reserve, sha256
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.base.progress import Progress
from mtl.base.wording import format_bytes
from mtl.data.text import TokenizedTexts
from mtl.embedders.elmo.model import ELMo, split_layers
from mtl.embedders.elmo.options import OPTIONS, WEIGHTS
from mtl.embedders.interface import Coverage, EmbeddingsRequest, RunReaderRequest, count_coverage
from mtl.model.sequences import ArraySequences, Sequences

FORMAT = 1  # of the cache: raised whenever the vectors of the same words change, or the layout of the files
SHARD = 256 * 2**20  # bytes in one shard: a crash loses at most one
CHUNK = 2048  # texts that are passed to ELMo together


def elmo_embeddings(request: EmbeddingsRequest) -> "ElmoEmbeddings":
    """The embeddings of these texts by the ELMo in `request.path`. Raises InputError if the folder holds no ELMo."""
    options, texts = request.options, request.texts
    elmo, digest = load_elmo(request.path, options.exact, request.device)
    complete = count_coverage(texts, np.ones(len(texts.types), dtype=bool))
    return ElmoEmbeddings(elmo, digest, options.precision, request.cache_dir if options.cache else None, complete)


def run_elmo(request: RunReaderRequest) -> "ElmoReader":
    """The ELMo of a finished run. Raises InputError if the folder holds another ELMo than the run's."""
    elmo, digest = load_elmo(request.path, request.options.exact, request.device)
    if digest != request.fingerprint:
        raise InputError("is not the ELMo that the run was made with", path=request.path)
    return ElmoReader(elmo, digest, request.options.precision, ElmoEmbedder(elmo))


def load_elmo(folder: Path | None, exact: bool, device: torch.device) -> tuple[ELMo, str]:
    """The ELMo in a folder, on this device, and the SHA-256 of options and weights. Raises InputError if there is none."""
    assert folder is not None
    options, weights = elmo_files(folder)
    hashes = f"{sha256(options)} {sha256(weights)}"
    return ELMo(options, weights, exact).to(device), hashlib.sha256(hashes.encode()).hexdigest()


def elmo_files(folder: Path) -> tuple[Path, Path]:
    """The options file and the weights file in a folder; their names may have a prefix. Raises InputError if one is missing."""
    if not folder.is_dir():
        raise InputError(f"no such folder; it must hold an ELMo's {OPTIONS} and {WEIGHTS}", path=folder)
    paths = []
    for name in (OPTIONS, WEIGHTS):
        files = sorted(path for path in folder.glob(f"*{name}") if path.is_file())
        if len(files) != 1:
            raise InputError(f"holds {len(files)} files named *{name}; there must be exactly one", path=folder)
        paths.append(files[0])
    return paths[0], paths[1]


@dataclass(frozen=True)
class _ElmoVectors:
    """What `ElmoEmbeddings` and `ElmoReader` share."""

    elmo: ELMo
    digest: str  # the SHA-256 of its options and weights
    precision: str  # of the vectors that the encoder reads: float16 or float32

    @property
    def dim(self) -> int:
        return self.elmo.dim

    def parameters(self) -> int:
        modules = (self.elmo.model, ElmoEmbedder(self.elmo))
        return sum(parameter.numel() for module in modules for parameter in module.parameters())

    def uncached_sequences(self, texts: TokenizedTexts) -> Sequences:
        return UncachedLayers(self.elmo, texts, self.precision)


@dataclass(frozen=True)
class ElmoEmbeddings(_ElmoVectors):
    """An ELMo and the cache of its vectors."""

    cache_dir: Path | None  # None: the vectors are computed in every step
    coverage: Coverage

    def fingerprint(self) -> str:
        return self.digest

    def embedder(self) -> "ElmoEmbedder":
        return ElmoEmbedder(self.elmo)

    def sequences(self, texts: TokenizedTexts) -> Sequences:
        if self.cache_dir is None:
            return self.uncached_sequences(texts)
        words = [texts.words(text) for text in range(len(texts))]
        exactness = "" if self.elmo.dtype == torch.float64 else "-inexact"
        folder = self.cache_dir / f"elmo-{self.digest[:16]}-{self.precision}{exactness}-{FORMAT}"
        return LayerCache(folder, self.elmo, np.dtype(self.precision)).sequences(words)

    def to(self, device: torch.device) -> None:
        self.elmo.to(device)

    def save(self, folder: Path) -> None:
        """Do nothing: a run reads ELMo's files from their own folder."""


@dataclass(frozen=True)
class ElmoReader(_ElmoVectors):
    """An ELMo without a cache."""

    embedder: nn.Module  # which makes a vector of a token's layers

    sequences = _ElmoVectors.uncached_sequences

    def have_vectors(self, texts: TokenizedTexts) -> np.ndarray:
        return np.ones(len(texts.types), dtype=bool)

    def fingerprint(self) -> str:
        return f"{self.digest} {self.elmo.dtype} {self.precision}"


class ElmoEmbedder(nn.Module):
    """Mixes a token's layers into one vector with learned weights (Peters et al. 2018, equation 1). Before training, it is their mean."""

    def __init__(self, elmo: ELMo) -> None:
        super().__init__()
        self.projection_dim = elmo.options.lstm.projection_dim
        self.mix = ScalarMix(elmo.options.lstm.n_layers + 1)

    def for_task(self) -> "ElmoEmbedder":
        """A copy that stage 2 trains for one task. ELMo's own weights are not part of this module; they are always fixed."""
        return copy.deepcopy(self)

    def forward(self, rows: Tensor) -> Tensor:
        return self.mix(split_layers(rows.float(), self.projection_dim))


class UncachedLayers:
    """Texts whose layers are computed each time they are gathered."""

    def __init__(self, elmo: ELMo, texts: TokenizedTexts, precision: str) -> None:
        self.elmo, self.texts = elmo, texts
        self.dtype = {"float16": torch.float16, "float32": torch.float32}[precision]
        self.lengths = torch.from_numpy(texts.lengths)

    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Text indices (batch,) -> rows (batch, time, width), zero past each text's end, and lengths in tokens (batch,)."""
        rows = self.elmo.rows([self.texts.words(text) for text in texts.tolist()])
        return nn.utils.rnn.pad_sequence(rows, batch_first=True).to(self.dtype), self.lengths[texts]


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
                for keys in np.split(missing, np.flatnonzero(np.diff(shard_numbers)) + 1):  # the texts of one shard
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
