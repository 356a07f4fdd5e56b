"""Find the vectors of the embeddings that a configuration names, or train them by a recipe."""

from pathlib import Path
from typing import TYPE_CHECKING

from mtl.config.schema import Config
from mtl.embedders import EMBEDDERS
from mtl.embedders.kind import BuildRequest, Embeddings
from mtl.embedders.recipes import Recipe, vector_file
from mtl.errors import InputError
from mtl.tasks.suite import Suite

if TYPE_CHECKING:
    import numpy as np
    import torch

    from mtl.data.text import TokenizedTexts


def build_embeddings(
    config: Config,
    suite: Suite,
    data_dir: Path,
    texts: "TokenizedTexts",
    training_texts: "np.ndarray",
    device: "torch.device",
) -> Embeddings:
    """The embeddings that the configuration names, for these texts. Raises InputError if their vectors cannot be found or trained.

    training_texts: int64 (texts,), the indices of the texts that occur in training rows. device: where to compute vectors that are
    not only looked up.
    """
    kind = EMBEDDERS[config.embeddings.name]
    path = None if kind.files is None else obtain_vectors(config, suite, data_dir, device)
    return kind.build(BuildRequest(config.embeddings, texts, training_texts, path, Path(config.cache_dir), device))


def find_vectors(config: Config, suite: Suite) -> tuple[Path | None, Recipe | None]:
    """The file or folder of vectors that the configuration or the suite names, and its recipe, if any. The file need not exist.

    (None, None) for a kind of embeddings that needs no file. Raises InputError if no vectors are named.
    """
    name = config.embeddings.name
    if EMBEDDERS[name].files is None:
        return None, None
    named = getattr(config.embeddings, "path", None) or suite.embeddings.get(name)
    if named is None:
        raise InputError(f"embeddings.path: suite {suite.name} names no {name} vectors; set embeddings.path=PATH")
    return vector_file(named, Path(config.embeddings_dir), config.held_out)


def vector_sources(config: Config, suite: Suite) -> list[Path]:
    """The file or folder of vectors that the configuration or the suite names; empty if there is none."""
    try:
        path, _ = find_vectors(config, suite)
    except InputError:
        return []
    return [] if path is None else [path]


def check_obtainable(config: Config, suite: Suite) -> Recipe | None:
    """Raise InputError, which says how to get the vectors, if they do not exist and cannot be trained.

    Returns the recipe to train them with if they do not exist yet, else None.
    """
    name = config.embeddings.name
    path, recipe = find_vectors(config, suite)
    files = EMBEDDERS[name].files
    if path is None or files is None or files.exists(path):
        return None
    if recipe is not None and recipe.embeddings != name:
        raise InputError(f"embeddings.path={recipe.name}: a recipe for {recipe.embeddings} embeddings, not for {name}")
    if recipe is not None and recipe.train:
        return recipe
    if problem := files.problem(path):
        raise InputError(f"{path}: {problem}")
    remedies = [f"fetch them: mtl embeddings fetch {name} recipe={recipe.name}"] if recipe and recipe.url else []
    if recipe and not recipe.url and recipe.source:
        remedies.append(f"get them from {recipe.source}")
    remedies += [
        f"train your own: mtl embeddings train {name} texts=[FILE] out={path}",
        "or set embeddings.path=PATH",
    ]
    raise InputError(f"{path}: no such vectors; {'; '.join(remedies)}")


def obtain_vectors(config: Config, suite: Suite, data_dir: Path, device: "torch.device") -> Path:
    """The file or folder of the vectors, trained first if necessary. Raises InputError as `check_obtainable` does."""
    to_train = check_obtainable(config, suite)
    path, recipe = find_vectors(config, suite)
    assert path is not None
    if to_train is not None:
        from mtl.embedders.train import train_recipe

        train_recipe(to_train, suite, data_dir, config.held_out, path, device)
    if recipe is not None and recipe.train and not recipe.url:
        from mtl.embedders.train import check_recipe

        check_recipe(suite, data_dir, config.held_out, path)
    return path
