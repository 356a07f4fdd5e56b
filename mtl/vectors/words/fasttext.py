"""Training of fastText vectors: the row "LSTM + fastText" of KLEJ's Table 3."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.files import replacing
from mtl.base.progress import Progress
from mtl.base.typed import AT_LEAST_ONE, NOT_NEGATIVE
from mtl.embedders.fasttext_process import training_process
from mtl.vectors.words.files import lines_file, replace_texts_note

# fasttext 0.9.3 draws the first vectors in eleven blocks, one per thread. With fewer threads, the others start from zero.
SAFE_THREADS = 11


@dataclass
class FastTextTraining:
    """Settings of the training; they mean the same as in the fasttext library."""

    dim: Annotated[int, AT_LEAST_ONE] = 300  # numbers in a vector
    epochs: Annotated[int, AT_LEAST_ONE] = 5  # passes over the texts
    min_count: Annotated[int, AT_LEAST_ONE] = 5  # words that occur less often have no vector of their own
    bucket: Annotated[int, NOT_NEGATIVE] = 2_000_000  # vectors for n-grams of 3 to 6 characters, by their hash
    learning_rate: Annotated[float, NOT_NEGATIVE] = 0.05  # at the first step
    threads: Annotated[int, NOT_NEGATIVE] = 0  # 0: one for each core, but at least 11. More than one: vectors vary
    seed: Annotated[int, Meta(ge=1, lt=2**31)] = 1  # of the first vectors and of the noise

    def train(self, lines: Iterable[Sequence[str]], path: Path, source: str = "", device: Any = None) -> None:
        """As `Training.train`: skip-gram vectors, by the fasttext library, on the CPU."""
        threads = self.threads or max(SAFE_THREADS, os.cpu_count() or 1)
        with lines_file(lines, path) as (file, tokens), replacing(path) as partial:
            arguments = {
                "input": file.name, "model": "skipgram", "verbose": 2, "seed": self.seed, "dim": self.dim,
                "epoch": self.epochs, "minCount": self.min_count, "bucket": self.bucket, "lr": self.learning_rate,
                "thread": threads,
            }  # fmt: skip
            _train_in_process(arguments, partial, path, tokens * self.epochs)
            replace_texts_note(path, source, threads)


def _train_in_process(arguments: dict[str, Any], partial: Path, path: Path, tokens: int) -> None:
    """Train in a separate process and write the vectors to `partial`, with a progress over all epochs. Raises InputError, which names `path`."""
    last_line = ""
    with (
        training_process("train_unsupervised", arguments, partial) as process,
        Progress(f"training {path.name}", tokens, "tokens") as bar,
    ):
        try:
            for line in process.stderr or ():
                # fastText writes "Progress:  12.3% words/sec/thread: …".
                if match := re.match(r"\s*Progress: *([0-9.]+)%", line):
                    bar.reach(round(float(match[1]) / 100 * tokens))
                elif line.strip():
                    last_line = line.strip()
            if process.wait() == 0:
                bar.reach(tokens)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        reason = f"exit status {process.returncode}"
        if process.returncode > 0 and last_line:
            reason = f"{last_line} (min_count={arguments['minCount']})"
        raise InputError(f"fastText could not train: {reason}", path=path)
