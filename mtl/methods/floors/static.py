"""Texts as means of static vectors, with a linear model or a small network on top: what most users try before an LSTM."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.embedders import EMBEDDERS
from mtl.embedders.find import check_obtainable, obtain_vectors, vector_sources
from mtl.methods.floors.features import Document
from mtl.methods.floors.floor import Floor
from mtl.methods.floors.token_vectors import (
    TextVectors,
    TokenVectors,
    WordFile,
    is_model2vec,
    open_input_embeddings,
    open_model2vec,
)
from mtl.methods.method import BuildRequest
from mtl.methods.transformer.entry import short_name
from mtl.settings.schema import Config
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


def title(config: Config) -> str:
    """As in "Static vectors, fastText"."""
    path = config.static.path
    return f"Static vectors, {EMBEDDERS[config.embeddings.name].title if path is None else short_name(path)}"


def folder(config: Config) -> str:
    """As in "static-fasttext"."""
    path = config.static.path
    return f"static-{config.embeddings.name if path is None else short_name(path)}"


def describe(config: Config) -> dict[str, str]:
    """The name of the word vectors, if it reads any."""
    return {"embeddings": config.embeddings.name} if config.static.path is None else {}


def unread(config: Config) -> tuple[str, ...]:
    """With subwords, the settings of word vectors."""
    return ("embeddings", "embeddings_dir", "embeddings.path") if config.static.path is not None else ()


def check(config: Config, suite: Suite) -> None:
    """Raise InputError for embeddings that are not a file of word vectors, and for vectors that cannot be had."""
    path = config.static.path
    if path is not None:
        from mtl.methods.transformer.pretrained import check_place

        check_installed("transformers", key="static.path", value=path)
        check_place("static.path", path)
        return
    files = EMBEDDERS[config.embeddings.name].files
    if files is None or not files.by_word:
        names = [name for name, kind in EMBEDDERS.items() if kind.files is not None and kind.files.by_word]
        raise InputError(
            f"method static reads a file of word vectors, or static.path=FOLDER of a transformer; set embeddings={' or '.join(names)}",
            key="embeddings",
            value=config.embeddings.name,
        )
    check_obtainable(config, suite)


def sources(config: Config, suite: Suite) -> list[Path]:
    """The file of the word vectors, or the folder of the transformer."""
    path = config.static.path
    if path is None:
        return vector_sources(config, suite)
    return [Path(path)] if Path(path).is_dir() else []


class StaticFloor(Floor):
    """`mtl.methods.method.Method` of static vectors: a floor whose features are means of vectors."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError as `check`, and for vectors that cannot be read."""
        check(request.config, request.suite)
        super().__init__(request)
        source = _open_source(request)
        self._vectors = TextVectors(source, request.config.static.weighting)
        documents = [Document(text, self.texts.words(number)) for number, text in enumerate(request.dataset.texts)]
        self._vectors.learn(documents, request.dataset.distinct_texts("train"))
        self.fingerprints |= source.fingerprints()
        self.embedding_parameters = source.size

    def new_features(self, task: Task, vectorizer: str | None) -> "StaticFeatures":
        return StaticFeatures(self._vectors)


def _open_source(request: BuildRequest) -> TokenVectors:
    config = request.config
    path = config.static.path
    if path is None:
        file = obtain_vectors(config, request.suite, request.data_dir, torch.device("cpu"))
        return WordFile(file)
    most = config.max_length
    return open_model2vec(Path(path), most) if is_model2vec(Path(path)) else open_input_embeddings(path, most)


class StaticFeatures:
    """The features of rows: u for a text; [u, v, |u - v|, u * v] for a pair (Conneau et al. 2017, as in jiant's classifiers).

    Args:
        vectors: of the rows' texts.
    """

    problem = "its training texts are empty"

    def __init__(self, vectors: TextVectors) -> None:
        self._vectors = vectors

    def fit(self, rows: Sequence[Sequence[Document]]) -> np.ndarray:
        """The features of training rows: nothing is learned from them."""
        return self.transform(rows)

    def transform(self, rows: Sequence[Sequence[Document]]) -> np.ndarray:
        """The features of rows, float32 (rows, features)."""
        sides = [self._vectors.encode(side) for side in zip(*rows, strict=True)]
        if len(sides) == 1:
            return sides[0]
        first, second = sides
        return np.concatenate([first, second, abs(first - second), first * second], axis=1)
