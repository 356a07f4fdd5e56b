"""The BERT that is pre-trained, and its training by masked language modelling alone, as HerBERT's: words are masked anew each time."""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mtl.base.device import to_device
from mtl.base.errors import InputError
from mtl.base.settings.schema import TrainerConfig
from mtl.base.typed import typed
from mtl.methods.transformer.network import parameter_groups
from mtl.training.precision import choose_attention, mixed_precision
from mtl.training.schedule import pool_size, pooled_batches
from mtl.vectors.pretraining.resumable import ResumableTraining
from mtl.vectors.pretraining.settings import SPECIAL_TOKENS, PretrainingSettings
from mtl.vectors.pretraining.tokens import Segments
from mtl.vectors.pretraining.vocabulary import CLS, MASK, PAD, SEP

if TYPE_CHECKING:
    from transformers import BertForMaskedLM

LARGEST_NORM = 1.0  # of all gradients together, which is clipped
CHOSEN_SHARE = 0.15  # of the tokens of text: those that the model has to predict
NOT_CHOSEN = -100  # the label of a token that it does not have to predict, as in transformers
MASK_PROBABILITY, RANDOM_PROBABILITY = 0.8, 0.1  # of what replaces a chosen token in the inputs; else it stays


def new_bert(settings: PretrainingSettings, vocabulary: int) -> "BertForMaskedLM":
    """A BERT with random weights that follow from the seed, for a vocabulary of this size. Raises InputError if it is too large."""
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=settings.hidden_size,
        num_hidden_layers=settings.num_layers,
        num_attention_heads=settings.num_heads,
        intermediate_size=4 * settings.hidden_size,
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
        max_position_embeddings=settings.max_length,
        pad_token_id=PAD,
        initializer_range=settings.initial_deviation,
    )
    torch.manual_seed(settings.seed)
    try:
        model = BertForMaskedLM(config)
    except (RuntimeError, MemoryError) as error:
        reason = [*str(error).splitlines(), "no memory"][0]  # a MemoryError may have no text
        raise InputError(f"cannot create a BERT of this size: {reason}") from None
    if settings.positions == "sinusoids":
        weight = model.bert.embeddings.position_embeddings.weight
        weight.data.copy_(2 * settings.initial_deviation * _sinusoids(*weight.shape))
    return model


def _sinusoids(positions: int, dim: int) -> Tensor:
    """The positional encodings of Vaswani et al. 2017, section 3.5: (positions, dim), sines and cosines of wavelengths from 2π to 10,000 · 2π."""
    angles = torch.arange(positions)[:, None] * 10_000 ** (-torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :dim]


def masked_outputs(model: "BertForMaskedLM", inputs: Tensor, positions: Tensor, padding: Tensor | None) -> Tensor:
    """The outputs (positions, vocabulary) at these positions of the flattened inputs (segments, time): others do not enter the loss."""
    hidden = model.bert(input_ids=inputs, attention_mask=None if padding is None else ~padding).last_hidden_state
    return model.cls(hidden.flatten(0, 1)[positions])


def mask_words(ids: np.ndarray, begins: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The inputs with randomly chosen words masked, and the labels, the chosen tokens or else NOT_CHOSEN: int64 (segments, time) each, as the padded
    segments `ids`. `begins`: whether an entry of the vocabulary begins a word. A chosen token becomes the mask or a random one, or stays."""
    positions = _choose_positions(ids, begins, rng)
    chosen = ids.reshape(-1)[positions]
    draws = rng.random(len(chosen))
    random_tokens = rng.integers(len(SPECIAL_TOKENS), len(begins), len(chosen))
    choices = [draws < MASK_PROBABILITY, draws < MASK_PROBABILITY + RANDOM_PROBABILITY]  # the first that is true counts
    inputs = ids.copy()
    inputs.reshape(-1)[positions] = np.select(choices, [MASK, random_tokens], chosen)
    labels = np.full_like(ids, NOT_CHOSEN)
    labels.reshape(-1)[positions] = chosen
    return inputs, labels


def _choose_positions(ids: np.ndarray, begins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The positions of the tokens of random words in the flattened segments, int64 (chosen,): one word, and more up to CHOSEN_SHARE."""
    positions = np.flatnonzero(~np.isin(ids, (PAD, CLS, SEP)))  # those of text
    tokens = ids.reshape(-1)[positions]
    # No word goes on across a special token: a segment that begins within a word has the rest of it as its first word.
    begins_word = begins[tokens] | (np.diff(positions, prepend=-2) > 1)
    words = np.cumsum(begins_word) - 1  # the number of each token's word
    sizes = np.bincount(words)  # of each word, in tokens
    order = rng.permutation(len(sizes))
    fits = np.cumsum(sizes[order]) <= CHOSEN_SHARE * len(tokens)  # so that all steps cost the same
    fits[:1] = True
    return positions[np.isin(words, order[fits])]


def pass_batches(lengths: np.ndarray, batch_size: int, seed: Sequence[int]) -> list[np.ndarray]:
    """The batches of a pass, int64 (batch_size,) each, of segments of similar length, in random order; a rest is left out."""
    rng = np.random.default_rng(seed)
    batches = len(lengths) // batch_size
    # The rest is drawn before segments are sorted by length: else the longest ones would be left out in each pass.
    kept = rng.permutation(len(lengths))[: batches * batch_size]
    return [kept[batch] for batch in pooled_batches(lengths[kept], batch_size, rng, pool_size(batches))]


class MaskedLanguageModelling(ResumableTraining):
    network: "BertForMaskedLM"
    settings: PretrainingSettings
    operation = "pre-training"

    def __init__(
        self, bert: "BertForMaskedLM", segments: Segments, begins: np.ndarray, settings: PretrainingSettings, path: Path
    ) -> None:
        """As `ResumableTraining`, in the folder `path`; `begins` is that of `mask_words`. Raises InputError for too few segments for a step."""
        device = bert.device
        groups = parameter_groups(bert, settings.weight_decay)
        betas = (0.9, settings.beta2)
        fused = device.type != "mps"  # one pass over the weights in place of one for each of Adam's operations
        optimizer = torch.optim.AdamW(groups, settings.learning_rate, betas, settings.epsilon, fused=fused)
        super().__init__(bert, [optimizer], settings, path, len(segments))
        self.segments, self.begins, self.steps = segments, begins, settings.max_steps
        if len(self.trained_parts) < settings.batch_size:
            counts = f"{len(segments)} segments of up to {settings.chunk} tokens, {len(self.held_out_parts)} of them held out"
            problem = f"{counts}, are not enough for batch_size={settings.batch_size}"
            remedy = "add text, or set a smaller batch_size= or max_length="
            raise InputError(f"the texts hold too little to train on: {problem}; {remedy}")
        self.trainer_config = typed(TrainerConfig, {"accelerator": device.type, "precision": settings.precision})
        choose_attention(bert, self.trainer_config, device)
        self.part_size = settings.batch_size // settings.accumulate  # segments that are computed together

    def learning_rate(self) -> float:
        """A linear rise to the highest rate, then a linear fall to 0: `get_linear_schedule_with_warmup` of transformers."""
        settings = self.settings
        progress = self.step / settings.max_steps
        warmup = settings.warmup / settings.max_steps if settings.warmup >= 1 else settings.warmup
        if progress < warmup:
            return settings.learning_rate * progress / warmup
        return settings.learning_rate * (1 - progress) / (1 - warmup)

    def batches(self) -> Iterator[np.ndarray]:
        """The segments of each remaining step, int64 (batch_size,), pass after pass."""
        lengths = self.segments.lengths[self.trained_parts]
        size = self.settings.batch_size
        first_pass, steps_done = divmod(self.step, len(lengths) // size)  # the pass that the next step is in
        for number in count(first_pass):
            for batch in pass_batches(lengths, size, [self.settings.seed, 1, number])[steps_done:]:
                yield self.trained_parts[batch]
            steps_done = 0

    def loss_and_gradients(self, batch: np.ndarray) -> Tensor:
        inputs, labels = self.mask_segments(batch, np.random.default_rng([self.settings.seed, 2, self.step]))
        is_chosen = labels != NOT_CHOSEN
        loss = torch.zeros((), device=self.device)
        for start in range(0, len(inputs), self.part_size):
            part = slice(start, start + self.part_size)
            if is_chosen[part].any():
                with mixed_precision(self.trainer_config, self.device):
                    part_loss = self.losses_and_hits(inputs[part], labels[part])[0].sum() / int(is_chosen.sum())
                part_loss.backward()
                loss += part_loss.detach()
        nn.utils.clip_grad_norm_(self.network.parameters(), LARGEST_NORM)
        return loss

    def mask_segments(self, segments: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return mask_words(self.segments.inputs(segments), self.begins, rng)

    def losses_and_hits(self, inputs: np.ndarray, labels: np.ndarray) -> tuple[Tensor, Tensor]:
        """The cross-entropy of each chosen token, in nats, and whether the most probable token is the right one: (chosen,) each."""
        positions = np.flatnonzero(labels != NOT_CHOSEN)
        is_padding = inputs == PAD
        arrays = (inputs, positions, labels.reshape(-1)[positions], is_padding)
        token_ids, chosen, targets, padding = (to_device(torch.from_numpy(array), self.device) for array in arrays)
        outputs = masked_outputs(self.network, token_ids, chosen, padding if is_padding.any() else None)
        return functional.cross_entropy(outputs, targets, reduction="none"), outputs.detach().argmax(-1) == targets

    def validate(self) -> tuple[dict[str, float], str]:
        """Perplexity and accuracy at the masked places of the held-out segments. The masks are the same each time."""
        order = self.held_out_parts[np.argsort(self.segments.lengths[self.held_out_parts], kind="stable")]
        loss = 0.0
        hits = chosen = 0
        for number, start in enumerate(range(0, len(order), self.part_size)):
            rng = np.random.default_rng([self.settings.seed, 3, number])
            inputs, labels = self.mask_segments(order[start : start + self.part_size], rng)
            losses, is_hit = self.losses_and_hits(inputs, labels)
            loss += float(losses.cpu().double().sum())
            hits += int(is_hit.sum())
            chosen += len(losses)
        with np.errstate(over="ignore"):
            perplexity = float(np.exp(loss / chosen))
        row = {"step": self.step, "seconds": self.seconds, "train_loss": self.mean_loss}
        row |= {"perplexity": perplexity, "accuracy": 100 * hits / chosen}
        return row, f"held-out perplexity {perplexity:.1f}, {row['accuracy']:.1f}% of masked tokens right"
