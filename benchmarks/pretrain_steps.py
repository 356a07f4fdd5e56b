"""Compare steps of pre-training with a plain loop of transformers, and the loss at masked places alone with that at all places.

    python benchmarks/pretrain_steps.py --text novels.txt.gz --config small --steps 10 --runs 3

The plain loop is what `transformers.Trainer` does in a step: DataCollatorForLanguageModeling draws the masks, BertForMaskedLM computes
the outputs at every place and the loss at the masked ones, then clipping, fused AdamW and the linear schedule. (The Trainer itself needs
one more package.) Both read the same segments, in one process, in turn, with weights of the same sizes. The collator masks single
subwords: with whole words, it replaces every chosen token by the mask. Without --text, the text is that of the embedded sample.
--forward times the forward and backward pass alone, without masks and optimizer. Seconds are those of the process on the CPU.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import tee
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timing import ratio
from torch.nn import functional

from mtl.base.extras import import_transformers
from mtl.data.loading import training_texts
from mtl.data.sample import unpack_embedded
from mtl.jobs.job import load_job
from mtl.methods.transformer.network import parameter_groups
from mtl.vectors.pretraining.pretrain import begin_training
from mtl.vectors.pretraining.settings import PretrainingSettings, read_settings
from mtl.vectors.pretraining.tokens import PretrainingTexts
from mtl.vectors.pretraining.training import (
    CHOSEN_SHARE,
    LARGEST_NORM,
    NOT_CHOSEN,
    MaskedLanguageModelling,
    masked_outputs,
    new_bert,
)
from mtl.vectors.pretraining.vocabulary import portable_tokenizer

# A training that neither ends nor changes its rate within the measured steps.
FIXED = {"max_steps": 100_000, "warmup": 0.1, "documents": "line", "accumulate": 1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, help="a text file, plain or gzipped")
    parser.add_argument("--config", default="tiny", help="a name in configs/pretrain, or a path")
    parser.add_argument("--vocabulary", type=int, help="entries, else those of the file")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--steps", type=int, default=10, help="in each run")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--forward", action="store_true", help="the forward and backward pass alone")
    arguments = parser.parse_args()
    import_transformers()
    torch.set_num_threads(arguments.threads)
    given = {"vocab_size": arguments.vocabulary} if arguments.vocabulary else {}
    settings = read_settings(arguments.config, {**given, **FIXED, "batch_size": arguments.batch_size})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        read = texts(arguments.text, folder)
        tokenizer, training = begin_training(read, settings, folder, torch.device("cpu"))
        sides = passes(training) if arguments.forward else steps(training, portable_tokenizer(tokenizer, 512), settings)
        spent = alternate(sides, arguments.steps, arguments.runs)
    per_step = [statistics.median(side) / arguments.steps for side in spent]
    print(
        f"{arguments.config}, {len(training.begins):,} entries, {settings.batch_size} × {settings.max_length} tokens:"
        f" ours {per_step[0]:.3f} s, transformers {per_step[1]:.3f} s; ratio {ratio(*spent, digits=2)}"
    )


def texts(path: Path | None, folder: Path) -> PretrainingTexts:
    """The text file, or the training texts of the embedded sample."""
    if path is not None:
        return PretrainingTexts([path])
    data = folder / "data"
    if not data.exists():
        unpack_embedded("klej-sample", data)
    job = load_job({"suite": "klej-sample", "data_dir": str(data)})
    return PretrainingTexts(texts=training_texts(job.suite, data, job.config.held_out))


def steps(
    training: MaskedLanguageModelling, tokenizer: Any, settings: PretrainingSettings
) -> list[Callable[[int], Any]]:
    """A step of each side, by its number."""
    from transformers import DataCollatorForLanguageModeling, get_linear_schedule_with_warmup

    model = new_bert(settings, len(training.begins)).train()
    training.train()
    optimizer = torch.optim.AdamW(parameter_groups(model, settings.weight_decay), settings.learning_rate, fused=True)
    scheduler = get_linear_schedule_with_warmup(optimizer, 10_000, 100_000)
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=CHOSEN_SHARE)

    our_batches, their_batches = tee(training.batches())

    def ours(step: int) -> None:
        training.step = step
        training.training_step(next(our_batches))

    def theirs(step: int) -> None:
        ids = training.segments.inputs(next(their_batches))
        batch = collator([{"input_ids": row} for row in ids.tolist()])
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_NORM)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()

    return [ours, theirs]


def passes(training: MaskedLanguageModelling) -> list[Callable[[int], Any]]:
    """The forward and backward pass of each side with the same weights and masks."""
    masked = training.mask_segments(next(training.batches()), np.random.default_rng(0))
    inputs, labels = map(torch.from_numpy, masked)
    places = (labels.view(-1) != NOT_CHOSEN).nonzero()[:, 0]
    targets = labels.view(-1)[places]
    model = training.network

    def ours(step: int) -> None:
        functional.cross_entropy(masked_outputs(model, inputs, places, None), targets).backward()
        model.zero_grad()

    def theirs(step: int) -> None:
        model(input_ids=inputs, labels=labels).loss.backward()
        model.zero_grad()

    return [ours, theirs]


def alternate(sides: list[Callable[[int], Any]], count: int, runs: int) -> list[list[float]]:
    """CPU seconds of `count` steps of each side, (sides, runs). The first step of each is not measured."""
    for side in sides:
        side(0)
    return [
        list(times)
        for times in zip(*([spent(side, 1 + run * count, count) for side in sides] for run in range(runs)), strict=True)
    ]


def spent(side: Callable[[int], Any], first: int, count: int) -> float:
    start = time.process_time()
    for step in range(first, first + count):
        side(step)
    return time.process_time() - start


if __name__ == "__main__":
    main()
