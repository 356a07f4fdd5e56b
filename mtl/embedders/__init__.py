"""The one thing that differs between the rows of Table 3: texts in, vectors of their tokens out."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from mtl.config.load import Config, data_dir
from mtl.embedders.recipes import Recipe, is_there, vector_file
from mtl.errors import InputError
from mtl.tasks.suite import Suite

if TYPE_CHECKING:
    import torch

    from mtl.data.dataset import Dataset
    from mtl.data.text import Texts
    from mtl.embedders.coverage import Coverage
    from mtl.embedders.elmo.embeddings import ElmoEmbedder
    from mtl.embedders.words import WordEmbedder
    from mtl.training.batches import Table


Embedder: TypeAlias = "WordEmbedder | ElmoEmbedder"

logger = logging.getLogger("mtl")


class Embeddings(Protocol):
    """What a run knows of its embeddings; each seed makes an embedder of its own from them."""

    @property
    def dim(self) -> int:
        """Numbers in a token's vector."""

    @property
    def coverage(self) -> "Coverage":
        """How much of the suite's texts they know."""

    def fingerprint(self) -> str:
        """A hash of whatever their vectors follow from."""

    def embedder(self) -> Embedder:
        """A new module: what `table` gathers (batch, time, …) -> (batch, time, dim)."""

    def table(self, texts: "Texts") -> "Table":
        """The texts as the embedder reads them."""

    def live(self, texts: "Texts") -> "Table":
        """The same for texts that come later: nothing is kept."""

    def parameters(self) -> int:
        """Numbers that the vectors follow from, trained or not."""

    def to(self, device: "torch.device") -> None:
        """Compute there whatever takes more than looking up."""


def build_embeddings(config: Config, suite: Suite, dataset: "Dataset", device: "torch.device") -> Embeddings:
    """The embeddings that the configuration names, for the dataset's texts. Raises InputError.

    device: where to compute vectors that take more than looking up.
    """
    settings = config.embeddings
    trainable = bool(settings.trainable)
    if settings.name == "random":
        from mtl.embedders.random import random_embeddings

        assert settings.dim is not None and settings.min_count is not None and settings.init_std is not None
        return random_embeddings(dataset, settings.dim, settings.min_count, settings.init_std, trainable)
    path = _vectors(config, suite, device)
    if settings.name == "fasttext":
        from mtl.embedders.fasttext import fasttext_embeddings

        assert settings.min_count is not None
        return fasttext_embeddings(dataset, path, settings.dim, settings.min_count, trainable)
    from mtl.embedders.elmo.embeddings import elmo_embeddings

    assert settings.precision is not None and settings.exact is not None
    cache_dir = Path(config.cache_dir) if settings.cache else None
    return elmo_embeddings(path, settings.precision, settings.exact, cache_dir, device, dataset.texts)


def find_vectors(config: Config, suite: Suite) -> tuple[Path, Recipe | None]:
    """The file or folder that the configuration or the suite names, there or not, and its recipe if it has one."""
    name = config.embeddings.name
    named = config.embeddings.path or suite.embeddings.get(name)
    if named is None:
        raise InputError(f"embeddings.path: suite {suite.name} names no {name} vectors; set embeddings.path=PATH")
    return vector_file(named, Path(config.embeddings_dir), config.held_out)


def _vectors(config: Config, suite: Suite, device: "torch.device") -> Path:
    """The vectors' file or folder, trained first where its recipe says how. Raises InputError that says how to get it."""
    path, recipe = obtainable_vectors(config, suite)
    data = data_dir(config, suite)
    if recipe is not None:
        from mtl.embedders.train import train_recipe

        logger.info("training %s on the suite's training text", path)
        train_recipe(recipe, suite, data, config.held_out, path, device)
        return path
    _, recipe = find_vectors(config, suite)
    if recipe is not None and recipe.train and not recipe.url:
        from mtl.embedders.train import check_recipe

        check_recipe(suite, data, config.held_out, path)
    return path


def obtainable_vectors(config: Config, suite: Suite) -> tuple[Path, Recipe | None]:
    """The vectors' file or folder, and the recipe to train it by if it is not there yet.

    Raises InputError that says how to get it where it is neither there nor can be trained.
    """
    name = config.embeddings.name
    path, recipe = find_vectors(config, suite)
    if is_there(path, name):
        return path, None
    if recipe is not None and recipe.embeddings != name:
        raise InputError(f"embeddings.path={recipe.name}: a recipe for {recipe.embeddings} embeddings, not for {name}")
    if recipe is not None and recipe.train:
        return path, recipe
    if name == "elmo" and path.is_file():
        raise InputError(f"{path}: is a file; embeddings.path must name the folder that holds the ELMo's files")
    remedies = [f"fetch them: mtl embeddings fetch {name} recipe={recipe.name}"] if recipe and recipe.url else []
    if recipe and not recipe.url and recipe.source:
        remedies.append(f"get them from {recipe.source}")
    remedies += [
        f"train your own: mtl embeddings train {name} texts=[FILE] out={path}",
        "or set embeddings.path=PATH",
    ]
    raise InputError(f"{path}: no such vectors; {'; '.join(remedies)}")
