"""Train embeddings on text files, or on a suite's training text with the settings of a recipe."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mtl.config.settings import typed_settings
from mtl.data.dataset import fingerprints, present_tasks, training_texts
from mtl.data.splits import FORMAT
from mtl.data.text import moses, tokenized, tokenized_lines
from mtl.embedders import EMBEDDERS, embedder_kind
from mtl.embedders.recipes import Recipe
from mtl.errors import InputError
from mtl.files import sha256, write_text
from mtl.tasks.suite import Suite

if TYPE_CHECKING:
    import torch

LONGEST = 1_000_000  # tokens; a longer training text is cut

Lines = Iterable[Sequence[str]]


class Training(Protocol):
    """The settings with which embeddings are trained."""

    def wrong(self) -> str | None:
        """An error message for a setting that is out of range, or None."""

    def train(self, lines: Lines, path: Path, source: str, device: "torch.device") -> None:
        """Train on tokenized lines and write the result to `path`. source: identifies the lines' content. Raises InputError."""


def train_on_files(
    training: Training, files: Sequence[Path], language: str, path: Path, device: "torch.device"
) -> None:
    """Train vectors on text files, plain or gzipped, and write them to `path`. language: of the tokenizer. Raises InputError."""
    lines, source = _file_text(files, language)
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
    lines, source = _training_text(suite, data_dir, held_out)
    if files:
        first, source_of_files = _file_text(files, suite.language)
        lines, source = chain(first, lines), f"{source_of_files} {source}"
    training.train(lines, path, source, device)
    write_text(_source_file(path), f"{source}\n")


def train_recipe(
    recipe: Recipe, suite: Suite, data_dir: Path, held_out: float, path: Path, device: "torch.device"
) -> None:
    """Train the vectors of a recipe on the suite's training text. Raises InputError."""
    train_on_suite(training_settings(recipe.embeddings, recipe.train), suite, data_dir, held_out, path, device)


def check_recipe(suite: Suite, data_dir: Path, held_out: float, path: Path) -> None:
    """Raise InputError unless the vectors at `path` were trained on the texts that a recipe would train on now."""
    note = _source_file(path)
    if not note.is_file() or note.read_text(encoding="utf-8").strip() != _source(suite, data_dir, held_out):
        raise InputError(
            f"{path}: was trained on other texts than the present training rows: the data or the choice of held-out rows has "
            "changed; remove it, and the same command trains it again"
        )


def _source_file(path: Path) -> Path:
    """The file beside the vectors that identifies the texts they were trained on."""
    return path.with_name(f"{path.name}.source")


def training_settings(embeddings: str, given: Mapping[str, Any]) -> Training:
    """Settings to train this kind of embeddings with, from given values; the others have their defaults.

    Raises InputError for a kind of embeddings that cannot be trained, an unknown key, or a value that makes no sense.
    """
    files = embedder_kind(embeddings).files
    if files is None:
        trained = " and ".join(name for name, kind in EMBEDDERS.items() if kind.files)
        raise InputError(f"embeddings={embeddings}: cannot be trained; {trained} can")
    checked: Training = typed_settings(files.training(), given)
    if wrong := checked.wrong():
        raise InputError(wrong)
    return checked


def _file_text(files: Sequence[Path], language: str) -> tuple[Lines, str]:
    """The tokenized lines of text files, and what identifies them. language: of the tokenizer."""
    if missing := [file for file in files if not file.is_file()]:
        raise InputError(f"{missing[0]}: no such file")
    return tokenized_lines(files, moses(language)), f"{language} {' '.join(map(sha256, files))}"


def _training_text(suite: Suite, data_dir: Path, held_out: float) -> tuple[Lines, str]:
    """The distinct training texts of all tasks of the suite that have their files, tokenized and not cut, and their `_source`.

    All runs on the suite that hold out this share of rows can use vectors trained on them, with any `tasks` and `max_length`. A dev
    text is among them only if it also occurs in the training rows of a task.
    """
    read = training_texts(suite, data_dir, held_out)
    texts = tokenized(read, suite.language, max_length=LONGEST)
    lines = (texts.words(text) for text in range(len(texts)))
    return lines, _source(suite, data_dir, held_out)


def _source(suite: Suite, data_dir: Path, held_out: float) -> str:
    """What identifies the training texts: a hash of the data, of its declaration in the suite, and of the rule for held-out rows."""
    marks = fingerprints(suite, present_tasks(suite, data_dir), data_dir)
    return hashlib.sha256(repr((sorted(marks.items()), held_out, FORMAT)).encode()).hexdigest()
