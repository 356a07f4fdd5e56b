"""Word embeddings: one registry entry for each kind, with its options, and the files that name one with its settings."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from mtl.base.errors import InputError
from mtl.base.settings.layers import find_yaml, shipped
from mtl.base.settings.schema import EmbedderOptions
from mtl.base.typed import AT_LEAST_ONE, SIZE, check_choice
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.wings import lazy
from mtl.embedders.interface import EmbedderKind


@dataclass(kw_only=True)
class RandomOptions(EmbedderOptions):
    """The keys of random embeddings; configs/embeddings/random.yaml explains them."""

    dim: Annotated[int, SIZE]
    trainable: bool
    min_count: Annotated[int, AT_LEAST_ONE]
    max_words: Annotated[int, AT_LEAST_ONE] | None = None
    sparse: bool = False


@dataclass(kw_only=True)
class StaticOptions(EmbedderOptions):
    """The keys of static embeddings; configs/embeddings/fasttext.yaml and glove.yaml explain them."""

    path: str | None = None
    dim: Annotated[int, SIZE] | None = None
    trainable: bool
    min_count: Annotated[int, AT_LEAST_ONE]
    max_words: Annotated[int, AT_LEAST_ONE] | None = None
    missing: Literal["unknown", "random"] = "unknown"
    sparse: bool = False

    @property
    def takes_all_words(self) -> bool:
        """Whether all words of all texts get their vectors from the file, new words at prediction time too."""
        return self.min_count == 1 and self.max_words is None


@dataclass(kw_only=True)
class ElmoOptions(EmbedderOptions):
    """The keys of ELMo embeddings; configs/embeddings/elmo.yaml explains them."""

    path: str | None = None
    precision: Literal["float16", "float32"]
    exact: bool
    cache: bool


# Vectors that are read from a file, in any of the formats of `VectorFile`.
STATIC = EmbedderKind(
    title="fastText",
    options=StaticOptions,
    build=lazy("mtl.embedders.words:static_embeddings"),
    load=lazy("mtl.embedders.new_words:run_words"),
    exists=Path.exists,
    by_word=True,
)

# By name, as in configs/embeddings, on the command line and in run folders.
EMBEDDERS: dict[str, EmbedderKind] = {
    "random": EmbedderKind(
        title="random",
        options=RandomOptions,
        build=lazy("mtl.embedders.words:random_embeddings"),
        load=lazy("mtl.embedders.new_words:run_words"),
    ),
    "fasttext": STATIC,
    "glove": replace(STATIC, title="GloVe"),
    "elmo": EmbedderKind(
        title="ELMo",
        options=ElmoOptions,
        build=lazy("mtl.embedders.elmo.embeddings:elmo_embeddings"),
        load=lazy("mtl.embedders.elmo.embeddings:run_elmo"),
        exists=lambda folder: any(folder.glob("*weights.hdf5")),  # which are written last
        extra="elmo",
    ),
    "word2vec": replace(STATIC, title="word2vec"),
}


def embedder_kind(name: str) -> EmbedderKind:
    """The kind of embeddings with this name. Raises InputError for an unknown name."""
    check_choice("embeddings.name", name, EMBEDDERS)
    return EMBEDDERS[name]


def read_embeddings(name: str) -> dict[str, Any]:
    """The content of the embeddings file with this name or path. Embeddings without a file have the defaults of their kind."""
    folder = shipped("configs") / "embeddings"
    if name in EMBEDDERS and not (folder / f"{name}.yaml").is_file():
        return {"name": name}
    content = read_yaml(path := find_yaml("embeddings", name, folder))
    if "name" not in content:
        raise InputError(f"is missing; give one of {', '.join(EMBEDDERS)}", path=path, key="name")
    return {**content, "name": str(content["name"])}
