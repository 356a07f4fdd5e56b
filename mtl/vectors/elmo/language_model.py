"""An ELMo in training: the language model, which predicts the next and the previous word (Peters et al. 2018, section 3.1), and its layers."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from mtl.embedders.elmo.model import BOUNDARIES, character_ids
from mtl.embedders.elmo.network import BACKWARD, FORWARD, BiLM, ProjectedLSTM, run_layer
from mtl.embedders.elmo.options import Options
from mtl.model.packing import Steps, packed_steps
from mtl.vectors.elmo.corpus import BEGIN_ID, END_ID, Corpus, packed_lines

SOFTMAX_ROWS = 512  # how many rows of the full softmax are computed at once
FIRST_WORD_CLASS = 3  # in the softmax, the class of a word is its id plus this; boundaries have negative ids
UNKNOWN_CLASS, BEGIN_CLASS, END_CLASS = 0, FIRST_WORD_CLASS + BEGIN_ID, FIRST_WORD_CLASS + END_ID
BOUNDARY_WORDS = dict(zip((BEGIN_ID, END_ID), BOUNDARIES, strict=True))


class LanguageModel(nn.Module):
    """A biLM with a softmax that both directions share."""

    def __init__(self, bilm: BiLM, corpus: Corpus, min_count: int, draws: int) -> None:
        """Words that occur less often than `min_count` share one class. `draws` classes are drawn for a sample."""
        super().__init__()
        self.bilm, self.corpus = bilm, corpus
        lines, frequent = len(corpus.lengths), int((corpus.counts >= min_count).sum())
        self.class_count = FIRST_WORD_CLASS + frequent
        counts = np.array([corpus.counts[frequent:].sum(), lines, lines, *corpus.counts[:frequent]], dtype=np.int64)
        self.softmax = SampledSoftmax(counts, bilm.options.lstm.projection_dim, draws)

    def losses(self, lines: np.ndarray, sample: Tensor | None) -> tuple[Tensor, Tensor]:
        """The cross-entropies in nats of the forward and of the backward predictions: two tensors (predictions,). Each line, an index in the corpus,
        int64 (lines,), has one for each word and one for a boundary. `sample`: the classes of the denominator besides the target; None: all."""
        tokens, sizes = packed_lines(self.corpus, lines)
        vectors = PackedSequence(self.token_vectors(tokens), torch.from_numpy(sizes))
        class_numbers = np.where(tokens + FIRST_WORD_CLASS < self.class_count, tokens + FIRST_WORD_CLASS, UNKNOWN_CLASS)
        classes = torch.from_numpy(class_numbers).to(vectors.data.device)
        # The rows after the first step, and the row before each of them in its sequence, which has the same place among the rows of each step:
        # of three steps with the rows 0 1 2, 3 4 and 5, these are 3 4 5 and 0 1 3.
        later = slice(int(sizes[0]), None)
        earlier = torch.from_numpy(np.arange(len(tokens))[later] - np.repeat(sizes[:-1], sizes[1:])).to(classes.device)
        forward = self.bilm.dropout(self.bilm.states(vectors, FORWARD)[-1])
        backward = self.bilm.dropout(self.bilm.states(vectors, BACKWARD)[-1])
        states = torch.cat([forward[earlier], backward[later]])
        targets = torch.cat([classes[later], classes[earlier]])
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
        class_count = len(counts)
        # Embeddings with sparse gradients: a step changes only the rows of its sample and targets.
        self.weight = nn.Embedding(class_count, dim, sparse=True)
        self.bias = nn.Embedding(class_count, 1, sparse=True)
        nn.init.normal_(self.weight.weight, std=1 / math.sqrt(dim))
        with torch.no_grad():
            self.bias.weight[:, 0] = torch.from_numpy(np.log((counts + 1) / (counts + 1).sum()))
        self.draws = draws
        probabilities = np.log1p(1 / np.arange(1, class_count + 1)) / np.log(class_count + 1)
        in_sample = -np.expm1(draws * np.log1p(-probabilities))  # the probability that a sample contains the class
        self.register_buffer("log_expected", torch.from_numpy(np.log(in_sample)).float(), persistent=False)

    def sample(self, rng: np.random.Generator) -> Tensor:
        """The distinct classes among `draws` random draws, int64 (sampled classes,)."""
        class_count = len(self.log_expected)
        drawn = np.exp(rng.random(self.draws) * np.log(class_count + 1)).astype(np.int64) - 1
        return torch.from_numpy(np.unique(drawn.clip(0, class_count - 1))).to(self.log_expected.device)

    def forward(self, states: Tensor, targets: Tensor, sample: Tensor | None) -> Tensor:
        """States (rows, dim) and their classes (rows,) -> cross-entropies (rows,), over all classes, or over the target and a sample of others."""
        if sample is None:
            losses = []
            for part_states, part_targets in zip(states.split(SOFTMAX_ROWS), targets.split(SOFTMAX_ROWS), strict=True):
                scores = torch.addmm(self.bias.weight[:, 0], part_states, self.weight.weight.T)
                losses.append(F.cross_entropy(scores, part_targets, reduction="none"))
            return torch.cat(losses)
        # Scores are lower by the log probability that a sample contains the class, so that frequent classes do not count more often.
        target_scores = (states * self.weight(targets)).sum(1) + self.bias(targets)[:, 0] - self.log_expected[targets]
        sample_scores = torch.addmm(self.bias(sample)[:, 0] - self.log_expected[sample], states, self.weight(sample).T)
        sample_scores = sample_scores.masked_fill(sample == targets[:, None], -math.inf)
        return torch.logaddexp(target_scores, sample_scores.logsumexp(1)) - target_scores


class TrainedLSTM(ProjectedLSTM):
    """A layer with drawn weights, from which gradients flow."""

    def __init__(self, options: Options, reverse: bool) -> None:
        """Draw from Glorot's uniform distribution over the joint matrix of input and state, as TensorFlow does."""
        super().__init__(options, reverse)
        limit = (6 / (2 * options.lstm.projection_dim + 4 * options.lstm.dim)) ** 0.5
        nn.init.uniform_(self.w_input, -limit, limit)
        nn.init.uniform_(self.w_state, -limit, limit)
        nn.init.xavier_uniform_(self.w_projection)
        nn.init.zeros_(self.bias)
        with torch.no_grad():
            self.bias[2 * options.lstm.dim : 3 * options.lstm.dim] = 1.0  # of the forget gate, the third

    def forward(self, data: Tensor, sizes: list[int]) -> Tensor:
        return LSTMWithGradient.apply(data, sizes, self.reverse, *self.weights, *self.clips)


class LSTMWithGradient(torch.autograd.Function):
    """data (rows, input_size) -> projected states (rows, projection_size), as `mtl.embedders.elmo.network.run_layer` computes them."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, sizes: list[int], reverse: bool, *weights_and_clips: Any) -> Tensor:
        """`sizes` says how many sequences have each step, descending. Then come the weights and the clips of `run_layer`; no clip is None."""
        w_input, w_state, bias, w_projection, *clips = weights_and_clips
        steps = packed_steps(sizes, reverse)
        recurrence = run_layer(data, steps, (w_input, w_state, bias, w_projection), clips)
        ctx.save_for_backward(data, *recurrence, w_input, w_state, w_projection)
        ctx.steps, ctx.clips = steps, clips
        return recurrence.states

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
        output_by_cell = torch.addcmul(o, o, tanh_cells * tanh_cells, value=-1)  # the output's derivative by the cell
        forget = f.contiguous()
        # A clipped value has no gradient. A value at the limit counts as clipped.
        unclipped_cell, unclipped_state = cells.abs() < cell_clip, states.abs() < state_clip
        grad_state, grad_cell = grad_states.clone(), torch.zeros_like(cells)
        for rows, before, carried, _ in reversed(ctx.steps):
            grad_gate, grad_step_cell = grad_gates[rows], grad_cell[rows]
            grad_output = grad_state[rows].mul_(unclipped_state[rows]) @ w_projection
            grad_step_cell.addcmul_(grad_output, output_by_cell[rows])
            grad_step_cell.mul_(unclipped_cell[rows])
            grad_gate[:, :hidden].mul_(grad_output)
            grad_gate[:, hidden:].unflatten(1, (3, hidden)).mul_(grad_step_cell[:, None])
            torch.mul(grad_step_cell[:carried], forget[rows][:carried], out=grad_cell[before])
            grad_state[before].addmm_(grad_gate[:carried], w_state)
        grad_data = grad_gates @ w_input if ctx.needs_input_grad[0] else None
        grad_w_state = grad_gates.T @ previous_values(states, ctx.steps)
        grad_weights = (grad_gates.T @ data, grad_w_state, grad_gates.sum(0), grad_state.T @ outputs)
        return grad_data, None, None, *grad_weights, None, None  # in the order of the arguments of `forward`


def previous_values(values: Tensor, steps: Steps) -> Tensor:
    """For each row the values of its sequence's previous step, zero at the first: (rows, hidden) -> (rows, hidden)."""
    result = values.new_zeros(values.shape)
    for rows, before, carried, _ in steps:
        result[rows.start : rows.start + carried] = values[before]
    return result
