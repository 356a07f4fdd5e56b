"""Averaged word vectors: sentence vectors without any training.

How much each word of a text counts in the mean of its word vectors.
The settings of averaged word vectors, and what they name: word vectors, a language, and texts to count words in.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import mtl
from mtl.base.device import device_of, exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.progress import Progress, hidden_progress
from mtl.data.dataset import present_tasks, training_texts
from mtl.data.files import read_lines
from mtl.data.text import UNKNOWN, TokenizedTexts, moses_version
from mtl.embedders import EMBEDDERS
from mtl.embedders.embedder import OpenRequest, Reader
from mtl.embedders.find import PLAIN_HELD_OUT, embedder_options, vector_file
from mtl.encoders.encoder import Description, check_language, encode_blocks, mean_vector, text_blocks
from mtl.model.encoder import batches_by_length
from mtl.model.sequences import ArraySequences
from mtl.settings.bounds import AT_LEAST_ONE, PART, bounded, one_of, typed_settings
from mtl.settings.layers import find_suite
from mtl.settings.schema import EmbedderOptions
from mtl.tasks.suite import Suite, load_suite


@dataclass
class WordCounts:
    """How often words occur in texts.

    texts: their number. tokens: the number of all their tokens. counts: of each word. documents: in how many texts each word occurs.
    """

    texts: int = 0
    tokens: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    documents: Counter[str] = field(default_factory=Counter)

    def add(self, texts: TokenizedTexts) -> None:
        """Count distinct texts."""
        words = len(texts.types)
        numbers = np.repeat(np.arange(len(texts)), texts.lengths)
        pairs = np.unique(numbers * words + texts.tokens)
        self.texts += len(texts)
        self.tokens += len(texts.tokens)
        for total, found in ((self.counts, texts.tokens), (self.documents, pairs % words)):
            total.update(dict(zip(texts.types, np.bincount(found, minlength=words).tolist(), strict=True)))


def count_words(texts: Sequence[str], language: str, max_length: int) -> WordCounts:
    """Count the words of distinct texts, each cut to its first `max_length` tokens."""
    counts = WordCounts()
    with Progress("counting words", len(texts), "texts") as shown:
        for _, block in text_blocks(texts):
            with hidden_progress():
                counts.add(TokenizedTexts(block, language, max_length))
            shown.advance(len(block))
    return counts


def inverse_document_frequency(counts: WordCounts, word: str) -> float:
    """ln((1 + texts) / (1 + texts with the word)) + 1, as scikit-learn's TfidfVectorizer has it by default."""
    return math.log((1 + counts.texts) / (1 + counts.documents[word])) + 1


SMOOTHING = 1e-3  # the constant a of Arora et al. 2017, who recommend 1e-3 to 1e-4


def smooth_inverse_frequency(counts: WordCounts, word: str) -> float:
    """a / (a + p), where p is the word's share of all tokens (Arora et al. 2017, "A simple but tough-to-beat baseline", section 3)."""
    return SMOOTHING / (SMOOTHING + counts.counts[word] / counts.tokens)


@dataclass(frozen=True)
class Weighting:
    """One way to weight words: an entry of WEIGHTINGS.

    title: as in a table; None: the title does not name it. weight: of a word. by_weight: whether the mean is over the sum of weights; else
    over the number of words. removes_component: whether vectors lack their projection on the first singular vector of the texts'
    vectors. reads_texts: whether `weight` needs the counts.
    """

    title: str | None
    weight: Callable[[WordCounts, str], float]
    by_weight: bool = True
    removes_component: bool = False
    reads_texts: bool = True


# By name, as in `weighting=`.
WEIGHTINGS: Mapping[str, Weighting] = {
    "none": Weighting(None, lambda counts, word: 1.0, reads_texts=False),
    "tfidf": Weighting("TF-IDF", inverse_document_frequency),
    "sif": Weighting("SIF", smooth_inverse_frequency, by_weight=False, removes_component=True),
}


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
    pooling: str = one_of(*POOLINGS, default="mean")
    weighting: str = one_of(*WEIGHTINGS, default="none")
    layer: int | None = None
    seed: int = 1
    centre: bool = False
    max_length: int = bounded(AT_LEAST_ONE, 256)
    texts: str | None = None
    suite: str | None = None
    data_dir: str | None = None
    held_out: float = bounded(PART, PLAIN_HELD_OUT)
    embeddings_dir: str = "embeddings"
    device: str = "cpu"

    @property
    def reads_texts(self) -> bool:
        """Whether the vectors depend on the texts."""
        return self.centre or WEIGHTINGS[self.weighting].reads_texts

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        if self.language is not None:
            check_language(self.language)
        if self.pooling == "max" and WEIGHTINGS[self.weighting].reads_texts:
            raise InputError("weights a mean; set pooling=mean or pooling=both", key="weighting", value=self.weighting)
        if self.texts is not None and not self.reads_texts:
            raise InputError(
                "nothing reads them; set weighting=tfidf, weighting=sif or centre=true", key="texts", value=self.texts
            )
        if self.texts is not None and self.data_dir is not None:
            raise InputError(
                f"texts={self.texts} are read instead; drop one of them", key="data_dir", value=self.data_dir
            )
        if self.data_dir is not None and self.suite is None:
            raise InputError("name the suite that it belongs to: suite=NAME", key="data_dir", value=self.data_dir)
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
    options = embedder_options(settings.embeddings, of_embeddings)
    _check_read(options.name, given)
    suite = None if settings.suite is None else load_suite(find_suite(settings.suite))
    language = settings.language or (suite.language if suite is not None else None)
    if language is None:
        raise InputError(
            "name the texts' language, for the tokenizer: language=CODE, as in language=pl", key="language"
        )
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
            raise InputError(f"averaged {embeddings} vectors do not read it; they read {', '.join(read)}", key=key)


def _open(settings: AverageSettings, options: EmbedderOptions, suite: Suite | None, device: torch.device) -> Reader:
    kind = EMBEDDERS[options.name]
    if kind.open is None:
        known = ", ".join(name for name, other in EMBEDDERS.items() if other.open)
        raise InputError(f"have no vectors without a run; averages take {known}", key="embeddings", value=options.name)
    path = None
    if kind.files is not None:
        named = getattr(options, "path", None) or (suite.embeddings.get(options.name) if suite else None)
        if named is None:
            raise InputError(f"{SECTION}path: name the {kind.title} vectors: {SECTION}path=PATH")
        path, _ = vector_file(named, Path(settings.embeddings_dir), settings.held_out)
        if not kind.files.exists(path):
            raise InputError(str(kind.files.problem(path) or f"no such vectors; set {SECTION}path=PATH"), path=path)
    reader = kind.open(OpenRequest(options, path, settings.layer, settings.seed, device))
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
    data_dir = Path(settings.data_dir or f"data/{suite.name}")
    texts = training_texts(suite, data_dir, settings.held_out)
    trained = [task for task in present_tasks(suite, data_dir) if task.path("train", data_dir) is not None]
    return texts, tuple(f"{suite.name}/{task.id}" for task in trained)


NAME = "average"
FLOAT = 4  # bytes of a number


class AverageEncoder:
    """`mtl.encoders.encoder.SentenceEncoder` that pools the vectors of a text's words.

    A word without a vector does not count; a text without any such word has zeros in place of its mean and maximum.
    """

    def __init__(self, parts: AverageParts) -> None:
        self.parts = parts
        self.settings = parts.settings
        self.weighting = WEIGHTINGS[self.settings.weighting]
        self.dim = parts.reader.dim * (2 if self.settings.pooling == "both" else 1)
        self.counts = WordCounts()
        if self.weighting.reads_texts:
            self.counts = count_words(parts.texts, parts.language, self.settings.max_length)
        self.component: np.ndarray | None = None
        if self.weighting.removes_component:
            self.component = self._first_component()
        self.centre: np.ndarray | None = None
        if self.settings.centre:
            self.centre = mean_vector(parts.texts, self._pooled, "the mean of the texts")

    @cached_property
    def description(self) -> Description:
        """What the encoder is."""
        settings, options = self.settings, self.parts.options
        names, titles = [NAME, options.name], [f"{POOLINGS[settings.pooling]} of word vectors"]
        titles.append(EMBEDDERS[options.name].title)
        if settings.layer is not None:
            names.append(f"layer{settings.layer}")
            titles.append(f"layer {settings.layer}")
        names.append(settings.pooling)
        if self.weighting.title is not None:
            names.append(settings.weighting)
            titles.append(self.weighting.title)
        if settings.centre:
            names.append("centred")
            titles.append("centred")
        return Description(
            name="-".join(names),
            title=", ".join(titles),
            family=NAME,
            dim=self.dim,
            language=self.parts.language,
            parameters=self.parts.reader.parameters(),
            parameters_without_embeddings=0,
            memory=FLOAT * self.parts.reader.parameters(),
            max_length=settings.max_length,
            trained_on=self.parts.seen,
            suite=self.parts.suite,
            seed=None,
            settings=", ".join(self._settings()),
        )

    def _settings(self) -> list[str]:
        """What the vectors depend on, defaults included, in words."""
        settings = self.settings
        seed = [f"seed {settings.seed}"] if "seed" in EMBEDDERS[self.parts.options.name].open_keys else []
        weights = [] if settings.weighting == "none" else [f"weighting {settings.weighting}"]
        return [*seed, f"pooling {settings.pooling}", *weights, f"{'' if settings.centre else 'not '}centred"]

    def learn(self, texts: Sequence[str]) -> None:
        """Look up the words of these texts at once."""
        with hidden_progress():
            self.parts.reader.learn(TokenizedTexts(texts, self.parts.language, self.settings.max_length).types)

    def encode(self, texts: Sequence[str], progress: bool = False) -> np.ndarray:
        """The vectors of these texts, float32 (texts, dim). Raises InputError for a text that is not in a list."""
        vectors = encode_blocks(texts, self._pooled, self.dim, progress)
        return vectors if self.centre is None else vectors - self.centre

    def fingerprint(self) -> str:
        """A hash of the word vectors, the settings, and what the texts gave, but of no path."""
        return self._fingerprint

    def versions(self) -> dict[str, str]:
        """Those of mtl and of the tokenizer."""
        return {"mtl": mtl.__version__, "tokenizer": moses_version()}

    @cached_property
    def _fingerprint(self) -> str:
        settings = self.settings
        chosen = (self.parts.language, settings.pooling, settings.weighting, settings.max_length)
        content = hashlib.sha256(repr((self.parts.reader.fingerprint(), chosen)).encode())
        if settings.reads_texts:
            content.update(repr((settings.centre, self.parts.texts)).encode("utf-8", "surrogatepass"))
        return content.hexdigest()

    def _first_component(self) -> np.ndarray:
        """The first right singular vector of the matrix of the texts' weighted means, which is not centred, float32 (dim,).

        Raises InputError if the matrix is zero.
        """
        texts, dim = self.parts.texts, self.parts.reader.dim
        products = np.zeros((dim, dim))
        with Progress("the first component", len(texts), "texts") as shown:
            for _, block in text_blocks(texts):
                means = self._pooled(block)[:, :dim].astype(np.float64)
                products += means.T @ means
                shown.advance(len(block))
        if not products.any():
            raise InputError(
                "no word of the texts has a vector; name other texts or other embeddings",
                key="weighting",
                value=self.settings.weighting,
            )
        component: np.ndarray = np.linalg.eigh(products)[1][:, -1].astype(np.float32)
        return component

    @exact_arithmetic()
    @torch.no_grad()
    def _pooled(self, texts: Sequence[str]) -> np.ndarray:
        """The texts' vectors before centring, float32 (texts, dim). texts: at least one."""
        with hidden_progress():
            known = TokenizedTexts(texts, self.parts.language, self.settings.max_length)
        sequences = self.parts.reader.sequences(known)
        weights = ArraySequences(self._type_weights(known)[known.tokens], known.starts[:-1], known.lengths)
        vectors = np.empty((len(known), self.dim), dtype=np.float32)
        for places in batches_by_length(sequences.lengths):
            tokens, _ = sequences.gather(places)
            embedded = self.parts.reader.embedder(tokens.to(self.parts.device))
            pooled = self._pool(embedded, weights.gather(places)[0].to(embedded.device))
            vectors[places.numpy()] = pooled.cpu().numpy()
        numbers = [known.index[text] for text in texts]
        return vectors[numbers]

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
        known = self.parts.reader.known(texts)
        weight, counts = self.weighting.weight, self.counts
        return np.array(
            [
                weight(counts, word) if has_vector and word != UNKNOWN else 0.0
                for word, has_vector in zip(texts.types, known.tolist(), strict=True)
            ],
            dtype=np.float32,
        )


def open_average(name: str, settings: Mapping[str, Any]) -> AverageEncoder:
    """Averaged word vectors with these settings (`mtl.encoders.average`). Raises InputError."""
    return AverageEncoder(average_parts(settings))
