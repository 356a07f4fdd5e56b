"""Training of word vectors and of ELMos, on files and on a suite's training text, as a command asks for it or a recipe says."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, cast

import torch

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import sha256
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.base.typed import typed
from mtl.base.wings import resolve
from mtl.data.files import text_lines
from mtl.data.loading import training_texts
from mtl.data.text import moses, moses_version, tokenized
from mtl.embedders import embedder_kind
from mtl.embedders.recipes import Recipe, suite_fingerprint, texts_note_path
from mtl.tasks.suite import Suite
from mtl.vectors.words import TRAININGS
from mtl.vectors.words.request import TrainingRequest

LONGEST = 1_000_000  # tokens; a longer training text is cut
TextAndSource = tuple[Iterable[Sequence[str]], str]  # tokenized lines, and a source that identifies their content


class Training(Protocol):
    """The settings with which vectors of one kind are trained: a dataclass."""

    def train(self, lines: Iterable[Sequence[str]], path: Path, source: str, device: torch.device) -> None:
        """Train on tokenized lines, on this device if the kind can choose; write a note (`replace_texts_note`), then move the vectors to `path`."""


def train_embeddings(embeddings: str, request: TrainingRequest, settings: Mapping[str, Any]) -> Path:
    """Train vectors of this kind, with settings of its class in TRAININGS, and return their path. Raises InputError if it cannot be done."""
    path = request.checked_path("embeddings train")
    if request.suite is None and request.language is None:
        raise InputError("embeddings train: name the language of the texts, for the tokenizer: language=CODE, as in language=sv")  # fmt: skip
    training = training_settings(embeddings, settings)
    job = request.job()
    if os.path.lexists(path) and not path.is_dir() and not texts_note_path(path).is_file():
        raise InputError("is no file of vectors that mtl trained; remove it or name another one with out=", path=path)
    device = device_of(request.accelerator, "accelerator")
    texts: list[TextAndSource] = []
    if request.texts:
        language = job.suite.language if job else request.language or ""
        texts.append(file_text(list(map(Path, request.texts)), language))
    if job is not None:
        texts.append(suite_text(job.suite, job.data_dir, job.config.held_out))
    lines, sources = zip(*texts, strict=True)
    with _locked(path):
        training.train(chain.from_iterable(lines), path, " ".join(sources), device)
    return path


def train_recipe(recipe: Recipe, suite: Suite, data_dir: Path, share: float, path: Path, device: torch.device) -> None:
    """Train a recipe's vectors on a suite's text but for a held-out `share`, unless they exist. Waits for a process that does. Raises InputError."""
    training, exists = training_settings(recipe.embeddings, recipe.train), embedder_kind(recipe.embeddings).exists
    assert exists is not None
    with _locked(path):
        if not exists(path):
            logger.info("training %s on the suite's training text", path)
            lines, source = suite_text(suite, data_dir, share)
            training.train(lines, path, source, device)


def training_settings(embeddings: str, values: Mapping[str, Any]) -> Training:
    """The settings of a kind of embeddings with these values. Raises InputError for a kind that cannot be trained, and for a bad key or value."""
    embedder_kind(embeddings)
    if embeddings not in TRAININGS:
        raise InputError(f"cannot be trained; {' and '.join(TRAININGS)} can", key="embeddings", value=embeddings)
    settings_class, extra = TRAININGS[embeddings]
    check_installed(extra, key="embeddings", value=embeddings)
    return cast(Training, typed(resolve(settings_class), values))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait for a process that trains these vectors, and remove what a killed one left beside them. Within the block, no other process trains them."""
    lock_file = path.with_name(f".{path.name}.training")  # not that of `new_folder`, which writes the result
    with lock(lock_file, f"{path}: another process is training these vectors"):
        leftover = re.compile(rf"\.{re.escape(path.name)}(\.source)?\.[0-9a-f]{{32}}\.partial")
        for file in path.parent.iterdir():
            if leftover.fullmatch(file.name) and file.is_file():
                file.unlink()
        try:
            yield
        finally:
            with suppress(OSError):  # Windows keeps files that are open
                lock_file.unlink()


def file_text(files: Sequence[Path], language: str) -> TextAndSource:
    """The tokenized lines of text files, plain or gzipped, with their content and the tokenizer as source. Raises InputError for a missing file."""
    if missing := [file for file in files if not file.is_file()]:
        raise InputError("no such file", path=missing[0])
    source = f"{language} {moses_version()} {' '.join(map(sha256, files))}"
    return map(moses(language), text_lines(files, "tokenizing")), source


def suite_text(suite: Suite, data_dir: Path, held_out: float) -> TextAndSource:
    """The distinct training texts of all tasks with files, tokenized, for runs that hold out this share. Raises InputError for bad data."""
    texts = tokenized(training_texts(suite, data_dir, held_out), suite.language, max_length=LONGEST)
    return (texts.words(text) for text in range(len(texts))), suite_fingerprint(suite, data_dir, held_out)
