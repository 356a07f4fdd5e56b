"""Recipes, which say where vectors come from: an address to download them from, or settings to train them with.

A recipe is a file in embeddings/. Vectors can also be trained without one, on a suite's training text or on text files.
"""

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import is_sha256, sha256
from mtl.base.lazy import resolve
from mtl.base.locks import waiting_lock
from mtl.base.typed import typed
from mtl.base.untrusted import is_inside, is_web_address
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.dataset import fingerprints, present_tasks, training_texts
from mtl.data.splits import FORMAT
from mtl.data.text import moses, moses_version, tokenized, tokenized_lines
from mtl.embedders import EMBEDDERS, embedder_kind, vector_training
from mtl.embedders.interface import Training, noted_source
from mtl.settings.layers import find_yaml, shipped
from mtl.tasks.suite import Suite

if TYPE_CHECKING:
    import torch

logger = logging.getLogger("mtl")

# The default share of held-out rows (configs/baseline.yaml). Vectors trained with it have the file name of the recipe.
PLAIN_HELD_OUT = 0.1
LONGEST = 1_000_000  # tokens; a longer training text is cut
Text = tuple[Iterable[Sequence[str]], str]  # tokenized lines, and what identifies them


@dataclass
class Recipe:
    """How to get vectors: download them from `url`, or train them on a suite's training text with the settings in `train`."""

    name: str = ""
    embeddings: str = field(kw_only=True)  # the kind of embeddings that uses them: fasttext, glove or elmo
    title: str = ""
    file: str = field(kw_only=True)  # the file (for elmo, the folder) in the folder of embeddings
    source: str | None = None
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
        message = f"{recipe.file!r} must be a path below the folder of embeddings, without '..'"
        raise InputError(message, path=path, key="file")
    if recipe.url is not None and not is_web_address(recipe.url):
        raise InputError(f"{recipe.url!r} must begin with https:// or http://", path=path, key="url")
    if recipe.sha256 is not None and not is_sha256(recipe.sha256):
        raise InputError(f"{recipe.sha256!r} must have 64 hexadecimal digits", path=path, key="sha256")
    recipe.name = path.stem
    return recipe


def fetchable(embeddings: str) -> list[str]:
    """The names of the recipes that say where to download vectors for this kind of embeddings, sorted."""
    recipes = [load_recipe(file.stem) for file in sorted(shipped("embeddings").glob("*.yaml"))]
    return [recipe.name for recipe in recipes if recipe.embeddings == embeddings and recipe.url]


def fetch(recipe_name: str, embeddings_dir: Path) -> Path:
    """Download the vectors of a recipe and return their path. Raises InputError if that is not possible."""
    from mtl.data.fetching.archives import gunzip
    from mtl.data.fetching.download import download

    recipe = load_recipe(recipe_name)
    if recipe.url is None:
        raise InputError("names no address to fetch from", key="recipe", value=recipe.name)
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


def vector_path(name: str, embeddings_dir: Path, held_out: float) -> tuple[Path, Recipe | None]:
    """The file or folder of the vectors that a path or a recipe's name means, and the recipe. It need not exist.

    Vectors that a recipe trains have a different file for each share of training rows that are held out.
    """
    if Path(name).exists() or Path(name).suffix in (".bin", ".vec", ".txt", ".gz", ".zip", ".kv") or "/" in name:
        return Path(name), None
    recipe = load_recipe(name)
    path = embeddings_dir / recipe.file
    return trained_path(path, held_out) if recipe.train and not recipe.url else path, recipe


def trained_path(path: Path, held_out: float) -> Path:
    """The path of vectors that are trained without this share of held-out rows; `path` itself for the default share."""
    return path if held_out == PLAIN_HELD_OUT else path.with_name(f"{path.stem}-held-out-{held_out:g}{path.suffix}")


def training_settings(embeddings: str, values: Mapping[str, Any]) -> Training:
    """Settings to train this kind of embeddings with: these values, and else the defaults.

    Raises InputError for a kind of embeddings that cannot be trained, an unknown key, or a value that makes no sense.
    """
    embedder_kind(embeddings)
    training = vector_training(embeddings)
    if training is None:
        trained = " and ".join(name for name in EMBEDDERS if vector_training(name))
        raise InputError(f"cannot be trained; {trained} can", key="embeddings", value=embeddings)
    check_installed(training.extra, key="embeddings", value=embeddings)
    return cast(Training, typed(resolve(training.settings), values))


def train_on_files(
    training: Training, files: Sequence[Path], language: str, path: Path, device: "torch.device"
) -> None:
    """Train vectors on text files, plain or gzipped, whose language is that of the tokenizer, and write them to `path`.

    Raises InputError.
    """
    lines, source = _file_text(files, language)
    with _alone(path):
        training.train(lines, path, source, device)


def train_on_suite(
    training: Training,
    suite: Suite,
    data_dir: Path,
    held_out: float,
    path: Path,
    device: "torch.device",
    files: Sequence[Path] = (),
) -> None:
    """Train vectors on the training text of a suite, without held-out rows, and write them to `path`. Raises InputError.

    All runs on the suite that hold out this share of rows can use the vectors, with any `tasks` and `max_length`. A dev text is among
    the texts only if it also occurs in the training rows of a task. Text files, plain or gzipped, may be trained on as well; they
    come first.
    """
    with _alone(path):
        lines, source = _suite_text(suite, data_dir, held_out)
        if files:
            file_lines, file_source = _file_text(files, suite.language)
            lines, source = chain(file_lines, lines), f"{file_source} {source}"
        training.train(lines, path, source, device)


def train_recipe(
    recipe: Recipe, suite: Suite, data_dir: Path, held_out: float, path: Path, device: "torch.device"
) -> None:
    """Train the vectors of a recipe on the suite's training text, unless another process trains them. Raises InputError."""
    training, files = training_settings(recipe.embeddings, recipe.train), embedder_kind(recipe.embeddings).files
    assert files is not None
    with _alone(path):
        if not files.exists(path):
            logger.info("training %s on the suite's training text", path)
            lines, source = _suite_text(suite, data_dir, held_out)
            training.train(lines, path, source, device)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Within the block, no other process trains these vectors, and what a killed process left beside them is removed."""
    with waiting_lock(path.with_name(f".{path.name}.lock"), f"{path}: another process is training these vectors"):
        leftover = re.compile(rf"\.{re.escape(path.name)}(\.source)?\.(\w{{8}}\.txt|[0-9a-f]{{32}}\.partial)")
        for file in path.parent.iterdir():
            if leftover.fullmatch(file.name) and file.is_file():
                file.unlink()
        yield


def _file_text(files: Sequence[Path], language: str) -> Text:
    """The tokenized lines of text files, and what identifies them: their content and the tokenizer."""
    if missing := [file for file in files if not file.is_file()]:
        raise InputError("no such file", path=missing[0])
    return tokenized_lines(files, moses(language)), f"{language} {moses_version()} {' '.join(map(sha256, files))}"


def _suite_text(suite: Suite, data_dir: Path, held_out: float) -> Text:
    """The distinct training texts of all tasks that have their files, tokenized and not cut, and what identifies them."""
    texts = tokenized(training_texts(suite, data_dir, held_out), suite.language, max_length=LONGEST)
    return (texts.words(text) for text in range(len(texts))), _suite_source(suite, data_dir, held_out)


def check_recipe(suite: Suite, data_dir: Path, held_out: float, path: Path) -> None:
    """Raise InputError unless the vectors at `path` were trained on the texts that a recipe would train on now."""
    if noted_source(path) != _suite_source(suite, data_dir, held_out):
        changed = "the data, the choice of held-out rows or the tokenizer has changed"
        remedy = "remove it, and the same command trains it again"
        raise InputError(f"was trained on other texts than the present training rows: {changed}; {remedy}", path=path)


def _suite_source(suite: Suite, data_dir: Path, held_out: float) -> str:
    """A hash of the data, of its declaration in the suite, of the rule for held-out rows, and of the tokenizer."""
    marks = fingerprints(suite, present_tasks(suite, data_dir), data_dir)
    return hashlib.sha256(repr((sorted(marks.items()), held_out, FORMAT, moses_version())).encode()).hexdigest()
