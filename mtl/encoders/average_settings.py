"""The settings of averaged word vectors, and what they name: word vectors, a language, and texts to count words in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from mtl.config.checks import check_choice, check_least
from mtl.config.files import find_suite
from mtl.config.schema import EmbedderOptions
from mtl.config.settings import typed_settings
from mtl.data.dataset import present_tasks, training_texts
from mtl.data.languages import check_language
from mtl.data.lines import read_lines
from mtl.device import device_of
from mtl.embedders import EMBEDDERS
from mtl.embedders.kind import OpenRequest, Reader
from mtl.embedders.options import embedder_options
from mtl.embedders.recipes import PLAIN_HELD_OUT, vector_file
from mtl.encoders.weighting import WEIGHTINGS
from mtl.errors import InputError
from mtl.tasks.suite import Suite, load_suite

POOLINGS = {"mean": "Average", "max": "Maximum", "both": "Average and maximum"}  # as in tables
SECTION = "embeddings."
NEEDS_TEXTS = "texts: weighting and centre need texts: set texts=FILE, or suite=NAME for its training texts"


@dataclass
class AverageSettings:
    """The settings beside those of the embeddings.

    language: of the tokenizer; None: the suite's. pooling: mean, max, or both: mean and max joined. layer: of embeddings with layers;
    None: their mean. seed: of random vectors. centre: subtract the mean vector of the texts. texts: a file of texts, one per line, for
    weighting and centre. suite, data_dir, held_out: a suite whose training texts serve instead.
    """

    embeddings: str = "fasttext"
    language: str | None = None
    pooling: str = "mean"
    weighting: str = "none"
    layer: int | None = None
    seed: int = 1
    centre: bool = False
    max_length: int = 256
    texts: str | None = None
    suite: str | None = None
    data_dir: str | None = None
    held_out: float = PLAIN_HELD_OUT
    embeddings_dir: str = "embeddings"
    device: str = "cpu"

    @property
    def reads_texts(self) -> bool:
        """Whether the vectors depend on the texts."""
        return self.centre or WEIGHTINGS[self.weighting].reads_texts

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        check_choice("pooling", self.pooling, POOLINGS)
        check_choice("weighting", self.weighting, WEIGHTINGS)
        check_least("max_length", self.max_length)
        if self.language is not None:
            check_language(self.language)
        if not 0 < self.held_out < 1:
            raise InputError(f"held_out={self.held_out}: must lie between 0 and 1")
        if self.pooling == "max" and WEIGHTINGS[self.weighting].reads_texts:
            raise InputError(f"weighting={self.weighting}: weights a mean; set pooling=mean or pooling=both")
        if self.texts is not None and not self.reads_texts:
            raise InputError(
                f"texts={self.texts}: nothing reads them; set weighting=tfidf, weighting=sif or centre=true"
            )
        if self.texts is not None and self.data_dir is not None:
            raise InputError(f"data_dir={self.data_dir}: texts={self.texts} are read instead; drop one of them")
        if self.data_dir is not None and self.suite is None:
            raise InputError(f"data_dir={self.data_dir}: name the suite that it belongs to: suite=NAME")
        if self.reads_texts and self.texts is None and self.suite is None:
            raise InputError(NEEDS_TEXTS)


@dataclass(frozen=True)
class AverageParts:
    """What averaged vectors are made of.

    texts: distinct; empty if nothing reads them. suite: its name, if one is named. seen: the tasks whose training texts are among the
    texts, as in "klej/cbd".
    """

    settings: AverageSettings
    options: EmbedderOptions
    reader: Reader
    language: str
    suite: str | None
    texts: list[str]
    seen: tuple[str, ...]
    device: torch.device


def average_parts(given: Mapping[str, Any]) -> AverageParts:
    """Check these settings and open what they name. Raises InputError."""
    of_embeddings = {key.removeprefix(SECTION): value for key, value in given.items() if key.startswith(SECTION)}
    settings = typed_settings(AverageSettings, {key: given[key] for key in given if not key.startswith(SECTION)})
    settings.check()
    options = embedder_options(settings.embeddings, of_embeddings)
    _check_read(options.name, given)
    suite = None if settings.suite is None else load_suite(find_suite(settings.suite))
    language = settings.language or (suite.language if suite is not None else None)
    if language is None:
        raise InputError("language: name the texts' language, for the tokenizer: language=CODE, as in language=pl")
    # Texts are read first: what is wrong with them shows before large files are opened.
    texts, seen = _texts(settings, suite) if settings.reads_texts else ([], ())
    device = device_of(settings.device, "device")
    reader = _open(settings, options, suite, device)
    return AverageParts(settings, options, reader, language, None if suite is None else suite.name, texts, seen, device)


def _check_read(embeddings: str, given: Mapping[str, Any]) -> None:
    """Raise InputError for a setting that vectors of this kind do not depend on without a run."""
    optional = {key for kind in EMBEDDERS.values() for key in kind.open_keys if not key.startswith(SECTION)}
    read = EMBEDDERS[embeddings].open_keys
    for key in given:
        if (key in optional or key.startswith(SECTION)) and key not in read:
            raise InputError(f"{key}: averaged {embeddings} vectors do not read it; they read {', '.join(read)}")


def _open(settings: AverageSettings, options: EmbedderOptions, suite: Suite | None, device: torch.device) -> Reader:
    kind = EMBEDDERS[options.name]
    if kind.open is None:
        known = ", ".join(name for name, other in EMBEDDERS.items() if other.open)
        raise InputError(f"embeddings={options.name}: have no vectors without a run; averages take {known}")
    path = None
    if kind.files is not None:
        named = getattr(options, "path", None) or (suite.embeddings.get(options.name) if suite else None)
        if named is None:
            raise InputError(f"{SECTION}path: name the {kind.title} vectors: {SECTION}path=PATH")
        path, _ = vector_file(named, Path(settings.embeddings_dir), settings.held_out)
        if not kind.files.exists(path):
            raise InputError(f"{path}: {kind.files.problem(path) or f'no such vectors; set {SECTION}path=PATH'}")
    reader = kind.open(OpenRequest(options, path, settings.layer, settings.seed, device))
    reader.embedder.to(device)
    return reader


def _texts(settings: AverageSettings, suite: Suite | None) -> tuple[list[str], tuple[str, ...]]:
    """The distinct texts that words are counted in, and the tasks whose training texts they are."""
    if settings.texts is not None:
        texts = list(dict.fromkeys(text for text in read_lines(Path(settings.texts)) if text.strip()))
        if not texts:
            raise InputError(f"{settings.texts}: has no texts")
        return texts, ()
    assert suite is not None
    data_dir = Path(settings.data_dir or f"data/{suite.name}")
    texts = training_texts(suite, data_dir, settings.held_out)
    trained = [task for task in present_tasks(suite, data_dir) if task.path("train", data_dir) is not None]
    return texts, tuple(f"{suite.name}/{task.id}" for task in trained)
