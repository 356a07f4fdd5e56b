"""The learning rate over a training, and the segments of each step."""

from functools import lru_cache

import numpy as np

from mtl.pretraining.settings import PretrainingSettings
from mtl.training.batches import pool_size, pooled_batches


class Rate:
    """A linear rise from 0 to the highest learning rate, then a linear fall to the final one, over the progress of a training.

    Progress is from 0 to 1: the share of `max_steps` that is done, or of `max_minutes`, whichever is more. With steps alone, the
    rates are those of `transformers.get_linear_schedule_with_warmup`.
    """

    def __init__(self, settings: PretrainingSettings) -> None:
        self.highest, self.final = settings.learning_rate, settings.final_learning_rate
        self.max_steps = settings.max_steps
        self.max_seconds = None if settings.max_minutes is None else 60 * settings.max_minutes
        # Of the whole training. `settings.check` allows steps only where steps alone limit it.
        self.warmup = settings.warmup / (settings.max_steps or 1) if settings.warmup >= 1 else settings.warmup

    def progress(self, step: int, seconds: float) -> float:
        """The progress after this number of steps and seconds, at most 1."""
        by_steps = step / self.max_steps if self.max_steps else 0.0
        by_time = seconds / self.max_seconds if self.max_seconds else 0.0
        return min(1.0, max(by_steps, by_time))

    def at(self, progress: float) -> float:
        """The learning rate of the step that begins at this progress."""
        if progress < self.warmup:
            return self.highest * progress / self.warmup
        return self.final + (self.highest - self.final) * (1 - progress) / (1 - self.warmup)


class Order:
    """The segments of each step: those of similar length together, in a new random order in each pass over the text.

    A pass leaves out random segments, fewer than a batch, that do not fill one.
    """

    def __init__(self, lengths: np.ndarray, batch_size: int, seed: int) -> None:
        """lengths: of the segments in tokens, int64 (segments,), at least `batch_size` of them."""
        self.lengths, self.batch_size, self.seed = lengths, batch_size, seed
        self.per_pass = len(lengths) // batch_size
        self._passes = lru_cache(maxsize=1)(self._pass)

    def batch(self, step: int) -> np.ndarray:
        """The indices of the segments of a step, int64 (batch_size,). Steps are counted from 0."""
        number, place = divmod(step, self.per_pass)
        return self._passes(number)[place]

    def _pass(self, number: int) -> list[np.ndarray]:
        rng = np.random.default_rng([self.seed, 1, number])
        # Chosen before they are sorted by length: else the longest segments would be left out in each pass.
        kept = rng.permutation(len(self.lengths))[: self.per_pass * self.batch_size]
        batches = pooled_batches(self.lengths[kept], self.batch_size, rng, pool_size(self.per_pass))
        return [kept[batch] for batch in batches]
