"""The training of a BERT by masked language modelling alone, as HerBERT's."""

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
from mtl.training.batches import pool_size, pooled_batches
from mtl.training.precision import choose_attention, mixed_precision
from mtl.vectors.pretraining.masking import NOT_CHOSEN, mask_words
from mtl.vectors.pretraining.network import masked_outputs
from mtl.vectors.pretraining.resumable import ResumableTraining
from mtl.vectors.pretraining.settings import PretrainingSettings
from mtl.vectors.pretraining.tokens import Segments
from mtl.vectors.pretraining.vocabulary import PAD

if TYPE_CHECKING:
    from transformers import BertForMaskedLM

LARGEST_NORM = 1.0  # of all gradients together, which is clipped


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
