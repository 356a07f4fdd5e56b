"""ELMo: contextual word vectors from a character-level bidirectional language model (Peters et al. 2018); its registry entry."""

from dataclasses import dataclass
from typing import Literal

from mtl.base.settings.schema import EmbedderOptions
from mtl.base.wings import lazy
from mtl.embedders.interface import EmbedderKind


@dataclass(kw_only=True)
class ElmoOptions(EmbedderOptions):
    """The keys of ELMo embeddings; configs/embeddings/elmo.yaml explains them."""

    path: str | None = None
    precision: Literal["float16", "float32"]
    exact: bool
    cache: bool


ELMO = EmbedderKind(
    title="ELMo",
    options=ElmoOptions,
    build=lazy("mtl.embedders.elmo.embeddings:elmo_embeddings"),
    load=lazy("mtl.embedders.elmo.embeddings:run_elmo"),
    exists=lambda folder: any(folder.glob("*weights.hdf5")),  # which are written last
    extra="elmo",
)
