"""Find the vectors of the embeddings that a configuration names, or train them by a recipe.

Recipes, which say where word vectors come from: one file per recipe, in embeddings/.
Train embeddings on text files, or on a suite's training text with the settings of a recipe.
The settings of a kind of embeddings: its file in configs/embeddings, and keys that override it.
"""

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from omegaconf import MISSING

from mtl.base.errors import InputError
from mtl.base.files import is_sha256, sha256
from mtl.base.lazy import resolve
from mtl.base.locks import waiting_lock
from mtl.base.untrusted import is_inside, is_web_address, read_yaml, typed_content
from mtl.data.dataset import fingerprints, present_tasks, training_texts
from mtl.data.splits import FORMAT
from mtl.data.text import moses, moses_version, tokenized, tokenized_lines
from mtl.embedders import EMBEDDERS, embedder_kind
from mtl.embedders.embedder import BuildRequest, Embeddings, noted_source
from mtl.settings.bounds import typed_settings
from mtl.settings.layers import find_yaml, shipped
from mtl.settings.schema import Config, EmbedderOptions
from mtl.tasks.suite import Suite

if TYPE_CHECKING:
    import numpy as np
    import torch

    from mtl.data.text import TokenizedTexts


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
        raise InputError(
            f"{recipe.file!r} must be a path below the folder of embeddings, without '..'", path=path, key="file"
        )
    if recipe.url is not None and not is_web_address(recipe.url):
        raise InputError(f"{recipe.url!r} must begin with https:// or http://", path=path, key="url")
    if recipe.sha256 is not None and not is_sha256(recipe.sha256):
        raise InputError(f"sha256: {recipe.sha256!r} must have 64 hexadecimal digits", path=path)
    recipe.name = path.stem
    return recipe


def fetch(recipe_name: str, embeddings_dir: Path) -> Path:
    """Download the vectors of a recipe and return their path. Raises InputError if that is not possible."""
    from mtl.fetching.archives import gunzip
    from mtl.fetching.download import download

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


logger = logging.getLogger("mtl")

LONGEST = 1_000_000  # tokens; a longer training text is cut

Lines = Iterable[Sequence[str]]


class Training(Protocol):
    """The settings with which embeddings are trained."""

    def train(self, lines: Lines, path: Path, source: str, device: "torch.device") -> None:
        """Train on tokenized lines and write the result to `path`, after a note of its source (`mtl.embedders.embedder.note_source`).

        source: identifies the lines' content. Raises InputError.
        """


def train_on_files(
    training: Training, files: Sequence[Path], language: str, path: Path, device: "torch.device"
) -> None:
    """Train vectors on text files, plain or gzipped, and write them to `path`. language: of the tokenizer. Raises InputError."""
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

    held_out: the share of training rows that the runs with these vectors hold out. files: text files to train on as well, plain or
    gzipped; they come first.
    """
    with _alone(path):
        lines, source = _training_text(suite, data_dir, held_out, files)
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
            lines, source = _training_text(suite, data_dir, held_out)
            training.train(lines, path, source, device)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Within the block, no other process trains these vectors. If one does, wait until it has ended.

    Removes what a process that was killed left beside them: its text, and vectors that are not complete.
    """
    with waiting_lock(path.with_name(f".{path.name}.lock"), f"{path}: another process is training these vectors"):
        left = re.compile(rf"\.{re.escape(path.name)}(\.source)?\.(\w{{8}}\.txt|[0-9a-f]{{32}}\.partial)")
        for file in path.parent.iterdir():
            if left.fullmatch(file.name) and file.is_file():
                file.unlink()
        yield


def check_recipe(suite: Suite, data_dir: Path, held_out: float, path: Path) -> None:
    """Raise InputError unless the vectors at `path` were trained on the texts that a recipe would train on now."""
    if noted_source(path) != _source(suite, data_dir, held_out):
        raise InputError(
            "was trained on other texts than the present training rows: the data, the choice of held-out rows or"
            " the tokenizer has changed; remove it, and the same command trains it again",
            path=path,
        )


def training_settings(embeddings: str, given: Mapping[str, Any]) -> Training:
    """Settings to train this kind of embeddings with, from given values; the others have their defaults.

    Raises InputError for a kind of embeddings that cannot be trained, an unknown key, or a value that makes no sense.
    """
    files = embedder_kind(embeddings).files
    if files is None:
        trained = " and ".join(name for name, kind in EMBEDDERS.items() if kind.files)
        raise InputError(f"cannot be trained; {trained} can", key="embeddings", value=embeddings)
    return cast(Training, typed_settings(resolve(files.training), given))


def _file_text(files: Sequence[Path], language: str) -> tuple[Lines, str]:
    """The tokenized lines of text files, and what identifies them: their content and the tokenizer. language: of the tokenizer."""
    if missing := [file for file in files if not file.is_file()]:
        raise InputError("no such file", path=missing[0])
    return tokenized_lines(files, moses(language)), f"{language} {moses_version()} {' '.join(map(sha256, files))}"


def _training_text(suite: Suite, data_dir: Path, held_out: float, files: Sequence[Path] = ()) -> tuple[Lines, str]:
    """The distinct training texts of all tasks of the suite that have their files, tokenized and not cut, and what identifies them.

    All runs on the suite that hold out this share of rows can use vectors trained on them, with any `tasks` and `max_length`. A dev
    text is among them only if it also occurs in the training rows of a task. files: text files whose lines come first.
    """
    read = training_texts(suite, data_dir, held_out)
    texts = tokenized(read, suite.language, max_length=LONGEST)
    lines = (texts.words(text) for text in range(len(texts)))
    source = _source(suite, data_dir, held_out)
    if not files:
        return lines, source
    first, source_of_files = _file_text(files, suite.language)
    return chain(first, lines), f"{source_of_files} {source}"


def _source(suite: Suite, data_dir: Path, held_out: float) -> str:
    """What identifies the training texts: a hash of the data, of its declaration in the suite, of the rule for held-out rows, and of
    the tokenizer."""
    marks = fingerprints(suite, present_tasks(suite, data_dir), data_dir)
    return hashlib.sha256(repr((sorted(marks.items()), held_out, FORMAT, moses_version())).encode()).hexdigest()


def read_embeddings(name: str) -> dict[str, Any]:
    """The content of the embeddings file with this name or path. Embeddings without a file have the defaults of their kind."""
    folder = shipped("configs") / "embeddings"
    if name in EMBEDDERS and not (folder / f"{name}.yaml").is_file():
        return {"name": name}
    content = read_yaml(find_yaml("embeddings", name, folder))
    return {**content, "name": str(content.get("name"))}


def embedder_options(name: str, given: Mapping[str, Any]) -> EmbedderOptions:
    """The options of the embeddings with this name or path, without a run. given: keys of `embeddings.` that override those of the
    file. Raises InputError for an unknown name or key, and a bad value."""
    content = read_embeddings(name)
    content.pop("config", None)  # for runs
    return typed_settings(embedder_kind(content["name"]).options, {**content, **given}, "embeddings.")


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
        raise InputError(f"suite {suite.name} names no {name} vectors; set embeddings.path=PATH", key="embeddings.path")
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
        raise InputError(
            f"a recipe for {recipe.embeddings} embeddings, not for {name}", key="embeddings.path", value=recipe.name
        )
    if recipe is not None and recipe.train:
        return recipe
    if problem := files.problem(path):
        raise InputError(problem, path=path)
    remedies = [f"fetch them: mtl embeddings fetch {name} recipe={recipe.name}"] if recipe and recipe.url else []
    if recipe and not recipe.url and recipe.source:
        remedies.append(f"get them from {recipe.source}")
    remedies += [
        f"train your own: mtl embeddings train {name} texts=[FILE] out={path}",
        "or set embeddings.path=PATH",
    ]
    raise InputError(f"no such vectors; {'; '.join(remedies)}", path=path)


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
