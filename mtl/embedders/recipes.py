"""Where word vectors come from: a recipe a file in embeddings/."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from omegaconf import MISSING, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.config import data_dir, find_yaml, load_config, parse_overrides, shipped
from mtl.errors import InputError
from mtl.files import sha256

if TYPE_CHECKING:
    from mtl.data.dataset import Dataset
    from mtl.embedders.elmo.training import ELMoTraining
    from mtl.embedders.fasttext import FastTextTraining

# What an embedding trained on a suite is called, after the suite.
SUFFIXES = {"fasttext": ".bin", "elmo": "-elmo"}


@dataclass
class Recipe:
    """Vectors that can be had: fetched from `url`, or trained on a suite's training text with the settings of `train`."""

    name: str = ""
    embeddings: str = MISSING  # what reads them: fasttext or elmo
    title: str = ""
    file: str = MISSING  # in the folder of embeddings; for elmo a folder
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

    settings: out=PATH; texts=[FILE, …], or suite=NAME with data_dir=FOLDER; language=CODE of the tokenizer; and the
    fields of `mtl.embedders.fasttext.FastTextTraining` or `mtl.embedders.elmo.training.ELMoTraining`.
    """
    from mtl.data.dataset import load_dataset
    from mtl.data.text import moses, tokenized_lines

    given = parse_overrides(settings)
    own = {name: given.pop(name, None) for name in ("out", "texts", "language", "suite", "data_dir")}
    if (own["texts"] is None) == (own["suite"] is None):
        raise InputError("embeddings train: name what to train on: texts=[FILE,…] or suite=NAME")
    training = _training(embeddings, given)
    if own["texts"] is not None:
        if own["out"] is None:
            raise InputError("embeddings train: name what to write: out=PATH")
        files = [Path(str(file)) for file in (own["texts"] if isinstance(own["texts"], list) else [own["texts"]])]
        if missing := [file for file in files if not file.is_file()]:
            raise InputError(f"{missing[0]}: no such file")
        language = str(own["language"] or "pl")
        lines: Iterable[Sequence[str]] = tokenized_lines(files, moses(language))
        source = f"{language} {' '.join(map(sha256, files))}"
    else:
        config, suite = load_config(
            [f"suite={own['suite']}", *([f"data_dir={own['data_dir']}"] if own["data_dir"] else [])]
        )
        dataset = load_dataset(suite, suite.choose(None), data_dir(config, suite), config.max_length, config.held_out)
        lines, source = _training_text(dataset)
    path = Path(str(own["out"] or f"embeddings/{own['suite']}{SUFFIXES[embeddings]}"))
    _train(lines, source, path, training)
    return path


def train_recipe(recipe: Recipe, dataset: "Dataset", path: Path) -> None:
    """Train what a recipe says on the dataset's training text. Raises InputError."""
    lines, source = _training_text(dataset)
    _train(lines, source, path, _training(recipe.embeddings, recipe.train))


def _training(embeddings: str, given: dict[str, Any]) -> "FastTextTraining | ELMoTraining":
    """The settings of a training. Raises InputError for an unknown key or a value that makes no sense."""
    if embeddings == "fasttext":
        from mtl.embedders.fasttext import FastTextTraining as Training
    else:
        from mtl.embedders.elmo.training import ELMoTraining as Training  # type: ignore[assignment]
    schema = OmegaConf.structured(Training)
    _known(given, {str(key) for key in schema})
    try:
        training = OmegaConf.to_object(OmegaConf.merge(schema, given))
    except OmegaConfBaseException as error:
        raise InputError(f"{error.full_key}={given.get(str(error.full_key))}: {str(error).splitlines()[0]}") from None
    checked = cast("FastTextTraining | ELMoTraining", training)
    if wrong := checked.wrong():
        raise InputError(f"{wrong}={vars(checked)[wrong]}: out of range")
    return checked


def _train(
    lines: Iterable[Sequence[str]], source: str, path: Path, training: "FastTextTraining | ELMoTraining"
) -> None:
    from mtl.embedders.fasttext import FastTextTraining, train_fasttext

    if isinstance(training, FastTextTraining):
        train_fasttext(lines, path, training)
    else:
        from mtl.embedders.elmo.training import train_elmo

        train_elmo(lines, path, training, source)


def _training_text(dataset: "Dataset") -> tuple[Iterable[Sequence[str]], str]:
    """The distinct training texts of a suite as lines of tokens, and what names them."""
    lines = (dataset.texts.words(text) for text in dataset.distinct_texts("train"))
    return lines, hashlib.sha256(repr(sorted(dataset.fingerprints.items())).encode()).hexdigest()


def is_there(path: Path, embeddings: str) -> bool:
    """Whether the file or folder of these embeddings is there and whole."""
    return any(path.glob("*weights.hdf5")) if embeddings == "elmo" else path.exists()


def _known(given: dict[str, Any], keys: set[str]) -> None:
    if unknown := sorted(set(given) - keys):
        raise InputError(f"unknown key {unknown[0]!r}; known keys: {', '.join(sorted(keys))}")


def vector_file(named: str, embeddings_dir: Path) -> tuple[Path, Recipe | None]:
    """The file that a path or a recipe's name means, and the recipe if it is one. The file need not be there."""
    if Path(named).exists() or Path(named).suffix in (".bin", ".vec", ".gz", ".kv") or "/" in named:
        return Path(named), None
    recipe = load_recipe(named)
    return embeddings_dir / recipe.file, recipe
