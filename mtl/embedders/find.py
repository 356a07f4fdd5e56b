"""The embeddings that a configuration names: their options, where their vectors are, and how they are trained if they do not exist."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.settings.schema import Config
from mtl.base.wings import Trainings, hook
from mtl.embedders import EMBEDDERS
from mtl.embedders.recipes import Recipe, check_trained_on, published_recipes, vector_path
from mtl.tasks.suite import Suite

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Vectors:
    """The word vectors of a run. The path need not exist: vectors of a recipe may be trained first."""

    embeddings: str  # the kind of embeddings, a key of EMBEDDERS, that reads a file
    path: Path  # their file or folder
    recipe: Recipe | None  # what names them, if it is a recipe

    @property
    def exist(self) -> bool:
        """Whether the path has complete vectors."""
        exists = EMBEDDERS[self.embeddings].exists
        assert exists is not None
        return exists(self.path)

    def check_obtainable(self) -> None:
        """Raise InputError, which says how to get the vectors, if they do not exist and cannot be trained, and for a missing package."""
        name, recipe = self.embeddings, self.recipe
        EMBEDDERS[name].check_installed(name)
        if self.exist:
            return
        if recipe is not None and recipe.embeddings != name:
            message = f"a recipe for {recipe.embeddings} embeddings, not for {name}"
            raise InputError(message, key="embeddings.path", value=recipe.name)
        trainings: Trainings | None = hook("trainings")
        extra = None if trainings is None else trainings.extras.get(name)  # that the training of such vectors needs
        if recipe is None or not recipe.train or extra is None:
            raise InputError(f"no such vectors; {'; '.join(self._remedies(extra is not None))}", path=self.path)
        check_installed(extra, key="embeddings.path", value=recipe.name)

    def _remedies(self, is_trainable: bool) -> list[str]:
        """How a user can get the vectors, where a run does not train them."""
        name, recipe, remedies = self.embeddings, self.recipe, list[str]()
        if recipe is not None and (recipe.url or recipe.source):
            fetch = f"fetch them: mtl embeddings fetch {name} recipe={recipe.name}"
            remedies.append(fetch if recipe.url else f"get them from {recipe.source}")
        if is_trainable:
            remedies.append(f"train your own: mtl embeddings train {name} texts=[FILE] out={self.path}")
        return [*remedies, "or set embeddings.path=PATH" if remedies else "check embeddings.path"]

    def train_if_missing(self, suite: Suite, data_dir: Path, held_out: float, device: "torch.device") -> None:
        """Train a run's vectors as their recipe says, if they do not exist. Raises InputError if this fails, and for vectors of other texts."""
        recipe = self.recipe
        if recipe is None or not recipe.train:
            return
        if not self.exist:
            trainings: Trainings = hook("trainings")  # a wing has this hook, as `check_obtainable` found
            trainings.train_recipe(recipe, suite, data_dir, held_out, self.path, device)
        if not recipe.url:
            check_trained_on(suite, data_dir, held_out, self.path)


def find_vectors(config: Config, suite: Suite) -> Vectors | None:
    """The word vectors that the configuration or the suite names; None for embeddings without a file. Raises InputError if none are named."""
    name = config.embeddings.name
    if EMBEDDERS[name].exists is None:
        return None
    vectors = getattr(config.embeddings, "path", None) or suite.embeddings.get(name)
    if vectors is None:
        recipes = "".join(f" or embeddings.path={recipe}" for recipe in published_recipes(name))
        message = f"suite {suite.name} names no {name} vectors; set embeddings.path=PATH{recipes}"
        raise InputError(message, key="embeddings.path")
    return Vectors(name, *vector_path(vectors, Path(config.embeddings_dir), config.held_out))


def check_word_file(config: Config) -> None:
    """Raise InputError for a method that reads a file of word vectors, and embeddings that are not read from one."""
    by_word = [name for name, kind in EMBEDDERS.items() if kind.by_word]
    if config.embeddings.name not in by_word:
        message = f"method {config.method} reads a file of word vectors; set embeddings={' or '.join(by_word)}"
        raise InputError(message, key="embeddings", value=config.embeddings.name)


def check_dim(path: Path, dim: int, wanted: int | None) -> None:
    """Raise InputError for vectors of another size than `embeddings.dim` wants."""
    if wanted is not None and wanted != dim:
        message = f"has vectors of {dim} numbers, but embeddings.dim={wanted}; drop embeddings.dim or set it to {dim}"
        raise InputError(message, path=path)
