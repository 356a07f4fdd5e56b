"""Where word vectors come from: a recipe a file in embeddings/."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from omegaconf import MISSING, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.config import data_dir, find_yaml, load_config, parse_overrides, shipped
from mtl.errors import InputError


@dataclass
class Recipe:
    """Vectors that can be had: fetched from `url`, or trained on a suite's training text with the settings of `train`."""

    name: str = ""
    embeddings: str = MISSING  # what reads them: fasttext
    title: str = ""
    file: str = MISSING  # in the folder of embeddings
    source: str | None = None
    license: str | None = None
    url: str | None = None  # of the file, or of the file with .gz
    size: int | None = None
    sha256: str | None = None
    train: dict[str, Any] = field(default_factory=dict)


def load_recipe(name: str) -> Recipe:
    """The recipe of this name, or at this path. Raises InputError."""
    path = find_yaml("recipe", name, shipped("embeddings"))
    try:
        recipe = cast(Recipe, OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(Recipe), OmegaConf.load(path))))
    except OmegaConfBaseException as error:
        raise InputError(f"{path}: {error.full_key}: {str(error).splitlines()[0]}") from None
    recipe.name = path.stem
    return recipe


def fetch(embeddings: str, settings: Sequence[str]) -> Path:
    """Download the vectors of a recipe and say where they are. Raises InputError.

    settings: recipe=NAME, embeddings_dir=FOLDER.
    """
    from mtl.data.download import download, gunzip

    given = {"recipe": f"{embeddings}-pl", "embeddings_dir": "embeddings", **parse_overrides(settings)}
    _known(given, {"recipe", "embeddings_dir"})
    recipe = load_recipe(str(given["recipe"]))
    if recipe.url is None:
        raise InputError(f"recipe={recipe.name}: names no address to fetch from")
    path = Path(str(given["embeddings_dir"])) / recipe.file
    if path.exists():
        return path
    packed = recipe.url.endswith(".gz") and path.suffix != ".gz"
    archive = path.with_name(path.name + ".gz") if packed else path
    download(recipe.url, archive, recipe.sha256, recipe.size)
    if packed:
        gunzip(archive, path)
        archive.unlink()
    return path


def train(embeddings: str, settings: Sequence[str]) -> Path:
    """Train vectors on text files or on a suite's training text and say where they are. Raises InputError.

    settings: out=FILE; texts=[FILE, …], or suite=NAME with data_dir=FOLDER; language=CODE of the tokenizer; and the
    fields of `mtl.embedders.fasttext.FastTextTraining`.
    """
    from mtl.data.dataset import load_dataset
    from mtl.data.text import moses
    from mtl.embedders.fasttext import FastTextTraining, tokenized_lines, train_fasttext

    given = parse_overrides(settings)
    own = {name: given.pop(name, None) for name in ("out", "texts", "language", "suite", "data_dir")}
    schema = OmegaConf.structured(FastTextTraining)
    _known({**given}, set(schema))
    try:
        training = cast(FastTextTraining, OmegaConf.to_object(OmegaConf.merge(schema, given)))
    except OmegaConfBaseException as error:
        raise InputError(f"{error.full_key}={given.get(str(error.full_key))}: {str(error).splitlines()[0]}") from None
    if wrong := [
        key for key, value in vars(training).items() if value < (key in ("dim", "epochs", "min_count", "window"))
    ]:
        raise InputError(f"{wrong[0]}={given[wrong[0]]}: too small")
    if (own["texts"] is None) == (own["suite"] is None):
        raise InputError("embeddings train: name what to train on: texts=[FILE,…] or suite=NAME")
    if own["texts"] is not None:
        if own["out"] is None:
            raise InputError("embeddings train: name the file to write: out=FILE.bin")
        files = own["texts"] if isinstance(own["texts"], list) else [own["texts"]]
        lines: Iterable[Sequence[str]] = tokenized_lines(
            [Path(str(f)) for f in files], moses(str(own["language"] or "pl"))
        )
    else:
        config, suite = load_config(
            [f"suite={own['suite']}", *([f"data_dir={own['data_dir']}"] if own["data_dir"] else [])]
        )
        dataset = load_dataset(suite, suite.choose(None), data_dir(config, suite), config.max_length, config.held_out)
        lines = (dataset.texts.words(text) for text in dataset.distinct_texts("train"))
    path = Path(str(own["out"] or f"embeddings/{own['suite']}.bin"))
    train_fasttext(lines, path, training)
    return path


def _known(given: dict[str, Any], keys: set[str]) -> None:
    if unknown := sorted(set(given) - keys):
        raise InputError(f"unknown key {unknown[0]!r}; known keys: {', '.join(sorted(keys))}")


def vector_file(named: str, embeddings_dir: Path) -> tuple[Path, Recipe | None]:
    """The file that a path or a recipe's name means, and the recipe if it is one. The file need not be there."""
    if Path(named).exists() or Path(named).suffix in (".bin", ".vec", ".gz", ".kv") or "/" in named:
        return Path(named), None
    recipe = load_recipe(named)
    return embeddings_dir / recipe.file, recipe
