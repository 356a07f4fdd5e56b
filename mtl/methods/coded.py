"""The dataset's targets as the codes that heads are trained on.

How much the words and the characters of a pair's two texts overlap: numbers that depend on nothing but the two texts.

Neither word vectors nor an LSTM show directly which character n-grams two texts share, but for related sentences in an inflected
language this says much: the cosine of character n-grams alone ranks the pairs of CDSC-R better than most published LSTMs.
The heads of tasks, with the sizes of the configuration.
What a task's head reads in stage 2.
Batches of all tasks' rows, for training that is joint.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from mtl.base.device import device_of
from mtl.base.memory import check_fits
from mtl.data.dataset import Dataset, Split, with_one_wrong
from mtl.model.encoder import Encoder
from mtl.model.network import Heads, TaskNetwork
from mtl.model.sequences import Sequences
from mtl.settings.schema import Config, LossConfig
from mtl.tasks.metrics import METRICS
from mtl.tasks.targets import target_kind
from mtl.tasks.task import PERCENT, Scale, Task
from mtl.training.batches import (
    POOL,
    Batch,
    BatchDataset,
    Schedule,
    ScheduleSampler,
    SortedSampler,
    batch_rows,
    row_lengths,
)
from mtl.training.module import TaskScore

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


CHARACTERS = (2, 3, 4, 5)  # lengths of n-grams, within words, as in the TF-IDF floors
FEATURES = (
    "cosine of words",
    *(f"cosine of {length}-grams of characters" for length in CHARACTERS),
    "shared words / all words",
    "shared words / words of the text with fewer",
    "length of the shorter text / length of the longer one",
)
BUCKETS = 1 << 22  # of n-grams


def with_overlap(split: Split, texts: Sequence[str]) -> Split:
    """The rows of a task on pairs, with the overlap of each pair. texts: of the dataset."""
    pairs, places = np.unique(split.texts, axis=0, return_inverse=True)
    return replace(split, overlap=overlap(texts, pairs)[places.ravel()])


def overlap(texts: Sequence[str], pairs: np.ndarray) -> np.ndarray:
    """FEATURES of each pair of texts, in lower case, float32 (pairs, features), each from 0 to 1.

    pairs: int64 (pairs, 2), indices in `texts`. Counts of n-grams are on a logarithmic scale. An empty text overlaps with nothing.
    """
    if not len(pairs):
        return np.empty((0, len(FEATURES)), dtype=np.float32)
    chosen, places = np.unique(pairs, return_inverse=True)
    lower = [texts[number].lower() for number in chosen]
    first, second = places.reshape(pairs.shape).T
    cosines = [_cosines(_vectors(lower, length), first, second) for length in (None, *CHARACTERS)]
    words = [frozenset(_words(text)) for text in lower]
    shared = np.array([len(words[u] & words[v]) for u, v in zip(first, second, strict=True)])
    counts = np.array([len(found) for found in words])
    fewer = np.minimum(counts[first], counts[second])
    lengths = np.array([len(text) for text in lower])
    shorter, longer = np.minimum(lengths[first], lengths[second]), np.maximum(lengths[first], lengths[second])
    shares = [_ratio(shared, counts[first] + counts[second] - shared), _ratio(shared, fewer), _ratio(shorter, longer)]
    return np.column_stack([*cosines, *shares]).astype(np.float32)


def _vectors(texts: Sequence[str], length: int | None) -> "csr_matrix":
    """The words (None) or the n-grams of characters of each text, 1 + log(count), scaled to length 1: (texts, BUCKETS)."""
    # Most runs need neither of them, and importing them takes a second.
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import normalize

    kind = {"analyzer": _words} if length is None else {"analyzer": "char_wb", "ngram_range": (length, length)}
    vectorizer = HashingVectorizer(**kind, lowercase=False, n_features=BUCKETS, alternate_sign=False, norm=None)
    counts = vectorizer.transform(texts)
    counts.data = 1 + np.log(counts.data)
    return normalize(counts)


def _cosines(vectors: "csr_matrix", first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(vectors[first].multiply(vectors[second]).sum(axis=1)).ravel()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole; 0 where the whole is 0."""
    return part / np.maximum(whole, 1)


@dataclass(frozen=True)
class Coded:
    """A dataset with its targets as codes (`mtl.tasks.kind`).

    overlap: whether the rows of pairs have their overlap. scale: how progress shows scores.
    """

    dataset: Dataset
    overlap: bool = False
    scale: Scale = PERCENT

    @cached_property
    def splits(self) -> dict[str, dict[str, Split]]:
        """The dataset's splits by task id and split name, with codes as targets, float64 (rows,)."""
        coded = {}
        for task in self.dataset.tasks:
            kind, answers = target_kind(task), self.answers(task)
            splits = self.dataset.splits[task.id]
            if self.overlap and task.is_pair:
                splits = {name: with_overlap(split, self.dataset.texts) for name, split in splits.items()}
            coded[task.id] = {
                name: replace(split, targets=kind.encode(split.targets, answers)) for name, split in splits.items()
            }
        return coded

    @cached_property
    def outputs(self) -> dict[str, int]:
        """The number of outputs of each task's head for one input, by task id."""
        return {task.id: target_kind(task).outputs(self.answers(task)) for task in self.dataset.tasks}

    def answers(self, task: Task) -> list[str]:
        """The words that the outputs of the task's head mean; empty for kinds without words. The head may be another task's."""
        return self.dataset.answers.get(task.answered_by or task.id, [])

    def train(self, task: Task, loss: LossConfig, seed: int) -> Split:
        """The task's training rows. With `loss.choice=pairs`, rows with candidates have two of them, the same in both stages."""
        split = self.splits[task.id]["train"]
        if split.sizes is None or loss.choice != "pairs":
            return split
        return with_one_wrong(split, np.random.default_rng([seed, 2, zlib.crc32(task.id.encode())]))

    def set_loss(self, network: TaskNetwork, loss: LossConfig) -> None:
        """Let the network's loss weight the labels of tasks scored by one label, and judge candidates one by one, if `loss` says so."""
        for task in self.dataset.trained_tasks:
            if task.id not in network.kinds:
                continue
            if loss.class_weights and METRICS[task.metric].one_label:
                network.kinds[task.id].balance(self.splits[task.id]["train"].targets, loss.class_weights)
            if loss.choice == "pairs":
                network.kinds[task.id].separate()

    def dev_score(self, task: Task) -> TaskScore:
        """The task's metric on its dev rows."""
        return TaskScore(task, self.dataset.splits[task.id]["dev"].scored, self.answers(task))


FLOAT = 4  # bytes of a weight


def new_heads(config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], dim: int) -> Heads:
    """The heads of these tasks that the configuration describes. dim: the size of the encoder's outputs.

    outputs: by task id, the number of outputs of its head for one input. Raises InputError for heads that no memory of this machine holds.
    """
    attention_size = config.head.attention_size if config.head.attention else None
    make = partial(
        Heads,
        tasks,
        outputs,
        dim,
        config.head.hidden_size,
        config.head.dropout,
        attention_size,
        config.head.projection,
        len(FEATURES) if config.head.overlap else 0,
        config.head.pair == "cosine",
    )
    try:
        with torch.device("meta"):  # sizes alone, which draw no random numbers
            weights = sum(weight.numel() for weight in make().parameters())
    except RuntimeError:  # a size beyond 2**63
        weights = 2**63
    check_fits(FLOAT * weights, "head: a set of heads of this size", "set smaller sizes in head. and encoder.")
    return make()


@dataclass(frozen=True)
class TaskInput:
    """What one task's head reads in stage 2.

    encoder: runs in each step, either trained with the head or with dropout; None if the texts are already encoded.
    sequences: texts for the encoder, or its token outputs. vectors: float32 (texts, dim), for heads that read vectors of whole texts.
    lengths: int64 (texts,), in tokens, if batches hold rows of similar length; None if rows are shuffled freely.
    """

    encoder: Encoder | None
    sequences: Sequences | None
    vectors: Tensor | None
    lengths: np.ndarray | None


class JointBatches:
    """Batches of the training and dev rows of every trained task; each batch has rows of one task.

    parts: the rows by "train" or "dev" and task id.
    """

    def __init__(
        self, config: Config, data: Coded, sequences: Sequences, seed: int, batch_size: int, dev_batch_size: int
    ) -> None:
        """sequences: the texts. seed: of rows that are drawn for training. Batch sizes: see `batch_rows`."""
        tasks = data.dataset.trained_tasks
        self.parts = {
            "train": {task.id: data.train(task, config.loss, seed) for task in tasks},
            "dev": {task.id: data.splits[task.id]["dev"] for task in tasks},
        }
        token_counts = sequences.lengths.numpy()
        self._lengths = {
            split: {id: row_lengths(part, token_counts) for id, part in of.items()} for split, of in self.parts.items()
        }
        sizes = {"train": batch_size, "dev": dev_batch_size}
        self._sizes = {
            split: {id: batch_rows(part, sizes[split]) for id, part in of.items()} for split, of in self.parts.items()
        }
        self._batches = {split: BatchDataset(of, sequences) for split, of in self.parts.items()}
        self._pin_memory = device_of(config.trainer.accelerator).type == "cuda"

    def schedule(self, batches: int, seed: int, sampling: float, pool: int = POOL) -> Schedule:
        """The order of the training's batches. See `mtl.training.batches.Schedule`."""
        return Schedule(self._lengths["train"], self._sizes["train"], batches, seed, sampling, pool)

    def train(self, schedule: Schedule, start: int, stop: int) -> DataLoader[Batch]:
        """The schedule's batches from `start` to `stop`, which is excluded."""
        return self._batches["train"].loader(ScheduleSampler(schedule, start, stop), self._pin_memory)

    def dev(self) -> DataLoader[Batch]:
        """All dev rows."""
        return self._batches["dev"].loader(SortedSampler(self._lengths["dev"], self._sizes["dev"]), self._pin_memory)
