"""Heads, and what they read: `new_heads` makes those of the configuration, `TaskInput` holds their input, `overlap` compares the texts of pairs.

Why overlap features: neither word vectors nor an LSTM show directly which character n-grams two texts share. In an inflected language, this
says much about related sentences: the cosine of character n-grams alone ranks the pairs of CDSC-R better than most published LSTMs.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from mtl.base.device import device_of
from mtl.base.memory import check_fits
from mtl.base.settings.schema import Config, TrainerConfig
from mtl.data.dataset import Split
from mtl.model.encoder import Encoder
from mtl.model.network import Heads, TaskNetwork
from mtl.model.sequences import Sequences
from mtl.tasks.task import Task
from mtl.training.batches import BatchDataset, Chosen, batch_rows, predict_rows, row_lengths, sorted_batches
from mtl.training.precision import mixed_precision

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_words = re.compile(r"\w+").findall
BUCKETS = 1 << 22  # the number of values of the hash of an n-gram
FLOAT = 4  # bytes of a number
CHARACTERS = (2, 3, 4, 5)  # the lengths of character n-grams, which stay within words, as in the TF-IDF floors
FEATURES = (
    "cosine of words",
    *(f"cosine of {length}-grams of characters" for length in CHARACTERS),
    "shared words / all words",
    "shared words / words of the text with fewer",
    "length of the shorter text / length of the longer one",
)


def new_heads(config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], dim: int) -> Heads:
    """The heads that the configuration describes, for an encoder whose outputs have the size `dim`; `outputs` are those for one input, by task id.
    Raises InputError if they do not fit this machine's memory."""
    head = config.head
    attention, features = head.attention_size if head.attention else None, len(FEATURES) if head.overlap else 0
    sizes = (head.hidden_size, head.dropout, attention, head.projection, features)
    make = partial(Heads, tasks, outputs, dim, *sizes, head.pair == "cosine", head.crf)
    check_size(make)
    return make()


def check_size(make: Callable[[], nn.Module], copies: int = 1, further: int = 0) -> None:
    """Raise InputError if so many copies of the weights of what `make` returns, and further numbers, do not fit this machine's memory."""
    with torch.device("meta"):  # it computes sizes alone, and draws no random numbers
        weights = sum(weight.numel() for weight in make().parameters())
    remedy = "set smaller sizes in encoder., embeddings. and head."
    check_fits(FLOAT * (copies * weights + further), "a network of these sizes", remedy)


@dataclass(frozen=True)
class TaskInput:
    """What one task's head reads.

    Args:
        sequences: texts for the encoder, or its outputs for their tokens. Batches hold rows of similar length.
        vectors: float32 (texts, dim), for heads that read a vector of each whole text. Rows are shuffled freely.
        encoder: the encoder that runs in each step, because it is trained with the head; None if the texts are already encoded.
    """

    sequences: Sequences | None = None
    vectors: Tensor | None = None
    encoder: Encoder | None = None

    def batches(self, rows: Mapping[str, Split]) -> BatchDataset:
        """The dataset that makes batches of these rows, which are by the id of the task whose head reads them."""
        return BatchDataset(rows, self.sequences, self.vectors)

    def row_lengths(self, rows: Mapping[str, Split]) -> dict[str, np.ndarray]:
        """The rows' lengths for making batches; all 0 if rows are shuffled freely."""
        lengths = None if self.sequences is None else self.sequences.lengths.numpy()
        return {id: np.zeros(len(part)) if lengths is None else row_lengths(part, lengths) for id, part in rows.items()}

    def in_order(self, rows: Mapping[str, Split], size: int) -> list[Chosen]:
        """All rows, for a network that is not trained, in batches of `size` model inputs."""
        return sorted_batches(self.row_lengths(rows), {id: batch_rows(part, size) for id, part in rows.items()})

    def computed(
        self,
        compute: Callable[..., np.ndarray],
        network: TaskNetwork,
        head: str,
        split: Split,
        size: int,
        trainer: TrainerConfig,
    ) -> np.ndarray:
        """The results of a network for the rows of a split, in row order, computed on its device: codes (`predict_rows`) or outputs (`row_outputs`).
        `head` is the id of the task whose head reads the rows, `size` the number of model inputs in a batch."""
        device, rows = next(network.parameters()).device, {head: split}
        with mixed_precision(trainer, device):
            return compute(network, self.batches(rows), self.in_order(rows, size), device)

    def codes(
        self, network: TaskNetwork, head: str, splits: Mapping[str, Split], size: int, trainer: TrainerConfig
    ) -> dict[str, np.ndarray]:
        """The codes that a network predicts for all splits but train: (rows,) or (rows, codes) by split. The network is on the CPU before and after,
        and on the device of `trainer` meanwhile. The arguments are as in `computed`."""
        network.to(device_of(trainer.accelerator))
        wanted = {name: split for name, split in splits.items() if name != "train"}
        codes = {id: self.computed(predict_rows, network, head, split, size, trainer) for id, split in wanted.items()}
        network.to("cpu")
        return codes


def with_overlap(split: Split, texts: Sequence[str]) -> Split:
    """The rows of a task on pairs of the dataset's texts, with the overlap of each pair."""
    pairs, inverse = np.unique(split.texts, axis=0, return_inverse=True)
    return replace(split, overlap=overlap(texts, pairs)[inverse.ravel()])


def overlap(texts: Sequence[str], pairs: np.ndarray) -> np.ndarray:
    """FEATURES of each pair of texts in lower case, float32 (pairs, features), each from 0 to 1. An empty text overlaps with nothing. `pairs` are
    indices of texts, int64 (pairs, 2)."""
    if not len(pairs):
        return np.empty((0, len(FEATURES)), dtype=np.float32)
    distinct, inverse = np.unique(pairs, return_inverse=True)
    lower = [texts[number].lower() for number in distinct]
    first, second = inverse.reshape(pairs.shape).T
    vectors = (_vectors(lower, length) for length in (None, *CHARACTERS))
    cosines = [np.asarray(of[first].multiply(of[second]).sum(axis=1)).ravel() for of in vectors]
    words = [frozenset(_words(text)) for text in lower]
    shared = np.array([len(words[u] & words[v]) for u, v in zip(first, second, strict=True)])
    counts = np.array([len(distinct_words) for distinct_words in words])
    fewer = np.minimum(counts[first], counts[second])
    lengths = np.array([len(text) for text in lower])
    shorter, longer = np.minimum(lengths[first], lengths[second]), np.maximum(lengths[first], lengths[second])
    shares = [_ratio(shared, counts[first] + counts[second] - shared), _ratio(shared, fewer), _ratio(shorter, longer)]
    return np.column_stack([*cosines, *shares]).astype(np.float32)


def _vectors(texts: Sequence[str], length: int | None) -> "csr_matrix":
    """Counts of the words (`length` None) or character n-grams of each text, as 1 + log(count), scaled to norm 1: (texts, BUCKETS)."""
    # Not at the top: most runs need neither, and their import takes a second.
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import normalize

    kind = {"analyzer": _words} if length is None else {"analyzer": "char_wb", "ngram_range": (length, length)}
    vectorizer = HashingVectorizer(**kind, lowercase=False, n_features=BUCKETS, alternate_sign=False, norm=None)
    counts = vectorizer.transform(texts)
    counts.data = 1 + np.log(counts.data)
    return normalize(counts)


def _ratio(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    return part / np.maximum(total, 1)  # 0 where the total is 0
