"""Training of word vectors and of ELMos: what a command asks for, the training, and last what the kinds that can be trained have in common."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Annotated, Any, Protocol, cast

import torch

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import sha256, write_text
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.base.typed import PART, typed
from mtl.base.wings import resolve
from mtl.data.files import text_lines
from mtl.data.loading import training_texts
from mtl.data.sample import write_generated
from mtl.data.text import moses, moses_version, tokenized
from mtl.embedders import embedder_kind
from mtl.embedders.recipes import Recipe, source_note, suite_source
from mtl.jobs.job import Job, load_job
from mtl.tasks.suite import Suite
from mtl.vectors.words import TRAININGS

LONGEST = 1_000_000  # tokens; a longer training text is cut
TextAndSource = tuple[Iterable[Sequence[str]], str]  # tokenized lines, and a source that identifies their content


@dataclass(frozen=True)
class TrainingRequest:
    """What a command trains on (text files, the training text of a suite, or both), what it writes, and where it computes."""

    texts: list[str] | None = None  # the text files, plain or gzipped
    language: str | None = None  # of the text files, for the tokenizer; a suite has its own
    suite: str | None = None  # a name or a path
    data_dir: str | None = None  # the folder of the suite's data; None: that of the suite
    # The share of training rows that the runs that use the result hold out; None: that of configs/baseline.yaml.
    suite_held_out: Annotated[float, PART] | None = None
    out: str | None = None  # the file or the folder to write
    accelerator: str = "auto"  # where to compute, as in `mtl.base.device.device_of`

    @classmethod
    def take(cls, settings: dict[str, Any]) -> "TrainingRequest":
        """The request in the settings of a command; its keys are removed from `settings`. Raises InputError for a bad value."""
        values = {key: settings.pop(key) for key in cls.__dataclass_fields__.keys() & settings}
        if not isinstance(values.get("texts"), list | None):
            values["texts"] = [values["texts"]]
        return typed(cls, values)

    def checked_path(self, command: str) -> Path:
        """The file or folder to write. Raises InputError, which names the command, if it or the text is missing, or settings do not fit together."""
        if not self.texts and self.suite is None:
            raise InputError(f"{command}: name what to train on: texts=[FILE,…], suite=NAME, or both")
        if self.out is None:
            raise InputError(f"{command}: name what to write: out=PATH")
        for key, value in (("data_dir", self.data_dir), ("suite_held_out", self.suite_held_out)):
            if value is not None and self.suite is None:
                raise InputError("name the suite that it belongs to, suite=NAME, or drop it", key=key, value=value)
        if self.language is not None and self.suite is not None:
            raise InputError("is that of the suite; drop it", key="language")
        return Path(self.out)

    def job(self) -> Job | None:
        """The suite, its embedded data written; None without a suite. Raises InputError for a suite that is not valid."""
        if self.suite is None:
            return None
        settings = {"suite": self.suite, "data_dir": self.data_dir, "held_out": self.suite_held_out}
        job = load_job({key: value for key, value in settings.items() if value is not None})
        write_generated(job.suite, job.data_dir)
        return job


def train_embeddings(embeddings: str, request: TrainingRequest, settings: Mapping[str, Any]) -> Path:
    """Train vectors of this kind, with settings of its class in TRAININGS, and return their path. Raises InputError if it cannot be done."""
    path = request.checked_path("embeddings train")
    if request.suite is None and request.language is None:
        raise InputError("embeddings train: name the language of the texts, for the tokenizer: language=CODE, as in language=sv")  # fmt: skip
    training = training_settings(embeddings, settings)
    job = request.job()
    if os.path.lexists(path) and not path.is_dir() and not source_note(path).is_file():
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


def train_recipe(
    recipe: Recipe, suite: Suite, data_dir: Path, held_out: float, path: Path, device: torch.device
) -> None:
    """Train the vectors of a recipe on the suite's training text, unless they exist. Waits for a process that trains them. Raises InputError."""
    training, exists = training_settings(recipe.embeddings, recipe.train), embedder_kind(recipe.embeddings).exists
    assert exists is not None
    with _locked(path):
        if not exists(path):
            logger.info("training %s on the suite's training text", path)
            lines, source = suite_text(suite, data_dir, held_out)
            training.train(lines, path, source, device)


def training_settings(embeddings: str, values: Mapping[str, Any]) -> "Training":
    """The settings of a kind of embeddings with these values. Raises InputError for a kind that cannot be trained, and for a bad key or value."""
    embedder_kind(embeddings)
    if embeddings not in TRAININGS:
        raise InputError(f"cannot be trained; {' and '.join(TRAININGS)} can", key="embeddings", value=embeddings)
    settings_class, extra = TRAININGS[embeddings]
    check_installed(extra, key="embeddings", value=embeddings)
    return cast("Training", typed(resolve(settings_class), values))


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
    """The distinct training texts of all tasks that have their files, tokenized (and cut only after LONGEST tokens), for all runs that hold out this
    share of rows. Dev texts are left out unless they are training texts, too. Raises InputError for missing or damaged data."""
    texts = tokenized(training_texts(suite, data_dir, held_out), suite.language, max_length=LONGEST)
    return (texts.words(text) for text in range(len(texts))), suite_source(suite, data_dir, held_out)


class Training(Protocol):
    """The settings with which vectors of one kind are trained: a dataclass."""

    def train(self, lines: Iterable[Sequence[str]], path: Path, source: str, device: torch.device) -> None:
        """Train on tokenized lines, on this device if the kind can choose, and write the vectors to `path`. Raises InputError. The source, which
        identifies the content of the lines, is noted after the training, just before the vectors are moved to `path` (`note_source`)."""


def note_source(path: Path, source: str, threads: int | None = None) -> None:
    """Note beside `path` the source, which identifies the texts of the vectors that will be moved there next. Vectors that are already there are
    removed first, so that a note never belongs to other ones. A second line says whether a training with so many threads can be repeated."""
    if path.is_file():
        path.unlink()
    hint = "the same texts and settings give the same vectors" if threads == 1 else "each training gives other vectors"
    second_line = "" if threads is None else f"threads={threads}: {hint}\n"
    write_text(source_note(path), f"{source}\n{second_line}")


@contextmanager
def written_lines(lines: Iterable[Sequence[str]], path: Path) -> Iterator[tuple[IO[str], int]]:
    """Within the block, a temporary text file beside `path` with these lines, and the number of their words and ends. `path` may not be a folder."""
    if path.is_dir():
        raise InputError("is a folder; name a file with out=", path=path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary, tokens = path.with_name(f".{path.name}.txt"), 0
    try:
        with temporary.open("w+", encoding="utf-8") as file:
            for words in lines:
                file.write(" ".join(words) + "\n")
                tokens += len(words) + 1
            file.flush()
            yield file, tokens
    finally:
        temporary.unlink(missing_ok=True)
