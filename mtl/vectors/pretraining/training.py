"""Training a BERT by masked language modelling alone, as RoBERTa and HerBERT were: no second objective, masks drawn anew each time."""

import math
from collections.abc import Iterator
from functools import lru_cache
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
from mtl.training.batches import pool_size, pooled_batches
from mtl.training.precision import choose_attention, mixed_precision
from mtl.vectors.pretraining.network import MaskedBatch, Masking, decayed_groups, masked_outputs
from mtl.vectors.pretraining.resumable import ResumableTraining, split_held_out
from mtl.vectors.pretraining.settings import PretrainingSettings
from mtl.vectors.pretraining.tokens import Segments

if TYPE_CHECKING:
    from transformers import BertForMaskedLM


class Rate:
    """A linear rise from 0 to the highest learning rate, then a linear fall to the final one, over the progress of a training.

    Progress is from 0 to 1: the share of `max_steps` that is done, or of `max_minutes`, whichever is more. With steps alone, the
    rates are those of `transformers.get_linear_schedule_with_warmup`.
    """

    def __init__(self, settings: PretrainingSettings) -> None:
        self.settings = settings
        # Of the whole training. `settings.check` allows steps only where steps alone limit it.
        self.warmup = settings.warmup / (settings.max_steps or 1) if settings.warmup >= 1 else settings.warmup

    def progress(self, step: int, seconds: float) -> float:
        """The progress after this number of steps and seconds, at most 1."""
        by_steps = step / self.settings.max_steps if self.settings.max_steps else 0.0
        by_time = seconds / (60 * self.settings.max_minutes) if self.settings.max_minutes else 0.0
        return min(1.0, max(by_steps, by_time))

    def at(self, progress: float) -> float:
        """The learning rate of the step that begins at this progress."""
        highest, final = self.settings.learning_rate, self.settings.final_learning_rate
        if progress < self.warmup:
            return highest * progress / self.warmup
        return final + (highest - final) * (1 - progress) / (1 - self.warmup)


class Order:
    """The segments of each step: those of similar length together, in a new random order in each pass over the text.

    A pass leaves out random segments, fewer than a batch, that do not fill one.
    """

    def __init__(self, lengths: np.ndarray, batch_size: int, seed: int) -> None:
        """The lengths of the segments in tokens are int64 (segments,), at least `batch_size` of them."""
        self.lengths, self.batch_size, self.seed = lengths, batch_size, seed
        self.per_pass = len(lengths) // batch_size
        self._passes = lru_cache(maxsize=1)(self._pass)

    def batch(self, step: int) -> np.ndarray:
        """The indices of the segments of a step, int64 (batch_size,). Steps are counted from 0."""
        number, turn = divmod(step, self.per_pass)
        return self._passes(number)[turn]

    def _pass(self, number: int) -> list[np.ndarray]:
        rng = np.random.default_rng([self.seed, 1, number])
        # Chosen before they are sorted by length: else the longest segments would be left out in each pass.
        kept = rng.permutation(len(self.lengths))[: self.per_pass * self.batch_size]
        batches = pooled_batches(self.lengths[kept], self.batch_size, rng, pool_size(self.per_pass))
        return [kept[batch] for batch in batches]


class MaskedLanguageModelling(ResumableTraining):
    """One training. With `max_steps` as the limit, what a step does follows from the settings, the text and its number alone.

    With `max_minutes`, the learning rate follows the seconds that have passed, and no two trainings are equal. The seconds are those of
    the loop with its validations; those between the last checkpoint and an interruption do not count.
    """

    network: "BertForMaskedLM"
    settings: PretrainingSettings
    operation = "pre-training"

    def __init__(
        self,
        model: "BertForMaskedLM",
        segments: Segments,
        masking: Masking,
        settings: PretrainingSettings,
        checkpoint: Path,
        device: torch.device,
    ) -> None:
        """Raises InputError if too few segments are left for one step."""
        # Fused: one pass over the weights in place of one for each of Adam's operations.
        optimizer = torch.optim.AdamW(
            decayed_groups(model.to(device), settings.weight_decay),
            settings.learning_rate,
            betas=(0.9, settings.beta2),
            eps=settings.epsilon,
            fused=device.type != "mps",
        )
        super().__init__(model, [optimizer], settings, checkpoint)
        self.segments, self.masking = segments, masking
        self.held_out, self.chosen = split_held_out(len(segments), settings.held_out, settings.seed)
        if len(self.chosen) < settings.batch_size:
            raise InputError(
                f"the texts hold too little to train on: {len(segments)} segments of up to {settings.chunk} tokens,"
                f" {len(self.held_out)} of them held out, are not enough for batch_size={settings.batch_size}; add text, or set a"
                " smaller batch_size= or max_length="
            )
        self.order = Order(segments.lengths[self.chosen], settings.batch_size, settings.seed)
        self.rate = Rate(settings)
        precision = {"precision": settings.precision, "force_precision": settings.force_precision}
        self.precision = typed(TrainerConfig, {"accelerator": device.type, **precision})
        choose_attention(model, self.precision, device)
        self.rows = settings.batch_size // settings.accumulate  # segments that are computed together

    @property
    def progress(self) -> float:
        return self.rate.progress(self.step, self.seconds)

    def shown(self) -> tuple[int, int, str]:
        if self.settings.max_minutes is None:
            assert self.settings.max_steps is not None
            return self.step, self.settings.max_steps, "steps"
        most = round(60 * self.settings.max_minutes)
        return min(int(self.seconds), most), most, "s"

    def learning_rate(self) -> float:
        return self.rate.at(self.progress)

    def batches(self) -> Iterator[np.ndarray]:
        return (self.chosen[self.order.batch(step)] for step in count(self.step))

    def compute(self, batch: np.ndarray) -> Tensor:
        masked = self.masked(batch, np.random.default_rng([self.settings.seed, 2, self.step]))
        loss = torch.zeros((), device=self.device)
        for part in parts(masked, self.rows):
            if not len(part.labels):
                continue
            with mixed_precision(self.precision, self.device):
                losses = self.losses_and_hits(part)[0].sum() / len(masked.labels)
            losses.backward()
            loss += losses.detach()
        nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.gradient_clip or math.inf)
        return loss

    def masked(self, segments: np.ndarray, rng: np.random.Generator) -> MaskedBatch:
        """These segments with tokens to predict."""
        ids, is_text = self.segments.inputs(segments)
        padding = np.arange(ids.shape[1]) >= self.segments.lengths[segments][:, None] + 2
        return self.masking.apply(ids, is_text, padding, rng)

    def losses_and_hits(self, batch: MaskedBatch) -> tuple[Tensor, Tensor]:
        """Of each chosen token, (chosen,): the cross-entropy in nats, and whether the most probable token is the right one."""
        inputs, positions, labels = (
            to_device(torch.from_numpy(array), self.device) for array in (batch.inputs, batch.places, batch.labels)
        )
        padding = to_device(torch.from_numpy(batch.padding), self.device) if batch.padding.any() else None
        outputs = masked_outputs(self.network, inputs, positions, padding)
        return functional.cross_entropy(outputs, labels, reduction="none"), outputs.detach().argmax(-1) == labels

    def validate(self) -> tuple[dict[str, float], str]:
        """Perplexity and accuracy at the masked places of the held-out segments. The masks are the same each time."""
        order = self.held_out[np.argsort(self.segments.lengths[self.held_out], kind="stable")]
        total, hits, count = 0.0, 0, 0
        for number, start in enumerate(range(0, len(order), self.rows)):
            rng = np.random.default_rng([self.settings.seed, 3, number])
            losses, right = self.losses_and_hits(self.masked(order[start : start + self.rows], rng))
            total += float(losses.cpu().double().sum())
            hits += int(right.sum())
            count += len(losses)
        with np.errstate(over="ignore"):
            perplexity = float(np.exp(total / count))
        row = {"step": self.step, "seconds": self.seconds, "train_loss": self.mean_loss}
        row |= {"perplexity": perplexity, "accuracy": 100 * hits / count}
        steps = "" if self.settings.max_minutes is None else f"step {self.step:,}, "
        return row, f"{steps}held-out perplexity {perplexity:.1f}, {row['accuracy']:.1f}% of masked tokens right"


def parts(batch: MaskedBatch, rows: int) -> Iterator[MaskedBatch]:
    """The batch in parts of `rows` segments."""
    time_steps = batch.inputs.shape[1]
    for start in range(0, len(batch.inputs), rows):
        first, last = np.searchsorted(batch.places, [start * time_steps, (start + rows) * time_steps])
        yield MaskedBatch(
            batch.inputs[start : start + rows],
            batch.places[first:last] - start * time_steps,
            batch.labels[first:last],
            batch.padding[start : start + rows],
        )
