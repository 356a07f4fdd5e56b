"""ELMo: contextual word vectors from a character-level bidirectional language model (Peters et al. 2018); its registry entry."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mtl.base.settings.schema import EmbedderOptions
from mtl.base.wings import lazy, resolve
from mtl.embedders.interface import EmbedderKind

if TYPE_CHECKING:
    from mtl.embedders.elmo.model import ELMo

__all__ = ["ELMO", "ELMo", "ElmoOptions"]


def __getattr__(name: str) -> Any:
    """`ELMo`, imported at its first use, since it needs torch."""
    if name == "ELMo":
        return resolve("mtl.embedders.elmo.model:ELMo")
    raise AttributeError(name)


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
