"""Word embeddings: one registry entry for each kind."""

from mtl.base.errors import InputError
from mtl.embedders.elmo.options import ELMO
from mtl.embedders.embedder import EmbedderKind
from mtl.embedders.fasttext import FASTTEXT
from mtl.embedders.random import RANDOM

# By name, as in configs/embeddings, on the command line and in run folders.
EMBEDDERS: dict[str, EmbedderKind] = {"random": RANDOM, "fasttext": FASTTEXT, "elmo": ELMO}


def embedder_kind(name: str) -> EmbedderKind:
    """The kind of embeddings with this name. Raises InputError for an unknown name."""
    if name not in EMBEDDERS:
        raise InputError(f"must be one of {', '.join(EMBEDDERS)}", key="embeddings.name", value=name)
    return EMBEDDERS[name]
