"""Averaged word vectors: sentence vectors without any training, of the embeddings that have vectors before a run."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.progress import hidden_progress
from mtl.base.settings.layers import find_yaml
from mtl.base.settings.schema import EmbedderOptions
from mtl.base.typed import typed
from mtl.base.version import VERSION
from mtl.data.files import read_lines
from mtl.data.loading import training_texts
from mtl.data.present_files import present_tasks
from mtl.data.text import UNKNOWN, TokenizedTexts, Vocabulary, moses_version
from mtl.embedders import EMBEDDERS, ElmoOptions, RandomOptions, StaticOptions, embedder_kind, read_embeddings
from mtl.embedders.find import check_dim
from mtl.embedders.interface import Reader
from mtl.embedders.new_words import FileSource, WordReader, WordSource
from mtl.embedders.recipes import PLAIN_HELD_OUT, vector_path
from mtl.embedders.vector_files.word_index import WordVectors
from mtl.embedders.words import WordEmbedder
from mtl.model.encoder import batches_by_length
from mtl.model.sequences import ArraySequences
from mtl.tasks.suite import Suite, load_suite
from mtl.vectors.encoders.encoder import MAX_LENGTH, ModelEncoder, check_language, mean_vector

SECTION = "embeddings."
# By the options of embeddings that have vectors before a run, the settings that the vectors depend on.
READ_SETTINGS: dict[type[EmbedderOptions], tuple[str, ...]] = {
    RandomOptions: ("embeddings.dim", "seed"),
    StaticOptions: ("embeddings.path", "embeddings.dim", "embeddings.missing"),
    ElmoOptions: ("embeddings.path", "embeddings.exact"),
}


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
        needs_suite = self.centre and self.texts is None
        if self.texts is not None and not self.centre:
            raise InputError("nothing reads them; set centre=true", key="texts", value=self.texts)
        if self.suite_data_dir is not None and not (needs_suite and self.suite is not None):
            message = "is for the texts of a suite: set centre=true and suite=NAME without texts=, or drop it"
            raise InputError(message, key="suite_data_dir", value=self.suite_data_dir)
        if needs_suite and self.suite is None:
            raise InputError("centre needs texts: set texts=FILE, or suite=NAME for its training texts", key="texts")


def open_average(values: Mapping[str, Any]) -> ModelEncoder:
    """The encoder with these values of `AverageSettings`, and of the embeddings as `embeddings.KEY`. Raises InputError for bad values or files."""
    settings = typed(AverageSettings, {key: values[key] for key in values if not key.startswith(SECTION)})
    options = _embedder_options(settings.embeddings, values)
    suite = None if settings.suite is None else load_suite(find_yaml("suite", settings.suite))
    language = settings.language or (suite.language if suite is not None else None)
    if language is None:
        message = "name the texts' language, for the tokenizer: language=CODE, as in language=pl"
        raise InputError(message, key="language")
    # Texts are read first: what is wrong with them shows before large files are opened.
    texts, tasks = _centring_texts(settings, suite) if settings.centre else ([], ())
    device = device_of(settings.device, "device")
    reader, parameters = _open_reader(options, settings.seed, suite, device)
    seed_text = f"seed {settings.seed}, " if "seed" in READ_SETTINGS[type(options)] else ""
    encoder = ModelEncoder(
        AverageModel(reader, parameters, language, device),
        "mean",
        name=f"average-{options.name}-mean" + ("-centred" if settings.centre else ""),
        title=f"Average of word vectors, {EMBEDDERS[options.name].title}" + (", centred" if settings.centre else ""),
        family="average",
        language=language,
        max_length=MAX_LENGTH,
        trained_on=tasks,
        settings=f"{seed_text}pooling mean, {'centred' if settings.centre else 'not centred'}",
    )
    if settings.centre:
        encoder.centre = mean_vector(texts, encoder.encode, "the mean of the texts")
    return encoder


def _embedder_options(embeddings: str, values: Mapping[str, Any]) -> EmbedderOptions:
    """The options of the embeddings' file, replaced by those in `values`. Raises InputError for options that averages cannot take."""
    section = {key.removeprefix(SECTION): value for key, value in values.items() if key.startswith(SECTION)}
    content = read_embeddings(embeddings)
    content.pop("config", None)  # changes other settings of runs
    options = typed(embedder_kind(content["name"]).options, {**content, **section}, SECTION)
    keys = READ_SETTINGS[type(options)]
    for key in values:
        if (key == "seed" or key.startswith(SECTION)) and key not in keys:
            raise InputError(f"averaged {options.name} vectors do not read it; they read {', '.join(keys)}", key=key)
    return options


def _centring_texts(settings: AverageSettings, suite: Suite | None) -> tuple[list[str], tuple[str, ...]]:
    """The distinct texts whose mean is subtracted, and the tasks of suites whose training texts they are."""
    if settings.texts is not None:
        texts = list(dict.fromkeys(text for text in read_lines(Path(settings.texts)) if text.strip()))
        if not texts:
            raise InputError("has no texts", path=settings.texts)
        return texts, ()
    assert suite is not None
    data_dir = Path(settings.suite_data_dir or suite.data_dir)
    texts = training_texts(suite, data_dir, PLAIN_HELD_OUT)
    tasks = [task for task in present_tasks(suite, data_dir) if task.path("train", data_dir) is not None]
    return texts, tuple(f"{suite.name}/{task.id}" for task in tasks)


class AverageModel:
    """A `ModelEncoder`'s model: the mean of the vectors of a text's words that have one, or zeros if none has."""

    def __init__(self, reader: Reader, parameters: int, language: str, device: torch.device) -> None:
        reader.embedder.to(device)
        self.reader, self.language, self.device = reader, language, device
        self.dim = reader.dim
        self.parameters, self.parameters_without_embeddings = parameters, 0  # all are in word vectors

    def versions(self) -> dict[str, str]:
        return {"mtl": VERSION, "tokenizer": moses_version()}

    def fingerprint(self) -> str:
        """A hash of the word vectors, and of the settings that make words of texts."""
        return hashlib.sha256(repr((self.reader.fingerprint(), self.language, MAX_LENGTH)).encode()).hexdigest()

    @torch.no_grad()
    def encode(self, texts: Sequence[str], pooling: str) -> np.ndarray:
        """The mean vectors of at least one text, float32 (texts, dim). `pooling` is "mean": there is no other."""
        with hidden_progress():
            tokenized = TokenizedTexts.tokenize(texts, self.language, MAX_LENGTH)
        sequences = self.reader.sequences(tokenized)
        # The mean is over the words with a vector, which `sequences` has looked up. The token of an empty text is no word.
        is_counted = self.reader.have_vectors(tokenized) & np.array([word != UNKNOWN for word in tokenized.types])
        type_weights = is_counted.astype(np.float32)
        token_weights = ArraySequences(type_weights[tokenized.tokens], tokenized.starts[:-1], tokenized.lengths)
        means = np.empty((len(tokenized), self.dim), dtype=np.float32)
        for batch in batches_by_length(sequences.lengths):
            tokens, _ = sequences.gather(batch)
            vectors = self.reader.embedder(tokens.to(self.device))
            weights = token_weights.gather(batch)[0].to(vectors.device)[..., None]
            means[batch.numpy()] = ((vectors * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)).cpu().numpy()
        return means[[tokenized.index[text] for text in texts]]


def _open_reader(options: EmbedderOptions, seed: int, suite: Suite | None, device: torch.device) -> tuple[Reader, int]:
    """The reader of embeddings in READ_SETTINGS, an ELMo's in float32, and the number of their parameters. Raises InputError for bad vectors."""
    kind = EMBEDDERS[options.name]
    kind.check_installed(options.name)
    if isinstance(options, RandomOptions):
        return _word_reader(DrawnVectors(options.dim, seed), options.dim), 0  # vectors that follow from the seed
    assert isinstance(options, ElmoOptions | StaticOptions) and kind.exists is not None
    vectors = options.path or (suite.embeddings.get(options.name) if suite else None)
    if vectors is None:
        raise InputError(f"name the {kind.title} vectors: {SECTION}path=PATH", key=f"{SECTION}path")
    path, _ = vector_path(vectors, Path("embeddings"), PLAIN_HELD_OUT)
    if not kind.exists(path):
        raise InputError(f"no such vectors; set {SECTION}path=PATH", path=path)
    if isinstance(options, ElmoOptions):
        from mtl.embedders.elmo.embeddings import ElmoEmbedder, ElmoReader, load_elmo

        elmo, digest = load_elmo(path, options.exact, device)
        reader = ElmoReader(elmo, digest, "float32", ElmoEmbedder(elmo))  # untrained: the mean of the layers
        return reader, reader.parameters()
    source = FileSource(path, None, ngrams=options.missing == "unknown")
    words, dim = source.file.shape
    check_dim(path, dim, options.dim)
    return _word_reader(source, dim), words * dim


def _word_reader(source: WordSource, dim: int) -> WordReader:
    """A reader of the words of a source alone. The vector of other words is zero."""
    embedder = WordEmbedder(Vocabulary.FIRST, dim, trainable=False)
    embedder.load(np.zeros((Vocabulary.FIRST, dim), dtype=np.float32))
    return WordReader(Vocabulary([]), embedder, source)


@dataclass(frozen=True)
class DrawnVectors:
    """A vector from N(0, 1) for any word, which depends on the word and the seed alone: a `WordSource`."""

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
