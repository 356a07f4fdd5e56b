"""Word embeddings: one registry entry for each kind, and the files that name one with its settings."""

from typing import Any

from mtl.base.errors import InputError
from mtl.base.lazy import resolve
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.wings import wings
from mtl.embedders.elmo import ELMO
from mtl.embedders.fasttext import FASTTEXT
from mtl.embedders.interface import EmbedderKind, VectorTraining
from mtl.embedders.random import RANDOM
from mtl.embedders.static import GLOVE
from mtl.embedders.word2vec import WORD2VEC
from mtl.settings.layers import find_yaml, shipped

# By name, as in configs/embeddings, on the command line and in run folders.
EMBEDDERS: dict[str, EmbedderKind] = {
    "random": RANDOM,
    "fasttext": FASTTEXT,
    "glove": GLOVE,
    "elmo": ELMO,
    "word2vec": WORD2VEC,
}


def embedder_kind(name: str) -> EmbedderKind:
    """The kind of embeddings with this name. Raises InputError for an unknown name."""
    if name not in EMBEDDERS:
        raise InputError(f"must be one of {', '.join(EMBEDDERS)}", key="embeddings.name", value=name)
    return EMBEDDERS[name]


def vector_training(name: str) -> VectorTraining | None:
    """How vectors of the kind `name` are trained: as its entry says, or as a wing does; None if they can only be read."""
    files = EMBEDDERS[name].files
    if files is not None and files.training is not None:
        return files.training
    registered = [wing.trainings[name] for wing in wings() if name in wing.trainings]
    return resolve(registered[0]) if registered else None


def read_embeddings(name: str) -> dict[str, Any]:
    """The content of the embeddings file with this name or path. Embeddings without a file have the defaults of their kind."""
    folder = shipped("configs") / "embeddings"
    if name in EMBEDDERS and not (folder / f"{name}.yaml").is_file():
        return {"name": name}
    content = read_yaml(find_yaml("embeddings", name, folder))
    return {**content, "name": str(content.get("name"))}
