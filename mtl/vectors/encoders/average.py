"""Averaged word vectors: sentence vectors without any training. A weighting says how much each word of a text counts."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from torch import Tensor

from mtl.base.device import device_of, exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.progress import Progress, hidden_progress
from mtl.base.settings.layers import find_suite
from mtl.base.settings.schema import EmbedderOptions
from mtl.base.typed import AT_LEAST_ONE, PART, check_choice, typed
from mtl.base.version import VERSION
from mtl.data.dataset import present_tasks, training_texts
from mtl.data.files import read_lines
from mtl.data.text import UNKNOWN, TokenizedTexts, encode_blocks, moses_version, text_blocks
from mtl.embedders import EMBEDDERS
from mtl.embedders.interface import Reader
from mtl.embedders.recipes import PLAIN_HELD_OUT, vector_path
from mtl.embedders.weighting import WEIGHTINGS, WordCounts
from mtl.model.encoder import batches_by_length
from mtl.model.sequences import ArraySequences
from mtl.tasks.suite import Suite, load_suite
from mtl.vectors.encoders.encoder import FLOAT, Description, check_language, mean_vector
from mtl.vectors.encoders.readers import OPENERS, VectorReaderRequest, embedder_options

POOLINGS = {"mean": "Average", "max": "Maximum", "both": "Average and maximum"}  # as in tables
NAME = "average"
SECTION = "embeddings."
NEEDS_TEXTS = "weighting and centre need texts: set texts=FILE, or suite=NAME for its training texts"


@dataclass
class AverageSettings:
    """The settings beside those of the embeddings.

    Attributes:
        embeddings: the name or path of an embeddings file.
        language: the language of the tokenizer; None: the suite's.
        pooling: mean, max, or both: mean and max joined.
        weighting: how much a word counts in the mean: none, tfidf or sif.
        layer: the layer of embeddings with layers; None: their mean.
        seed: the seed of random vectors.
        centre: subtract the mean vector of the texts.
        max_length: tokens of a text.
        texts: a file of texts, one per line, for weighting and centre.
        suite: a suite whose training texts serve as `texts`.
        data_dir: the folder of this suite's data.
        held_out: share of its training rows that runs hold out as dev, and that are not read.
        embeddings_dir: the folder of recipes' vectors.
        device: where to compute.
    """

    embeddings: str = "fasttext"
    language: str | None = None
    pooling: Literal["mean", "max", "both"] = "mean"
    weighting: str = "none"
    layer: int | None = None
    seed: int = 1
    centre: bool = False
    max_length: Annotated[int, AT_LEAST_ONE] = 256
    texts: str | None = None
    suite: str | None = None
    data_dir: str | None = None
    held_out: Annotated[float, PART] = PLAIN_HELD_OUT
    embeddings_dir: str = "embeddings"
    device: str = "cpu"

    @property
    def reads_texts(self) -> bool:
        """Whether the vectors depend on the texts."""
        return self.centre or WEIGHTINGS[self.weighting].reads_texts

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        check_choice("weighting", self.weighting, WEIGHTINGS)
        if self.language is not None:
            check_language(self.language)
        if self.pooling == "max" and WEIGHTINGS[self.weighting].reads_texts:
            message = "weights a mean; set pooling=mean or pooling=both"
            raise InputError(message, key="weighting", value=self.weighting)
        if self.texts is not None and not self.reads_texts:
            message = "nothing reads them; set weighting=tfidf, weighting=sif or centre=true"
            raise InputError(message, key="texts", value=self.texts)
        if self.texts is not None and self.data_dir is not None:
            message = f"texts={self.texts} are read instead; drop one of them"
            raise InputError(message, key="data_dir", value=self.data_dir)
        if self.data_dir is not None and self.suite is None:
            raise InputError("name the suite that it belongs to: suite=NAME", key="data_dir", value=self.data_dir)
        if self.reads_texts and self.texts is None and self.suite is None:
            raise InputError(NEEDS_TEXTS, key="texts")


def open_average(name: str, values: Mapping[str, Any]) -> "AverageEncoder":
    """Averaged word vectors with these settings. Raises InputError."""
    section = {key.removeprefix(SECTION): value for key, value in values.items() if key.startswith(SECTION)}
    settings = typed(AverageSettings, {key: values[key] for key in values if not key.startswith(SECTION)})
    options = embedder_options(settings.embeddings, section)
    optional = {key for opener in OPENERS.values() for key in opener.keys if not key.startswith(SECTION)}
    read = OPENERS[options.name].keys if options.name in OPENERS else ()
    for key in values:
        if (key in optional or key.startswith(SECTION)) and key not in read:
            message = f"averaged {options.name} vectors do not read it; they read {', '.join(read)}"
            raise InputError(message, key=key)
    suite = None if settings.suite is None else load_suite(find_suite(settings.suite))
    language = settings.language or (suite.language if suite is not None else None)
    if language is None:
        message = "name the texts' language, for the tokenizer: language=CODE, as in language=pl"
        raise InputError(message, key="language")
    return AverageEncoder(settings, options, suite, language)


def fitting(settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """As `Choices.fits`: only centring and weights read texts, and only a mean has weights. Raises InputError for centring without texts."""
    if settings.get("centre") and not (settings.get("texts") or settings.get("suite")):
        raise InputError(NEEDS_TEXTS, key="texts")
    weighted = settings.get("weighting", "none") != "none"
    if weighted and settings.get("pooling") == "max":
        return None
    reads_texts = weighted or settings.get("centre")
    return {key: value for key, value in settings.items() if key != "texts" or reads_texts}


class AverageEncoder:
    """A `SentenceEncoder` that pools the vectors of a text's words.

    A word without a vector does not count; a text without any such word has zeros in place of its mean and maximum.
    """

    def __init__(self, settings: AverageSettings, options: EmbedderOptions, suite: Suite | None, language: str) -> None:
        """Open what the checked settings, with the suite that they name and the tokenizer's language, ask for. Raises InputError."""
        self.settings, self.options, self.suite, self.language = settings, options, suite, language
        # Texts are read first: what is wrong with them shows before large files are opened.
        self.texts, self.seen = _texts(settings, suite) if settings.reads_texts else ([], ())
        self.device = device_of(settings.device, "device")
        self.reader = _open(settings, options, suite, self.device)
        self.weighting = WEIGHTINGS[settings.weighting]
        self.dim = self.reader.dim * (2 if settings.pooling == "both" else 1)
        self.counts = WordCounts()
        if self.weighting.reads_texts:
            self.counts = count_words(self.texts, language, settings.max_length)
        self.component: np.ndarray | None = None  # which _pooled reads
        if self.weighting.removes_component:
            self.component = self._first_component()
        self.centre = mean_vector(self.texts, self._pooled, "the mean of the texts") if settings.centre else None

    @cached_property
    def description(self) -> Description:
        """What the encoder is."""
        settings, kind, weighting = self.settings, EMBEDDERS[self.options.name], self.weighting
        parts = [(NAME, f"{POOLINGS[settings.pooling]} of word vectors"), (self.options.name, kind.title)]
        if settings.layer is not None:
            parts.append((f"layer{settings.layer}", f"layer {settings.layer}"))
        parts.append((settings.pooling, ""))
        if weighting.title is not None:
            parts.append((settings.weighting, weighting.title))
        if settings.centre:
            parts.append(("centred", "centred"))
        # What the vectors depend on, defaults included, in words.
        in_words = [f"seed {settings.seed}"] if "seed" in OPENERS[self.options.name].keys else []
        in_words.append(f"pooling {settings.pooling}")
        if settings.weighting != "none":
            in_words.append(f"weighting {settings.weighting}")
        in_words.append("centred" if settings.centre else "not centred")
        return Description(
            name="-".join(name for name, _ in parts),
            title=", ".join(title for _, title in parts if title),
            family=NAME,
            dim=self.dim,
            language=self.language,
            parameters=self.reader.parameters(),
            parameters_without_embeddings=0,
            memory=FLOAT * self.reader.parameters(),
            max_length=settings.max_length,
            trained_on=self.seen,
            suite=None if self.suite is None else self.suite.name,
            settings=", ".join(in_words),
        )

    def learn(self, texts: Sequence[str]) -> None:
        """Look up the words of these texts at once."""
        with hidden_progress():
            self.reader.learn(TokenizedTexts(texts, self.language, self.settings.max_length).types)

    def encode(self, texts: Sequence[str], progress: bool = False) -> np.ndarray:
        """The vectors of these texts, float32 (texts, dim). Raises InputError for a text that is not in a list."""
        vectors = encode_blocks(texts, self._pooled, self.dim, progress)
        return vectors if self.centre is None else vectors - self.centre

    def versions(self) -> dict[str, str]:
        """Those of mtl and of the tokenizer."""
        return {"mtl": VERSION, "tokenizer": moses_version()}

    def fingerprint(self) -> str:
        """A hash of the word vectors, the settings, and what the texts gave, but of no path."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        settings = self.settings
        values = (self.language, settings.pooling, settings.weighting, settings.max_length)
        content = hashlib.sha256(repr((self.reader.fingerprint(), values)).encode())
        if settings.reads_texts:
            content.update(repr((settings.centre, self.texts)).encode("utf-8", "surrogatepass"))
        return content.hexdigest()

    def _first_component(self) -> np.ndarray:
        """The first right singular vector of the matrix of the texts' weighted means, float32 (dim,). Raises InputError if it is zero."""
        texts, dim = self.texts, self.reader.dim
        products = np.zeros((dim, dim))
        with Progress("the first component", len(texts), "texts") as bar:
            for _, block in text_blocks(texts):
                means = self._pooled(block)[:, :dim].astype(np.float64)
                products += means.T @ means
                bar.advance(len(block))
        if not products.any():
            message = "no word of the texts has a vector; name other texts or other embeddings"
            raise InputError(message, key="weighting", value=self.settings.weighting)
        component: np.ndarray = np.linalg.eigh(products)[1][:, -1].astype(np.float32)
        return component

    @exact_arithmetic()
    @torch.no_grad()
    def _pooled(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of at least one text before centring, float32 (texts, dim)."""
        with hidden_progress():
            tokenized = TokenizedTexts(texts, self.language, self.settings.max_length)
        sequences = self.reader.sequences(tokenized)
        token_weights = self._type_weights(tokenized)[tokenized.tokens]
        weights = ArraySequences(token_weights, tokenized.starts[:-1], tokenized.lengths)
        vectors = np.empty((len(tokenized), self.dim), dtype=np.float32)
        for batch in batches_by_length(sequences.lengths):
            tokens, _ = sequences.gather(batch)
            embedded = self.reader.embedder(tokens.to(self.device))
            pooled = self._pool(embedded, weights.gather(batch)[0].to(embedded.device))
            vectors[batch.numpy()] = pooled.cpu().numpy()
        return vectors[[tokenized.index[text] for text in texts]]

    def _pool(self, vectors: Tensor, weights: Tensor) -> Tensor:
        """Word vectors (batch, time, dim) and weights (batch, time), 0 for words without a vector -> text vectors (batch, dim)."""
        counted = weights > 0
        parts = []
        if self.settings.pooling != "max":
            sizes = weights if self.weighting.by_weight else counted
            total = sizes.sum(dim=1, keepdim=True)
            mean = (vectors * weights[..., None]).sum(dim=1) / total.masked_fill(total == 0, 1)
            if self.component is not None:
                component = torch.from_numpy(self.component).to(mean.device)
                mean = mean - (mean @ component)[:, None] * component
            parts.append(mean)
        if self.settings.pooling != "mean":
            highest = vectors.masked_fill(~counted[..., None], -torch.inf).amax(dim=1)
            parts.append(highest.masked_fill(~counted.any(dim=1, keepdim=True), 0))
        return torch.cat(parts, dim=1)

    def _type_weights(self, texts: TokenizedTexts) -> np.ndarray:
        """The weight of each of `texts.types`, float32 (types,); 0 for words without a vector, and for the token of an empty text."""
        weights = [
            self.weighting.weight(self.counts, word) if has_vector and word != UNKNOWN else 0.0
            for word, has_vector in zip(texts.types, self.reader.have_vectors(texts).tolist(), strict=True)
        ]
        return np.array(weights, dtype=np.float32)


def _open(settings: AverageSettings, options: EmbedderOptions, suite: Suite | None, device: torch.device) -> Reader:
    kind = EMBEDDERS[options.name]
    if options.name not in OPENERS:
        message = f"have no vectors without a run; averages take {', '.join(OPENERS)}"
        raise InputError(message, key="embeddings", value=options.name)
    kind.check_installed(options.name)
    path = None
    if kind.files is not None:
        vectors = getattr(options, "path", None) or (suite.embeddings.get(options.name) if suite else None)
        if vectors is None:
            raise InputError(f"name the {kind.title} vectors: {SECTION}path=PATH", key=f"{SECTION}path")
        path, _ = vector_path(vectors, Path(settings.embeddings_dir), settings.held_out)
        if not kind.files.exists(path):
            raise InputError(kind.files.problem(path) or f"no such vectors; set {SECTION}path=PATH", path=path)
    reader = OPENERS[options.name].open(VectorReaderRequest(options, path, settings.layer, settings.seed, device))
    reader.embedder.to(device)
    return reader


def _texts(settings: AverageSettings, suite: Suite | None) -> tuple[list[str], tuple[str, ...]]:
    """The distinct texts that words are counted in, and the tasks whose training texts they are."""
    if settings.texts is not None:
        texts = list(dict.fromkeys(text for text in read_lines(Path(settings.texts)) if text.strip()))
        if not texts:
            raise InputError("has no texts", path=settings.texts)
        return texts, ()
    assert suite is not None
    data_dir = Path(settings.data_dir or suite.data_dir)
    texts = training_texts(suite, data_dir, settings.held_out)
    trained = [task for task in present_tasks(suite, data_dir) if task.path("train", data_dir) is not None]
    return texts, tuple(f"{suite.name}/{task.id}" for task in trained)


def count_words(texts: Sequence[str], language: str, max_length: int) -> WordCounts:
    """Count the words of distinct texts, each cut to its first `max_length` tokens."""
    counts = WordCounts()
    with Progress("counting words", len(texts), "texts") as bar:
        for _, block in text_blocks(texts):
            with hidden_progress():
                tokenized = TokenizedTexts(block, language, max_length)
            for number in range(len(tokenized)):
                counts.add(tokenized.words(number))
            bar.advance(len(block))
    return counts
