"""Train embeddings on text files, or on a suite's training text with the settings of a recipe."""

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mtl.config.settings import typed_settings
from mtl.data.dataset import fingerprints, present_tasks, training_texts
from mtl.data.splits import FORMAT
from mtl.data.text import moses, moses_version, tokenized, tokenized_lines
from mtl.embedders import EMBEDDERS, embedder_kind
from mtl.embedders.recipes import Recipe
from mtl.embedders.source import noted_source
from mtl.errors import InputError
from mtl.files import sha256
from mtl.locks import waiting_lock
from mtl.tasks.suite import Suite

if TYPE_CHECKING:
    import torch

logger = logging.getLogger("mtl")

LONGEST = 1_000_000  # tokens; a longer training text is cut

Lines = Iterable[Sequence[str]]


class Training(Protocol):
    """The settings with which embeddings are trained."""

    def wrong(self) -> str | None:
        """An error message for a setting that is out of range, or None."""

    def train(self, lines: Lines, path: Path, source: str, device: "torch.device") -> None:
        """Train on tokenized lines and write the result to `path`, after a note of its source (`mtl.embedders.source.note_source`).

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
            f"{path}: was trained on other texts than the present training rows: the data, the choice of held-out rows or the "
            "tokenizer has changed; remove it, and the same command trains it again"
        )


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
    """The tokenized lines of text files, and what identifies them: their content and the tokenizer. language: of the tokenizer."""
    if missing := [file for file in files if not file.is_file()]:
        raise InputError(f"{missing[0]}: no such file")
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
