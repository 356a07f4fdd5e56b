"""Training of vectors on a suite's training text, on text files, or as a recipe says."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import sha256, write_text
from mtl.base.lazy import resolve
from mtl.base.locks import waiting_lock
from mtl.base.typed import typed
from mtl.data.dataset import training_texts
from mtl.data.text import moses, moses_version, tokenized, tokenized_lines
from mtl.embedders import embedder_kind
from mtl.embedders.recipes import Recipe, source_note, suite_source
from mtl.tasks.suite import Suite
from mtl.vectors.words import TRAININGS

if TYPE_CHECKING:
    import torch

logger = logging.getLogger("mtl")

LONGEST = 1_000_000  # tokens; a longer training text is cut
Text = tuple[Iterable[Sequence[str]], str]  # tokenized lines, and what identifies them


class Training(Protocol):
    """The settings with which vectors of one kind are trained: a dataclass."""

    def check(self) -> None:
        """Raise InputError for a setting that is out of range."""

    def train(self, lines: Iterable[Sequence[str]], path: Path, source: str, device: "torch.device") -> None:
        """Train on tokenized lines, on this device if the kind can choose, and write the vectors to `path`. Raises InputError.

        The source, which identifies the content of the lines, is noted first (`note_source`).
        """


def note_source(path: Path, source: str, threads: int | None = None) -> None:
    """Write `source` beside `path`. It identifies the texts of the vectors that will be moved to `path` next.

    Vectors that are already at `path` come from another source. They are removed first, so that a note never belongs to other
    vectors. A second line says whether a training with several threads can be repeated.
    """
    if path.is_file():
        path.unlink()
    again = "the same texts and settings give the same vectors" if threads == 1 else "each training gives other vectors"
    write_text(source_note(path), f"{source}\n" if threads is None else f"{source}\nthreads={threads}: {again}\n")


def training_settings(embeddings: str, values: Mapping[str, Any]) -> Training:
    """Settings to train this kind of embeddings with: these values, and else the defaults.

    Raises InputError for a kind of embeddings that cannot be trained, an unknown key, or a value that makes no sense.
    """
    embedder_kind(embeddings)
    training = TRAININGS.get(embeddings)
    if training is None:
        raise InputError(f"cannot be trained; {' and '.join(TRAININGS)} can", key="embeddings", value=embeddings)
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
    return (texts.words(text) for text in range(len(texts))), suite_source(suite, data_dir, held_out)
