"""Averaged word vectors: sentence vectors without any training."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

import mtl
from mtl.data.blocks import encode_blocks, text_blocks
from mtl.data.text import UNKNOWN, TokenizedTexts, moses_version
from mtl.device import exact_arithmetic
from mtl.embedders import EMBEDDERS
from mtl.embedders.sequences import ArraySequences
from mtl.encoders.average_settings import POOLINGS, AverageParts, average_parts
from mtl.encoders.centre import mean_vector
from mtl.encoders.kind import Description
from mtl.encoders.weighting import WEIGHTINGS, WordCounts, count_words
from mtl.errors import InputError
from mtl.model.encoder import batches_by_length
from mtl.progress import Progress, hidden_progress

NAME = "average"
FLOAT = 4  # bytes of a number


class AverageEncoder:
    """`mtl.encoders.kind.SentenceEncoder` that pools the vectors of a text's words.

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
                f"weighting={self.settings.weighting}: no word of the texts has a vector; name other texts or other embeddings"
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
    """Averaged word vectors with these settings (`mtl.encoders.average_settings`). Raises InputError."""
    return AverageEncoder(average_parts(settings))
