"""The vectors that an export must give, computed by mtl's own encoder, and the check that it gives them."""

import random
from collections.abc import Callable, Sequence

import numpy as np
import torch

from mtl.data.text import BOUNDARIES, TokenizedTexts, Vocabulary
from mtl.device import exact_arithmetic
from mtl.embedders.words import WordEmbedder, word_sequences
from mtl.errors import InputError
from mtl.export.kind import Export
from mtl.model.encoder import Encoder
from mtl.progress import hidden_progress

TOLERANCE = 1e-5
Encode = Callable[[Sequence[str]], np.ndarray]


class Reference:
    """The encoder of an export in float32. Words that are not among its words are unknown."""

    def __init__(self, export: Export) -> None:
        self.export = export
        parts = export.parts
        embedder = WordEmbedder(len(parts.vectors), parts.vectors.shape[1], trainable=False)
        embedder.load(parts.vectors.numpy())
        sizes = (parts.vectors.shape[1], parts.hidden_size, parts.num_layers)
        self.encoder = Encoder(embedder, *sizes, embedding_dropout=0, dropout=0, join_input=parts.join_input)
        self.encoder.lstm.load_state_dict(parts.lstm)
        self.vocabulary = Vocabulary(parts.words)

    def ids(self, texts: Sequence[str]) -> list[np.ndarray]:
        """The word ids of each text, int64 (tokens,)."""
        tokenized = self._tokenized(texts)
        rows = word_sequences(self.vocabulary, tokenized)
        places = torch.tensor([tokenized.index[text] for text in texts])
        ids, lengths = rows.gather(places)
        return [row[:length].numpy() for row, length in zip(ids, lengths.tolist(), strict=True)]

    @exact_arithmetic()
    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of texts, float32 (texts, dim)."""
        tokenized, export = self._tokenized(texts), self.export
        with hidden_progress():
            sequences = word_sequences(self.vocabulary, tokenized)
            encoded = self.encoder.encode(sequences, torch.arange(len(tokenized)), pooling=export.pooling)
        vectors: np.ndarray = encoded[[tokenized.index[text] for text in texts]].numpy()
        return vectors if export.centre is None else vectors - export.centre

    def _tokenized(self, texts: Sequence[str]) -> TokenizedTexts:
        parts = self.export.parts
        with hidden_progress():
            tokenized = TokenizedTexts(texts, parts.language, parts.max_length)
        return tokenized.with_boundaries() if parts.boundary_words else tokenized

    def check(self, encode: Encode) -> None:
        """Raise InputError if an export gives other vectors for some texts. encode: its vectors of texts."""
        texts = probe_texts(self.export.parts.words, self.export.parts.max_length)
        difference = float(np.abs(encode(texts) - self.encode(texts)).max())
        if not difference <= TOLERANCE:
            raise InputError(
                f"the exported model gives other vectors than the run (they differ by up to {difference:.2g}), so nothing is written;"
                " use the versions of constraints.txt"
            )


def probe_texts(words: Sequence[str], max_length: int) -> list[str]:
    """Texts of different lengths, the longest longer than `max_length` tokens, with known and unknown words; some have no word."""
    rng = random.Random(0)
    known = [word for word in words if word not in BOUNDARIES] or ["x"]
    lengths = (1, 2, 3, 5, 8, 13, 21, max_length, max_length + 7)
    texts = [" ".join(rng.choices(known, k=length)) for length in lengths]
    return [*texts, f"{texts[2]}, {texts[3]} (qx7-zz)...", "qx7zz", "", " ", texts[1]]
