"""The one thing that differs between the rows of Table 3: words in, vectors out."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from mtl.config import EmbeddingsConfig
from mtl.embedders.recipes import Recipe, vector_file
from mtl.errors import InputError
from mtl.suite import Suite

if TYPE_CHECKING:
    from mtl.data.dataset import Dataset
    from mtl.embedders.words import WordEmbeddings

logger = logging.getLogger("mtl")


def build_embeddings(
    config: EmbeddingsConfig, suite: Suite, dataset: "Dataset", embeddings_dir: Path
) -> "WordEmbeddings":
    """The embeddings that the configuration names, for the dataset's words. Raises InputError."""
    from mtl.embedders.fasttext import fasttext_embeddings
    from mtl.embedders.random import random_embeddings

    if config.name == "random":
        assert config.dim is not None and config.min_count is not None and config.init_std is not None
        return random_embeddings(dataset, config.dim, config.min_count, config.init_std)
    assert config.min_count is not None
    return fasttext_embeddings(dataset, _vectors(config, suite, dataset, embeddings_dir), config.dim, config.min_count)


def find_vectors(config: EmbeddingsConfig, suite: Suite, embeddings_dir: Path) -> tuple[Path, Recipe | None]:
    """The vector file that the configuration or the suite names, there or not, and its recipe if it has one."""
    named = config.path or suite.embeddings.get(config.name)
    if named is None:
        raise InputError(
            f"embeddings.path: suite {suite.name} names no {config.name} vectors; set embeddings.path=FILE"
        )
    return vector_file(named, embeddings_dir)


def _vectors(config: EmbeddingsConfig, suite: Suite, dataset: "Dataset", embeddings_dir: Path) -> Path:
    """The vector file, trained first where its recipe says how. Raises InputError that says how to get it."""
    path, recipe = find_vectors(config, suite, embeddings_dir)
    if path.exists():
        return path
    if recipe is not None and recipe.train:
        from mtl.embedders.fasttext import FastTextTraining, train_fasttext

        logger.info("training %s on the suite's training text", path)
        lines = (dataset.texts.words(text) for text in dataset.distinct_texts("train"))
        train_fasttext(lines, path, FastTextTraining(**recipe.train))
        return path
    remedies = [f"fetch them: mtl embeddings fetch {config.name} recipe={recipe.name}"] if recipe and recipe.url else []
    remedies += [
        f"train your own: mtl embeddings train {config.name} texts=[FILE] out={path}",
        "or set embeddings.path=FILE",
    ]
    raise InputError(f"{path}: no such vectors; {'; '.join(remedies)}")
