"""Word embeddings: one registry entry for each kind, and the files that name one with its settings."""

from typing import Any

from mtl.base.errors import InputError
from mtl.base.settings.layers import find_yaml, shipped
from mtl.base.untrusted_yaml import read_yaml
from mtl.embedders.elmo import ELMO
from mtl.embedders.interface import EmbedderKind
from mtl.embedders.static import FASTTEXT, GLOVE, RANDOM, WORD2VEC

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


def read_embeddings(name: str) -> dict[str, Any]:
    """The content of the embeddings file with this name or path. Embeddings without a file have the defaults of their kind."""
    folder = shipped("configs") / "embeddings"
    if name in EMBEDDERS and not (folder / f"{name}.yaml").is_file():
        return {"name": name}
    content = read_yaml(find_yaml("embeddings", name, folder))
    return {**content, "name": str(content.get("name"))}
