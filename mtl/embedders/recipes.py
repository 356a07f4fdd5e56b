"""Recipes, which say where word vectors come from: one file per recipe, in embeddings/."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import MISSING

from mtl.config.files import find_yaml, shipped
from mtl.errors import InputError
from mtl.files import is_sha256
from mtl.untrusted import is_inside, is_web_address, read_yaml, typed_content

# The default share of held-out rows (configs/baseline.yaml). Vectors trained with it have the file name of the recipe.
PLAIN_HELD_OUT = 0.1


@dataclass
class Recipe:
    """How to get vectors: download them from `url`, or train them on a suite's training text with the settings in `train`."""

    name: str = ""
    embeddings: str = MISSING  # the kind of embeddings that uses them: fasttext or elmo
    title: str = ""
    file: str = MISSING  # the file (for elmo, the folder) in the folder of embeddings
    source: str | None = None
    license: str | None = None
    url: str | None = None  # of the file, or of the file with .gz
    size: int | None = None
    sha256: str | None = None
    train: dict[str, Any] = field(default_factory=dict)


def load_recipe(name: str) -> Recipe:
    """The recipe with this name or path. Raises InputError if there is none or it is not valid."""
    path = find_yaml("recipe", name, shipped("embeddings"))
    recipe = typed_content(Recipe, read_yaml(path), path, "recipe")
    if not is_inside(recipe.file):
        raise InputError(f"{path}: file: {recipe.file!r} must be a path below the folder of embeddings, without '..'")
    if recipe.url is not None and not is_web_address(recipe.url):
        raise InputError(f"{path}: url: {recipe.url!r} must begin with https:// or http://")
    if recipe.sha256 is not None and not is_sha256(recipe.sha256):
        raise InputError(f"{path}: sha256: {recipe.sha256!r} must have 64 hexadecimal digits")
    recipe.name = path.stem
    return recipe


def fetch(recipe_name: str, embeddings_dir: Path) -> Path:
    """Download the vectors of a recipe and return their path. Raises InputError if that is not possible."""
    from mtl.data.archives import gunzip
    from mtl.data.download import download

    recipe = load_recipe(recipe_name)
    if recipe.url is None:
        raise InputError(f"recipe={recipe.name}: names no address to fetch from")
    path = embeddings_dir / recipe.file
    if path.exists():
        return path
    packed = recipe.url.endswith(".gz") and path.suffix != ".gz"
    archive = path.with_name(path.name + ".gz") if packed else path
    download(recipe.url, archive, recipe.sha256, recipe.size)
    if packed:
        gunzip(archive, path)
        archive.unlink()
    return path


def vector_file(named: str, embeddings_dir: Path, held_out: float) -> tuple[Path, Recipe | None]:
    """The file of vectors for a path or a recipe's name, and the recipe if `named` is one. The file need not exist.

    held_out: the share of training rows that are held out. Vectors that a recipe trains have a different file for each share.
    """
    if Path(named).exists() or Path(named).suffix in (".bin", ".vec", ".gz", ".kv") or "/" in named:
        return Path(named), None
    recipe = load_recipe(named)
    path = embeddings_dir / recipe.file
    return trained_file(path, held_out) if recipe.train and not recipe.url else path, recipe


def trained_file(path: Path, held_out: float) -> Path:
    """The path of vectors that are trained without this share of held-out rows; `path` itself for the default share."""
    return path if held_out == PLAIN_HELD_OUT else path.with_name(f"{path.stem}-held-out-{held_out:g}{path.suffix}")
