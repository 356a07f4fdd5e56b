"""Averaged word vectors: sentence vectors without any training, of any kind of embeddings that has vectors before a run."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.progress import hidden_progress
from mtl.base.settings.layers import find_suite
from mtl.base.settings.schema import EmbedderOptions
from mtl.base.typed import typed
from mtl.base.version import VERSION
from mtl.data.dataset import present_tasks, training_texts
from mtl.data.files import read_lines
from mtl.data.text import UNKNOWN, TokenizedTexts, Vocabulary, moses_version
from mtl.embedders import EMBEDDERS, embedder_kind, read_embeddings
from mtl.embedders.interface import Reader
from mtl.embedders.new_words import FileSource, WordReader, WordSource
from mtl.embedders.recipes import PLAIN_HELD_OUT, vector_path
from mtl.embedders.vector_files.vector_file import WordVectors
from mtl.embedders.words import WordEmbedder, check_dim
from mtl.model.encoder import batches_by_length
from mtl.model.sequences import ArraySequences
from mtl.tasks.suite import Suite, load_suite
from mtl.vectors.encoders.encoder import MAX_LENGTH, ModelEncoder, check_language, mean_vector

SECTION = "embeddings."


@dataclass
class AverageSettings:
    """The settings beside those of the embeddings."""

    embeddings: str = "fasttext"  # the name or path of an embeddings file
    language: str | None = None  # the language of the tokenizer; None: the suite's
    seed: int = 1  # the seed of random vectors
    centre: bool = False  # subtract the mean vector of the texts
    texts: str | None = None  # a file of texts, one per line, for centre
    suite: str | None = None  # a suite whose training texts serve as `texts`
    suite_data_dir: str | None = None  # the folder of this suite's data
    device: str = "cpu"  # where to compute

    def check(self) -> None:
        check_language(self.language)
        if self.texts is not None and not self.centre:
            raise InputError("nothing reads them; set centre=true", key="texts", value=self.texts)
        if self.suite_data_dir is not None and (self.texts is not None or self.suite is None):
            message = "is for the texts of a suite: name it, suite=NAME, and no texts=; or drop it"
            raise InputError(message, key="suite_data_dir", value=self.suite_data_dir)
        if self.centre and self.texts is None and self.suite is None:
            raise InputError("centre needs texts: set texts=FILE, or suite=NAME for its training texts", key="texts")


class SourceReader(WordReader):
    """The words of a source alone. The vector of other words is zero."""

    def __init__(self, source: WordSource, dim: int, parameters: int) -> None:
        """The source has vectors of this size, and this number of parameters."""
        embedder = WordEmbedder(Vocabulary.FIRST, dim, trainable=False)
        embedder.load(np.zeros((Vocabulary.FIRST, dim), dtype=np.float32))
        super().__init__(Vocabulary([]), embedder, source)
        self._parameters = parameters

    def parameters(self) -> int:
        return self._parameters


@dataclass(frozen=True)
class DrawnVectors:
    """A vector from N(0, 1) for any word. It depends on the word and the seed alone. See `mtl.embedders.new_words.WordSource`."""

    dim: int
    seed: int

    def read(self, words: Sequence[str]) -> WordVectors:
        vectors = np.empty((len(words), self.dim), dtype=np.float32)
        for row, word in zip(vectors, words, strict=True):
            digest = hashlib.sha256(f"{self.seed} {word}".encode("utf-8", "surrogatepass")).digest()
            row[:] = np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(self.dim)
        return WordVectors(vectors, np.ones(len(words), dtype=bool), np.zeros(len(words), dtype=bool))

    def fingerprint(self) -> str:
        return repr(self)


def open_random(options: Any, path: Any, seed: int, device: torch.device) -> Reader:
    """A random vector for any word."""
    return SourceReader(DrawnVectors(options.dim, seed), options.dim, parameters=0)


def open_static(options: Any, path: Any, seed: int, device: torch.device) -> Reader:
    """All words of the file at the path. Raises InputError for a file that cannot be read, or has vectors of another size."""
    source = FileSource(path, None, ngrams=options.missing == "unknown")
    rows, dim = source.file.shape
    check_dim(path, dim, options.dim)
    return SourceReader(source, dim, rows * dim)


def open_elmo(options: Any, path: Any, seed: int, device: torch.device) -> Reader:
    """The mean of the layers of the ELMo at the path, in float32."""
    from mtl.embedders.elmo.embeddings import ElmoReader, load_elmo, new_mix

    elmo, digest = load_elmo(path, options.exact, device)
    return ElmoReader(elmo, digest, "float32", new_mix(elmo))


# By the name of the embeddings, how their vectors are read as they are without training (from the options of the embeddings, the path of the
# vectors or None, the seed of random vectors, and the device that computes vectors that are not only looked up), and the settings that are read.
STATIC = (open_static, ("embeddings.path", "embeddings.dim", "embeddings.missing"))
OPENERS: dict[str, tuple[Callable[[Any, Any, int, torch.device], Reader], tuple[str, ...]]] = {
    "random": (open_random, ("embeddings.dim", "seed")),
    "fasttext": STATIC,
    "glove": STATIC,
    "elmo": (open_elmo, ("embeddings.path", "embeddings.exact")),
    "word2vec": STATIC,
}


def open_average(name: str, values: Mapping[str, Any]) -> ModelEncoder:
    """Averaged word vectors with these settings. Raises InputError."""
    section = {key.removeprefix(SECTION): value for key, value in values.items() if key.startswith(SECTION)}
    settings = typed(AverageSettings, {key: values[key] for key in values if not key.startswith(SECTION)})
    content = read_embeddings(settings.embeddings)
    content.pop("config", None)  # for runs
    options = typed(embedder_kind(content["name"]).options, {**content, **section}, SECTION)
    if options.name not in OPENERS:
        message = f"have no vectors without a run; averages take {', '.join(OPENERS)}"
        raise InputError(message, key="embeddings", value=options.name)
    _, read = OPENERS[options.name]
    if unread := [key for key in values if (key == "seed" or key.startswith(SECTION)) and key not in read]:
        raise InputError(f"averaged {options.name} vectors do not read it; they read {', '.join(read)}", key=unread[0])
    suite = None if settings.suite is None else load_suite(find_suite(settings.suite))
    language = settings.language or (suite.language if suite is not None else None)
    if language is None:
        message = "name the texts' language, for the tokenizer: language=CODE, as in language=pl"
        raise InputError(message, key="language")
    # Texts are read first: what is wrong with them shows before large files are opened.
    texts, seen = _texts(settings, suite) if settings.centre else ([], ())
    device = device_of(settings.device, "device")
    model = AverageModel(_open(settings, options, suite, device), language, device)
    centred = ["centred"] if settings.centre else []
    seed = [f"seed {settings.seed}"] if "seed" in read else []
    encoder = ModelEncoder(
        model,
        "mean",
        name="-".join(["average", options.name, "mean", *centred]),
        title=", ".join(["Average of word vectors", EMBEDDERS[options.name].title, *centred]),
        family="average",
        language=language,
        max_length=MAX_LENGTH,
        trained_on=seen,
        settings=", ".join([*seed, "pooling mean", *(centred or ["not centred"])]),
    )
    if settings.centre:
        encoder.centre = mean_vector(texts, encoder.encode, "the mean of the texts")
    return encoder


class AverageModel:
    """The mean of the vectors of a text's words, as a `ModelEncoder` reads a model. A word without a vector does not count;
    a text without any word with a vector has zeros."""

    parameters_without_embeddings = 0

    def __init__(self, reader: Reader, language: str, device: torch.device) -> None:
        """The reader is on the device."""
        self.reader, self.language, self.device = reader, language, device
        self.dim, self.parameters = reader.dim, reader.parameters()

    def versions(self) -> dict[str, str]:
        return {"mtl": VERSION, "tokenizer": moses_version()}

    def fingerprint(self) -> str:
        """A hash of the word vectors, and of the settings that make words of texts."""
        content = repr((self.reader.fingerprint(), self.language, MAX_LENGTH))
        return hashlib.sha256(content.encode()).hexdigest()

    @torch.no_grad()
    def encode(self, texts: Sequence[str], pooling: str) -> np.ndarray:
        """The means of at least one text, float32 (texts, dim), as `pooling` must say."""
        with hidden_progress():
            tokenized = TokenizedTexts(texts, self.language, MAX_LENGTH)
        sequences = self.reader.sequences(tokenized)
        # A word without a vector does not count, nor does the token of an empty text.
        known = self.reader.have_vectors(tokenized) & np.array([word != UNKNOWN for word in tokenized.types])
        counted = ArraySequences(known.astype(np.float32)[tokenized.tokens], tokenized.starts[:-1], tokenized.lengths)
        vectors = np.empty((len(tokenized), self.dim), dtype=np.float32)
        for batch in batches_by_length(sequences.lengths):
            tokens, _ = sequences.gather(batch)
            embedded = self.reader.embedder(tokens.to(self.device))
            weights = counted.gather(batch)[0].to(embedded.device)[..., None]
            means = (embedded * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
            vectors[batch.numpy()] = means.cpu().numpy()
        return vectors[[tokenized.index[text] for text in texts]]


def _open(settings: AverageSettings, options: EmbedderOptions, suite: Suite | None, device: torch.device) -> Reader:
    """The words with their vectors, on the device."""
    kind = EMBEDDERS[options.name]
    kind.check_installed(options.name)
    path = None
    if kind.exists is not None:
        vectors = getattr(options, "path", None) or (suite.embeddings.get(options.name) if suite else None)
        if vectors is None:
            raise InputError(f"name the {kind.title} vectors: {SECTION}path=PATH", key=f"{SECTION}path")
        path, _ = vector_path(vectors, Path("embeddings"), PLAIN_HELD_OUT)
        if not kind.exists(path):
            raise InputError(f"no such vectors; set {SECTION}path=PATH", path=path)
    reader = OPENERS[options.name][0](options, path, settings.seed, device)
    reader.embedder.to(device)
    return reader


def _texts(settings: AverageSettings, suite: Suite | None) -> tuple[list[str], tuple[str, ...]]:
    """The distinct texts whose mean is subtracted, and the tasks whose training texts they are."""
    if settings.texts is not None:
        texts = list(dict.fromkeys(text for text in read_lines(Path(settings.texts)) if text.strip()))
        if not texts:
            raise InputError("has no texts", path=settings.texts)
        return texts, ()
    assert suite is not None
    data_dir = Path(settings.suite_data_dir or suite.data_dir)
    texts = training_texts(suite, data_dir, PLAIN_HELD_OUT)
    trained = [task for task in present_tasks(suite, data_dir) if task.path("train", data_dir) is not None]
    return texts, tuple(f"{suite.name}/{task.id}" for task in trained)
