"""The settings of a kind of embeddings: its file in configs/embeddings, and keys that override it."""

from collections.abc import Mapping
from typing import Any

from mtl.config.files import find_yaml, shipped
from mtl.config.schema import EmbedderOptions
from mtl.config.settings import typed_settings
from mtl.embedders import EMBEDDERS, embedder_kind
from mtl.untrusted import read_yaml


def read_embeddings(name: str) -> dict[str, Any]:
    """The content of the embeddings file with this name or path. Embeddings without a file have the defaults of their kind."""
    folder = shipped("configs") / "embeddings"
    if name in EMBEDDERS and not (folder / f"{name}.yaml").is_file():
        return {"name": name}
    content = read_yaml(find_yaml("embeddings", name, folder))
    return {**content, "name": str(content.get("name"))}


def embedder_options(name: str, given: Mapping[str, Any]) -> EmbedderOptions:
    """The options of the embeddings with this name or path, without a run. given: keys of `embeddings.` that override those of the
    file. Raises InputError for an unknown name or key, and a bad value."""
    content = read_embeddings(name)
    content.pop("config", None)  # for runs
    options = typed_settings(embedder_kind(content["name"]).options, {**content, **given}, "embeddings.")
    options.check()
    return options
