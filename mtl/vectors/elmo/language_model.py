"""The training objective of an ELMo: predict the next word and the previous word (Peters et al. 2018, section 3.1).
`Corpus` is the text that it is trained on: lines of word ids, where the most frequent word has id 0. `TrainedLSTM` are
the layers while they are trained: initial weights, and the gradient of `mtl.embedders.elmo.model.run_layer`."""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from mtl.base.errors import InputError
from mtl.embedders.elmo.model import BACKWARD, BOUNDARIES, FORWARD, BiLM, ProjectedLSTM, character_ids, run_layer
from mtl.embedders.elmo.options import Options
from mtl.model.lstm import Step, packed_steps

POOL = 50  # to get batches of similar length, lines for this many batches are drawn, sorted by length, and split
ROWS = 512  # how many rows of the full softmax are computed at once
UNKNOWN, BEGIN, END, FIRST = range(4)  # classes of the softmax; the words follow from FIRST on, the most frequent first
BEGIN_ID, END_ID = -2, -1  # in place of a word id, the boundaries of a sentence


@dataclass(frozen=True)
class Corpus:
    """Lines of tokens, in their original order."""

    types: list[str]  # the distinct words, the most frequent first
    counts: np.ndarray  # int64 (types,), the occurrences of each
    tokens: np.ndarray  # int32 (tokens,), word ids, line after line
    starts: np.ndarray  # int64 (lines + 1,), where each line begins in tokens, and the end

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each line, int64 (lines,)."""
        return np.diff(self.starts)


def build_corpus(lines: Iterable[Sequence[str]], max_length: int) -> Corpus:
    """Build a corpus from tokenized lines. Lines longer than `max_length` tokens are split; empty lines are dropped.
    Raises InputError if there is no word at all."""
    ids: dict[str, int] = {}
    tokens = array("i")
    starts = array("q", [0])
    for words in lines:
        for start in range(0, len(words), max_length):
            tokens.extend(ids.setdefault(word, len(ids)) for word in words[start : start + max_length])
            starts.append(len(tokens))
    if not tokens:
        raise InputError("the texts hold no word to train on")
    flat = np.frombuffer(tokens, dtype=np.int32)
    counts = np.bincount(flat, minlength=len(ids))
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    types = list(ids)
    return Corpus([types[i] for i in order], counts[order], rank[flat], np.frombuffer(starts, dtype=np.int64))


def batches(lengths: np.ndarray, lines: np.ndarray, tokens: int, seed: Sequence[int]) -> list[np.ndarray]:
    """Batches of one epoch over these lines, in random order: int64 (lines,), of similar length, about `tokens` tokens each."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(lines)
    pool = np.cumsum(lengths[order]) // (POOL * tokens)
    result: list[np.ndarray] = []
    for pooled in np.split(order, np.flatnonzero(np.diff(pool)) + 1):
        by_length = pooled[np.argsort(lengths[pooled], kind="stable")]
        batch = np.cumsum(lengths[by_length]) // tokens
        result += np.split(by_length, np.flatnonzero(np.diff(batch)) + 1)
    return [result[i] for i in rng.permutation(len(result))]


class LanguageModel(nn.Module):
    """A biLM with a softmax that both directions share."""

    def __init__(self, bilm: BiLM, corpus: Corpus, min_count: int, draws: int) -> None:
        """Words that occur less often than `min_count` share one class. `draws` classes are drawn for a sample."""
        super().__init__()
        self.bilm, self.corpus = bilm, corpus
        self.classes = FIRST + int((corpus.counts >= min_count).sum())
        lines, frequent = len(corpus.lengths), self.classes - FIRST
        rare = corpus.counts[frequent:].sum()
        counts = np.array([rare, lines, lines, *corpus.counts[:frequent]], dtype=np.int64)
        self.softmax = SampledSoftmax(counts, bilm.options.projection_dim, draws)

    def losses(self, lines: np.ndarray, sample: Tensor | None) -> tuple[Tensor, Tensor]:
        """The cross-entropies (in nats) of the forward and of the backward predictions on these lines of the corpus.

        Args:
            lines: the lines' indices, int64 (lines,).
            sample: the classes of the softmax's denominator besides the target; None: all classes.

        Returns:
            two tensors (predictions,): a line has a prediction for each of its words and one for a boundary.
        """
        tokens, sizes = packed_lines(self.corpus, lines)
        vectors = PackedSequence(self.token_vectors(tokens), torch.from_numpy(sizes))
        numbers = np.where(tokens + FIRST < self.classes, tokens + FIRST, UNKNOWN).astype(np.int64)
        numbers[tokens == BEGIN_ID], numbers[tokens == END_ID] = BEGIN, END
        classes = torch.from_numpy(numbers).to(vectors.data.device)
        # The next row of a sequence is in the next step, at the same position among that step's rows.
        starts = np.cumsum(sizes) - sizes
        has_next = np.concatenate([np.arange(s, s + n) for s, n in zip(starts[:-1], sizes[1:], strict=True)])
        rows = torch.from_numpy(has_next).to(classes.device)
        after, before = classes[int(sizes[0]) :], classes[rows]
        forward = self.bilm.dropout(self.bilm.states(vectors, FORWARD)[-1])
        backward = self.bilm.dropout(self.bilm.states(vectors, BACKWARD)[-1])
        states = torch.cat([forward[rows], backward[int(sizes[0]) :]])
        after_losses, before_losses = self.softmax(states, torch.cat([after, before]), sample).tensor_split(2)
        return after_losses, before_losses

    def token_vectors(self, tokens: np.ndarray) -> Tensor:
        """Word ids (rows,), among them BEGIN_ID and END_ID -> token vectors (rows, projection_dim)."""
        distinct, indices = np.unique(tokens, return_inverse=True)
        length = self.bilm.options.max_characters
        words = character_ids([self.corpus.types[i] for i in distinct[distinct >= 0]], length)
        boundaries = character_ids([list(BOUNDARIES)[i] for i in distinct[distinct < 0] - BEGIN_ID], length)
        device = self.softmax.weight.weight.device
        characters = torch.from_numpy(np.concatenate([boundaries, words])).to(device)
        return self.bilm.characters(characters)[torch.from_numpy(indices).to(device)]


def packed_lines(corpus: Corpus, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """These lines with BEGIN_ID and END_ID around each, packed: word ids int64 (rows,), and the number of rows of each step."""
    lines = lines[np.argsort(-corpus.lengths[lines], kind="stable")]
    lengths = corpus.lengths[lines]
    steps = np.arange(lengths[0] + 2)[:, None]
    inside = (steps >= 1) & (steps <= lengths)
    indices = np.where(inside, corpus.starts[lines] + steps - 1, 0)
    tokens = np.where(inside, corpus.tokens[indices], np.where(steps == 0, BEGIN_ID, END_ID)).astype(np.int64)
    valid = steps <= lengths + 1
    return tokens[valid], valid.sum(1)


class SampledSoftmax(nn.Module):
    """A softmax over many classes that is trained on a sample of the classes (Jean et al. 2015). The sample is drawn
    from the log-uniform distribution, since the classes are sorted by frequency."""

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
        """States (rows, dim) and their classes (rows,) -> cross-entropies (rows,), over all classes or a sample of them."""
        if sample is None:
            losses = []
            for part, classes in zip(states.split(ROWS), targets.split(ROWS), strict=True):
                scores = torch.addmm(self.bias.weight[:, 0], part, self.weight.weight.T)
                losses.append(F.cross_entropy(scores, classes, reduction="none"))
            return torch.cat(losses)
        right = (states * self.weight(targets)).sum(1) + self.bias(targets)[:, 0] - self.log_expected[targets]
        wrong = torch.addmm(self.bias(sample)[:, 0] - self.log_expected[sample], states, self.weight(sample).T)
        wrong = wrong.masked_fill(sample == targets[:, None], -math.inf)
        return torch.logaddexp(right, wrong.logsumexp(1)) - right


class TrainedLSTM(ProjectedLSTM):
    """A layer with drawn weights, from which gradients flow."""

    def __init__(self, options: Options, reverse: bool) -> None:
        """Draw from Glorot's uniform distribution over the joint matrix of input and state, as TensorFlow does."""
        super().__init__(options, reverse)
        limit = (6 / (2 * options.projection_dim + 4 * options.lstm_dim)) ** 0.5
        nn.init.uniform_(self.w_input, -limit, limit)
        nn.init.uniform_(self.w_state, -limit, limit)
        nn.init.xavier_uniform_(self.w_projection)
        nn.init.zeros_(self.bias)
        with torch.no_grad():
            self.bias[2 * options.lstm_dim : 3 * options.lstm_dim] = 1.0

    def forward(self, data: Tensor, sizes: list[int]) -> Tensor:
        return ProjectedLSTMLayer.apply(data, sizes, self.reverse, *self.weights, *self.clips)


class ProjectedLSTMLayer(torch.autograd.Function):
    """data (rows, input_size) -> projected states (rows, projection_size), as `mtl.embedders.elmo.model.run_layer` computes them."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, sizes: list[int], reverse: bool, *weights_and_clips: Any) -> Tensor:
        """`sizes`: how many sequences have each step, descending; then the arguments of `run_layer`, of which no clip is None."""
        steps = packed_steps(sizes, reverse)
        layer = run_layer(data, steps, weights_and_clips[:4], weights_and_clips[4:])
        w_input, w_state, _, w_projection, *clips = weights_and_clips
        ctx.save_for_backward(data, *layer, w_input, w_state, w_projection)
        ctx.steps, ctx.clips = steps, clips
        return layer.states

    @staticmethod
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        data, states, gates, cells, tanh_cells, outputs, w_input, w_state, w_projection = ctx.saved_tensors
        hidden = cells.shape[1]
        o, i, f, g = gates.split(hidden, 1)
        cell_clip, state_clip = ctx.clips
        # The local derivative of each gate. The loop multiplies o's with the output's gradient, the others with the cell's.
        grad_gates = torch.empty_like(gates)
        grad_o, grad_i, grad_f, grad_g = grad_gates.split(hidden, 1)
        torch.mul(o, 1 - o, out=grad_o).mul_(tanh_cells)
        torch.mul(i, 1 - i, out=grad_i).mul_(g)
        torch.mul(f, 1 - f, out=grad_f).mul_(previous_values(cells, ctx.steps))
        torch.addcmul(i, i, g * g, value=-1, out=grad_g)
        output_to_cell = torch.addcmul(o, o, tanh_cells * tanh_cells, value=-1)
        forget = f.contiguous()
        # A clipped value has no gradient. A value at the limit counts as clipped.
        unclipped_cell, unclipped_state = cells.abs() < cell_clip, states.abs() < state_clip
        grad_state, grad_cell = grad_states.clone(), torch.zeros_like(cells)
        for rows, before, carried in reversed(ctx.steps):
            gate, dh, dc = grad_gates[rows], grad_state[rows], grad_cell[rows]
            d_output = dh.mul_(unclipped_state[rows]) @ w_projection
            dc.addcmul_(d_output, output_to_cell[rows])
            dc.mul_(unclipped_cell[rows])
            gate[:, :hidden].mul_(d_output)
            gate[:, hidden:].unflatten(1, (3, hidden)).mul_(dc[:, None])
            if carried:
                torch.mul(dc[:carried], forget[rows][:carried], out=grad_cell[before])
                grad_state[before].addmm_(gate[:carried], w_state)
        grad_data = grad_gates @ w_input if ctx.needs_input_grad[0] else None
        grad_w_state = grad_gates.T @ previous_values(states, ctx.steps)
        grad_weights = (grad_gates.T @ data, grad_w_state, grad_gates.sum(0), grad_state.T @ outputs)
        return grad_data, None, None, *grad_weights, None, None


def previous_values(values: Tensor, steps: list[Step]) -> Tensor:
    """For each row the values of its sequence's previous step, zero at the first: (rows, hidden) -> (rows, hidden)."""
    result = values.new_zeros(values.shape)
    for rows, before, carried in steps:
        if carried:
            result[rows.start : rows.start + carried] = values[before]
    return result
