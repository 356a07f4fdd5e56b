"""ELMo embeddings as in the KLEJ paper's Table 3: fixed weights, and a learned scalar mix of the layers."""

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from allennlp_light.modules.scalar_mix import ScalarMix
from torch import Tensor, nn

from mtl.data.text import TokenizedTexts
from mtl.embedders.coverage import Coverage, coverage
from mtl.embedders.elmo.cache import FORMAT, LayerCache
from mtl.embedders.elmo.model import ELMo, split_layers
from mtl.embedders.elmo.options import OPTIONS, WEIGHTS
from mtl.embedders.kind import BuildRequest, LoadRequest, OpenRequest
from mtl.embedders.sequences import Sequences
from mtl.errors import InputError
from mtl.files import sha256


@dataclass(frozen=True)
class ElmoEmbeddings:
    """An ELMo and the cache of its vectors.

    digest: the SHA-256 of its options and weights.
    precision: of the vectors that the encoder reads, float16 or float32. cache_dir: None computes them in every step.
    """

    elmo: ELMo
    digest: str
    precision: str
    cache_dir: Path | None
    coverage: Coverage

    @property
    def dim(self) -> int:
        return self.elmo.dim

    def fingerprint(self) -> str:
        """A hash of the options and the weights."""
        return self.digest

    def embedder(self) -> "ElmoEmbedder":
        """A new scalar mix."""
        return _new_mix(self.elmo)

    def sequences(self, texts: TokenizedTexts) -> Sequences:
        """The layers of the texts, from the cache if there is one."""
        if self.cache_dir is None:
            return self.uncached_sequences(texts)
        words = [texts.words(text) for text in range(len(texts))]
        exactness = "" if self.elmo.dtype == torch.float64 else "-inexact"
        folder = self.cache_dir / f"elmo-{self.digest[:16]}-{self.precision}{exactness}-{FORMAT}"
        return LayerCache(folder, self.elmo, np.dtype(self.precision)).sequences(words)

    def uncached_sequences(self, texts: TokenizedTexts) -> Sequences:
        """The layers of the texts, computed each time they are read."""
        return UncachedLayers(self.elmo, texts, self.precision)

    def parameters(self) -> int:
        """The number of weights of ELMo and of the scalar mix."""
        fixed = sum(parameter.numel() for parameter in self.elmo.model.parameters())
        return fixed + sum(parameter.numel() for parameter in self.embedder().parameters())

    def to(self, device: torch.device) -> None:
        """Move ELMo to this device."""
        self.elmo.to(device)

    def save(self, folder: Path) -> None:
        """Do nothing: a run reads ELMo's files from their own folder."""


class ElmoEmbedder(nn.Module):
    """Mixes a token's layers into one vector with learned weights (Peters et al. 2018, equation 1)."""

    def __init__(self, n_layers: int, projection_dim: int) -> None:
        super().__init__()
        self.projection_dim = projection_dim
        self.mix = ScalarMix(n_layers + 1)

    def for_task(self) -> "ElmoEmbedder":
        """A copy that stage 2 trains for one task. ELMo's own weights are not part of this module; they are always fixed."""
        return copy.deepcopy(self)

    def forward(self, rows: Tensor) -> Tensor:
        """Rows of `ELMo.rows` (batch, time, width) -> (batch, time, 2 * projection_dim)."""
        mixed: Tensor = self.mix(split_layers(rows.float(), self.projection_dim))
        return mixed


class UncachedLayers:
    """Texts whose layers are computed each time they are gathered."""

    def __init__(self, elmo: ELMo, texts: TokenizedTexts, precision: str) -> None:
        self.elmo = elmo
        self.texts = texts
        self.dtype = {"float16": torch.float16, "float32": torch.float32}[precision]
        self.lengths = torch.from_numpy(texts.lengths)

    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Text indices (batch,) -> rows (batch, time, width), zero past each text's end, and lengths in tokens (batch,)."""
        rows = self.elmo.rows([self.texts.words(text) for text in texts.tolist()])
        return nn.utils.rnn.pad_sequence(rows, batch_first=True).to(self.dtype), self.lengths[texts]


def elmo_embeddings(request: BuildRequest) -> ElmoEmbeddings:
    """The embeddings of these texts by the ELMo in `request.path`. Raises InputError if the folder holds no ELMo."""
    options, texts = request.options, request.texts
    assert request.path is not None
    elmo, digest = load_elmo(request.path, options.exact)
    all_known = coverage(texts, np.ones(len(texts.types), dtype=bool))
    cache_dir = request.cache_dir if options.cache else None
    return ElmoEmbeddings(elmo.to(request.device), digest, options.precision, cache_dir, all_known)


class ElmoLayer(nn.Module):
    """One layer of each token."""

    def __init__(self, projection_dim: int, layer: int) -> None:
        """layer: from 0, the token layer."""
        super().__init__()
        self.projection_dim = projection_dim
        self.layer = layer

    def for_task(self) -> "ElmoLayer":
        """Itself: nothing is trained."""
        return self

    def forward(self, rows: Tensor) -> Tensor:
        """Rows of `ELMo.rows` (batch, time, width) -> (batch, time, 2 * projection_dim)."""
        return split_layers(rows.float(), self.projection_dim)[self.layer]


class ElmoReader:
    """An ELMo, without a cache."""

    def __init__(self, elmo: ELMo, digest: str, precision: str, embedder: ElmoEmbedder | ElmoLayer) -> None:
        """digest: the SHA-256 of its options and weights. precision: of its vectors, float16 or float32."""
        self.elmo = elmo
        self.digest = digest
        self.precision = precision
        self.dim = elmo.dim
        self.embedder = embedder

    def learn(self, words: Sequence[str]) -> None:
        """Do nothing: a word's vector depends on its text."""

    def sequences(self, texts: TokenizedTexts) -> Sequences:
        """The layers of the texts, computed each time they are read."""
        return UncachedLayers(self.elmo, texts, self.precision)

    def known(self, texts: TokenizedTexts) -> np.ndarray:
        """All words have a vector, bool (types,)."""
        return np.ones(len(texts.types), dtype=bool)

    def table(self, words: Sequence[str]) -> None:
        """None: a word's vector depends on its text."""

    def fingerprint(self) -> str:
        """A hash of the options, the weights and the arithmetic."""
        layer = getattr(self.embedder, "layer", None)
        return f"{self.digest} {self.elmo.dtype} {self.precision} {layer}"

    def parameters(self) -> int:
        """The number of weights of ELMo and of the scalar mix."""
        modules = (self.elmo.model, self.embedder)
        return sum(parameter.numel() for module in modules for parameter in module.parameters())


def run_elmo(request: LoadRequest) -> ElmoReader:
    """The ELMo of a finished run. Raises InputError if the folder holds another ELMo than the run's."""
    assert request.path is not None
    elmo, digest = load_elmo(request.path, request.options.exact)
    if digest != request.fingerprint:
        raise InputError(f"{request.path}: is not the ELMo that the run was made with")
    return ElmoReader(elmo.to(request.device), digest, request.options.precision, _new_mix(elmo))


def open_elmo(request: OpenRequest) -> ElmoReader:
    """One layer of the ELMo in `request.path`, or the mean of its layers, in float32. Raises InputError if it has no such layer."""
    assert request.path is not None
    elmo, digest = load_elmo(request.path, request.options.exact)
    layer, layers = request.layer, elmo.options.n_layers
    if layer is not None and not 0 <= layer <= layers:
        raise InputError(f"layer={layer}: {request.path} has the layers 0 to {layers}")
    # A scalar mix that is not trained is the mean.
    embedder = _new_mix(elmo) if layer is None else ElmoLayer(elmo.options.projection_dim, layer)
    return ElmoReader(elmo.to(request.device), digest, "float32", embedder)


def _new_mix(elmo: ELMo) -> ElmoEmbedder:
    return ElmoEmbedder(elmo.options.n_layers, elmo.options.projection_dim)


def load_elmo(folder: Path, exact: bool) -> tuple[ELMo, str]:
    """The ELMo in a folder, and the SHA-256 of its options and weights. Raises InputError if the folder holds no ELMo."""
    options, weights = elmo_files(folder)
    both = f"{sha256(options)} {sha256(weights)}"
    return ELMo(options, weights, exact), hashlib.sha256(both.encode()).hexdigest()


def elmo_files(folder: Path) -> tuple[Path, Path]:
    """The options file and the weights file in a folder; their names may have a prefix. Raises InputError if one is missing."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; it must hold an ELMo's {OPTIONS} and {WEIGHTS}")
    found = []
    for name in (OPTIONS, WEIGHTS):
        files = sorted(path for path in folder.glob(f"*{name}") if path.is_file())
        if len(files) != 1:
            raise InputError(f"{folder}: holds {len(files)} files named *{name}; there must be exactly one")
        found.append(files[0])
    return found[0], found[1]
