"""ELMo embeddings as in the KLEJ paper's Table 3: fixed weights, and a learned scalar mix of the layers."""

import copy
import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from allennlp_light.modules.scalar_mix import ScalarMix
from torch import Tensor, nn

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.data.text import TokenizedTexts
from mtl.embedders.elmo.layer_cache import FORMAT, LayerCache
from mtl.embedders.elmo.model import ELMo, split_layers
from mtl.embedders.elmo.options import OPTIONS, WEIGHTS
from mtl.embedders.interface import Coverage, EmbeddingsRequest, RunReaderRequest, coverage
from mtl.model.sequences import Sequences


def elmo_embeddings(request: EmbeddingsRequest) -> "ElmoEmbeddings":
    """The embeddings of these texts by the ELMo in `request.path`. Raises InputError if the folder holds no ELMo."""
    options, texts = request.options, request.texts
    elmo, digest = load_elmo(request.path, options.exact, request.device)
    complete = coverage(texts, np.ones(len(texts.types), dtype=bool))
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
