"""Recipes, the files in embeddings/: an address to download vectors from, or settings with which a wing trains them (`mtl.base.wings.Trainings`)."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.settings.layers import find_yaml, shipped
from mtl.base.typed import typed
from mtl.base.untrusted import is_inside, is_web_address
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.hashes import fingerprints
from mtl.data.held_out import FORMAT as HELD_OUT_FORMAT
from mtl.data.present_files import present_tasks
from mtl.data.text import moses_version
from mtl.tasks.sources import is_sha256
from mtl.tasks.suite import Suite

VECTOR_SUFFIXES = (".bin", ".vec", ".txt", ".gz", ".zip", ".kv")  # a name with one of them is a path, not a recipe
PLAIN_HELD_OUT = 0.1  # the default share (configs/baseline.yaml): vectors trained with it have the recipe's file name


@dataclass
class Recipe:
    """How to get vectors: download them from `url`, or train them on a suite's training text with the settings in `train`."""

    name: str = ""  # of its file, without .yaml; `load_recipe` sets it
    embeddings: str = field(kw_only=True)  # the kind of embeddings that uses them, such as fasttext
    title: str = ""
    file: str = field(kw_only=True)  # the file (for elmo, the folder) in the folder of embeddings
    source: str | None = None  # where a person finds them: the publisher's page or archive
    license: str | None = None
    url: str | None = None  # of the file, or of the file with .gz
    size: int | None = None
    sha256: str | None = None
    train: dict[str, Any] = field(default_factory=dict)


def load_recipe(name: str) -> Recipe:
    """The recipe with this name or path. Raises InputError if there is none or it is not valid."""
    path = find_yaml("recipe", name, shipped("embeddings"))
    recipe = typed(Recipe, read_yaml(path), path=path)
    if not is_inside(recipe.file):
        problem = "must be a path below the folder of embeddings, without '..'"
        raise InputError(f"{recipe.file!r} {problem}", path=path, key="file")
    if recipe.url is not None and not is_web_address(recipe.url):
        raise InputError(f"{recipe.url!r} must begin with https:// or http://", path=path, key="url")
    if recipe.sha256 is not None and not is_sha256(recipe.sha256):
        raise InputError(f"{recipe.sha256!r} must have 64 hexadecimal digits", path=path, key="sha256")
    recipe.name = path.stem
    return recipe


def published_recipes(embeddings: str) -> list[str]:
    """The names of the recipes that say where vectors for this kind of embeddings are published, sorted. Some have no `url` to download from."""
    recipes = [load_recipe(file.stem) for file in sorted(shipped("embeddings").glob("*.yaml"))]
    return [recipe.name for recipe in recipes if recipe.embeddings == embeddings and recipe.source]


def fetch_embeddings(embeddings: str, recipe: str | None = None, embeddings_dir: str = "embeddings") -> Path:
    """Download the pretrained vectors of a recipe, unless they are there, and return their path. Raises InputError if there is no such recipe, if it
    is for other embeddings or names no address, or if the download fails. `embeddings` is their kind, such as fasttext. The recipe is a name or a
    path; None: the first recipe of published vectors of this kind, by its name. `embeddings_dir` is the folder that receives the file."""
    if recipe is None:
        if not (names := published_recipes(embeddings)):
            message = f"no recipe says where to download {embeddings} embeddings; name your own: recipe=PATH"
            raise InputError(f"embeddings fetch: {message}")
        recipe = names[0]
        logger.info("recipe=%s", recipe)
    chosen = load_recipe(recipe)
    if chosen.embeddings != embeddings:
        raise InputError(f"for {chosen.embeddings} embeddings, not for {embeddings}", key="recipe", value=chosen.name)
    path = Path(embeddings_dir) / chosen.file
    if path.exists():
        return path
    if chosen.url is None:
        by_hand = f"; get {chosen.title} from {chosen.source}, and put it at {path}" if chosen.source else ""
        raise InputError(f"names no address to download from{by_hand}", key="recipe", value=chosen.name)
    from mtl.data.fetching.archives import gunzip
    from mtl.data.fetching.download import download

    packed = chosen.url.endswith(".gz") and path.suffix != ".gz"
    archive = path.with_name(path.name + ".gz") if packed else path
    download(chosen.url, archive, chosen.sha256, chosen.size)
    if packed:
        gunzip(archive, path)
        archive.unlink()
    return path


def vector_path(name: str, embeddings_dir: Path, held_out: float) -> tuple[Path, Recipe | None]:
    """The file or folder, which need not exist, that a path or a recipe's name means, and the recipe. Trained ones differ by the share held out."""
    if Path(name).exists() or Path(name).suffix in VECTOR_SUFFIXES or "/" in name:
        return Path(name), None
    recipe = load_recipe(name)
    path = embeddings_dir / recipe.file
    if recipe.train and not recipe.url and held_out != PLAIN_HELD_OUT:
        path = path.with_name(f"{path.stem}-held-out-{held_out:g}{path.suffix}")
    return path, recipe


def texts_note_path(path: Path) -> Path:
    """The note beside the vectors at `path`, whose first line is the fingerprint of the texts that they were trained on."""
    return path.with_name(f"{path.name}.source")


def noted_fingerprint(path: Path) -> str | None:
    """The fingerprint of the texts that the vectors at `path` were trained on; None without a note."""
    note = texts_note_path(path)
    return note.read_text(encoding="utf-8").partition("\n")[0].strip() if note.is_file() else None


def check_trained_on(suite: Suite, data_dir: Path, held_out: float, path: Path) -> None:
    """Raise InputError unless the vectors at `path` were trained on the texts that a recipe would train on now."""
    if noted_fingerprint(path) != suite_fingerprint(suite, data_dir, held_out):
        changed = "the data, the choice of held-out rows or the tokenizer has changed"
        remedy = "remove it, and the same command trains it again"
        raise InputError(f"was trained on other texts than the present training rows: {changed}; {remedy}", path=path)


def suite_fingerprint(suite: Suite, data_dir: Path, held_out: float) -> str:
    """The fingerprint of a suite's training texts: a hash of the data, its declaration, the rule for held-out rows, and the tokenizer."""
    data = fingerprints(suite, present_tasks(suite, data_dir), data_dir)
    return hashlib.sha256(repr((sorted(data.items()), held_out, HELD_OUT_FORMAT, moses_version())).encode()).hexdigest()
