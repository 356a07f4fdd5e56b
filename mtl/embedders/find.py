"""The embeddings that a configuration names: their options, and where their vectors are."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.typed import typed
from mtl.base.untrusted_yaml import read_yaml
from mtl.embedders import EMBEDDERS, embedder_kind
from mtl.embedders.interface import Embeddings, EmbeddingsRequest
from mtl.embedders.recipes import Recipe, check_recipe, fetchable, train_recipe, vector_path
from mtl.settings.layers import find_yaml, shipped
from mtl.settings.schema import Config, EmbedderOptions
from mtl.tasks.suite import Suite

if TYPE_CHECKING:
    import numpy as np
    import torch

    from mtl.data.text import TokenizedTexts


def read_embeddings(name: str) -> dict[str, Any]:
    """The content of the embeddings file with this name or path. Embeddings without a file have the defaults of their kind."""
    folder = shipped("configs") / "embeddings"
    if name in EMBEDDERS and not (folder / f"{name}.yaml").is_file():
        return {"name": name}
    content = read_yaml(find_yaml("embeddings", name, folder))
    return {**content, "name": str(content.get("name"))}


def embedder_options(name: str, given: Mapping[str, Any]) -> EmbedderOptions:
    """The options of embeddings without a run. Raises InputError for an unknown name or key, and a bad value.

    Args:
        name: the name or path of an embeddings file.
        given: keys of `embeddings.` that override those of the file.
    """
    content = read_embeddings(name)
    content.pop("config", None)  # for runs
    return typed(embedder_kind(content["name"]).options, {**content, **given}, "embeddings.")


def build_embeddings(
    config: Config,
    suite: Suite,
    data_dir: Path,
    texts: "TokenizedTexts",
    training_texts: "np.ndarray",
    device: "torch.device",
) -> Embeddings:
    """The embeddings that the configuration names. Raises InputError if their vectors cannot be found or trained.

    Args:
        config, suite, data_dir: of the run.
        texts: the dataset's texts.
        training_texts: int64 (texts,), the indices of the texts that occur in training rows.
        device: where to compute vectors that are not only looked up.
    """
    kind = EMBEDDERS[config.embeddings.name]
    path = None if kind.files is None else obtain_vectors(config, suite, data_dir, device)
    return kind.build(EmbeddingsRequest(config.embeddings, texts, training_texts, path, Path(config.cache_dir), device))


def obtain_vectors(config: Config, suite: Suite, data_dir: Path, device: "torch.device") -> Path:
    """The file or folder of the vectors, trained first if necessary. Raises InputError as `check_obtainable` does."""
    to_train = check_obtainable(config, suite)
    path, recipe = find_vectors(config, suite)
    assert path is not None
    if to_train is not None:
        train_recipe(to_train, suite, data_dir, config.held_out, path, device)
    if recipe is not None and recipe.train and not recipe.url:
        check_recipe(suite, data_dir, config.held_out, path)
    return path


def check_obtainable(config: Config, suite: Suite) -> Recipe | None:
    """Raise InputError, which says how to get the vectors, if they do not exist and cannot be trained.

    Returns:
        the recipe to train them with if they do not exist yet, else None.
    """
    name = config.embeddings.name
    EMBEDDERS[name].check_installed(name)
    path, recipe = find_vectors(config, suite)
    files = EMBEDDERS[name].files
    if path is None or files is None or files.exists(path):
        return None
    if recipe is not None and recipe.embeddings != name:
        message = f"a recipe for {recipe.embeddings} embeddings, not for {name}"
        raise InputError(message, key="embeddings.path", value=recipe.name)
    if recipe is not None and recipe.train and files.training is not None:
        check_installed(files.training.extra, key="embeddings.path", value=recipe.name)
        return recipe
    if problem := files.problem(path):
        raise InputError(problem, path=path)
    remedies = [f"fetch them: mtl embeddings fetch {name} recipe={recipe.name}"] if recipe and recipe.url else []
    if recipe and not recipe.url and recipe.source:
        remedies.append(f"get them from {recipe.source}")
    if files.training is not None:
        remedies.append(f"train your own: mtl embeddings train {name} texts=[FILE] out={path}")
    remedies.append("or set embeddings.path=PATH" if remedies else "check embeddings.path")
    raise InputError(f"no such vectors; {'; '.join(remedies)}", path=path)


def find_vectors(config: Config, suite: Suite) -> tuple[Path | None, Recipe | None]:
    """The file or folder of vectors that the configuration or the suite names, and its recipe, if any. The file need not exist.

    (None, None) for a kind of embeddings that needs no file. Raises InputError if no vectors are named.
    """
    name = config.embeddings.name
    if EMBEDDERS[name].files is None:
        return None, None
    vectors = getattr(config.embeddings, "path", None) or suite.embeddings.get(name)
    if vectors is None:
        recipes = "".join(f" or embeddings.path={recipe}" for recipe in fetchable(name))
        message = f"suite {suite.name} names no {name} vectors; set embeddings.path=PATH{recipes}"
        raise InputError(message, key="embeddings.path")
    return vector_path(vectors, Path(config.embeddings_dir), config.held_out)


def vector_sources(config: Config, suite: Suite) -> list[Path]:
    """The file or folder of vectors that the configuration or the suite names; empty if there is none."""
    try:
        path, _ = find_vectors(config, suite)
    except InputError:
        return []
    return [] if path is None else [path]
