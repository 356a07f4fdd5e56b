"""The training objective of an ELMo: predict the next word and the previous word (Peters et al. 2018, section 3.1)."""

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from mtl.embedders.elmo.model import BOUNDARIES, character_ids
from mtl.embedders.elmo.network import BACKWARD, FORWARD, BiLM
from mtl.vectors.elmo.corpus import BEGIN_ID, END_ID, Corpus, packed_lines

ROWS = 512  # how many rows of the full softmax are computed at once
FIRST = 3  # a word's class in the softmax is FIRST plus its id; so are those of the boundaries, whose ids are negative
UNKNOWN, BEGIN, END = 0, FIRST + BEGIN_ID, FIRST + END_ID
BOUNDARY_WORDS = dict(zip((BEGIN_ID, END_ID), BOUNDARIES, strict=True))


class LanguageModel(nn.Module):
    """A biLM with a softmax that both directions share."""

    def __init__(self, bilm: BiLM, corpus: Corpus, min_count: int, draws: int) -> None:
        """Words that occur less often than `min_count` share one class. `draws` classes are drawn for a sample."""
        super().__init__()
        self.bilm, self.corpus = bilm, corpus
        self.classes = FIRST + int((corpus.counts >= min_count).sum())
        lines, frequent = len(corpus.lengths), self.classes - FIRST
        counts = np.array([corpus.counts[frequent:].sum(), lines, lines, *corpus.counts[:frequent]], dtype=np.int64)
        self.softmax = SampledSoftmax(counts, bilm.options.lstm.projection_dim, draws)

    def losses(self, lines: np.ndarray, sample: Tensor | None) -> tuple[Tensor, Tensor]:
        """The cross-entropies in nats of the forward and of the backward predictions: two tensors (predictions,).

        The lines are indices in the corpus, int64 (lines,); each has a prediction for each of its words and one for a boundary. `sample` has
        the classes of the softmax's denominator besides the target; None: all classes."""
        tokens, sizes = packed_lines(self.corpus, lines)
        vectors = PackedSequence(self.token_vectors(tokens), torch.from_numpy(sizes))
        numbers = np.where(tokens + FIRST < self.classes, tokens + FIRST, UNKNOWN)
        classes = torch.from_numpy(numbers).to(vectors.data.device)
        # The rows after the first step, and the row before each of them in its sequence, which has the same place among the rows of each step:
        # of three steps with the rows 0 1 2, 3 4 and 5, these are 3 4 5 and 0 1 3.
        later = slice(int(sizes[0]), None)
        earlier = torch.from_numpy(np.arange(len(tokens))[later] - np.repeat(sizes[:-1], sizes[1:])).to(classes.device)
        forward = self.bilm.dropout(self.bilm.states(vectors, FORWARD)[-1])
        backward = self.bilm.dropout(self.bilm.states(vectors, BACKWARD)[-1])
        states, targets = torch.cat([forward[earlier], backward[later]]), torch.cat([classes[later], classes[earlier]])
        forward_losses, backward_losses = self.softmax(states, targets, sample).tensor_split(2)
        return forward_losses, backward_losses

    def token_vectors(self, tokens: np.ndarray) -> Tensor:
        """Word ids (rows,), among them BEGIN_ID and END_ID -> token vectors (rows, projection_dim)."""
        distinct, indices = np.unique(tokens, return_inverse=True)
        words = [BOUNDARY_WORDS[id] if id < 0 else self.corpus.types[id] for id in distinct.tolist()]
        characters = character_ids(words, self.bilm.options.char_cnn.max_characters_per_token)
        device = self.softmax.weight.weight.device
        return self.bilm.characters(torch.from_numpy(characters).to(device))[torch.from_numpy(indices).to(device)]


class SampledSoftmax(nn.Module):
    """A softmax over many classes, sorted by frequency, that is trained on a log-uniform sample of them (Jean et al. 2015)."""

    log_expected: Tensor

    def __init__(self, counts: np.ndarray, dim: int, draws: int) -> None:
        """`counts` are the occurrences of each class: the biases start at the log frequencies, which would take long to learn."""
        super().__init__()
        classes = len(counts)
        # Embeddings with sparse gradients: a step changes only the rows of its sample and targets.
        self.weight = nn.Embedding(classes, dim, sparse=True)
        self.bias = nn.Embedding(classes, 1, sparse=True)
        nn.init.normal_(self.weight.weight, std=1 / math.sqrt(dim))
        with torch.no_grad():
            self.bias.weight[:, 0] = torch.from_numpy(np.log((counts + 1) / (counts + 1).sum()))
        self.draws = draws
        probabilities = np.log1p(1 / np.arange(1, classes + 1)) / np.log(classes + 1)
        in_sample = -np.expm1(draws * np.log1p(-probabilities))  # the probability that a sample contains the class
        self.register_buffer("log_expected", torch.from_numpy(np.log(in_sample)).float(), persistent=False)

    def sample(self, rng: np.random.Generator) -> Tensor:
        """The distinct classes among `draws` random draws, int64 (sampled classes,)."""
        classes = len(self.log_expected)
        drawn = np.exp(rng.random(self.draws) * np.log(classes + 1)).astype(np.int64) - 1
        return torch.from_numpy(np.unique(drawn.clip(0, classes - 1))).to(self.log_expected.device)

    def forward(self, states: Tensor, targets: Tensor, sample: Tensor | None) -> Tensor:
        """States (rows, dim) and their classes (rows,) -> cross-entropies (rows,), over all classes, or over the target and a sample of others."""
        if sample is None:
            losses = []
            for part, classes in zip(states.split(ROWS), targets.split(ROWS), strict=True):
                scores = torch.addmm(self.bias.weight[:, 0], part, self.weight.weight.T)
                losses.append(F.cross_entropy(scores, classes, reduction="none"))
            return torch.cat(losses)
        # Scores are lower by the log probability that a sample contains the class, so that frequent classes do not count more often.
        target_scores = (states * self.weight(targets)).sum(1) + self.bias(targets)[:, 0] - self.log_expected[targets]
        sample_scores = torch.addmm(self.bias(sample)[:, 0] - self.log_expected[sample], states, self.weight(sample).T)
        sample_scores = sample_scores.masked_fill(sample == targets[:, None], -math.inf)
        return torch.logaddexp(target_scores, sample_scores.logsumexp(1)) - target_scores
