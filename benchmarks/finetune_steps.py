"""Compare fine-tuning with `transformers.Trainer`: seconds a step, seconds of a validation, and peak memory.

    python benchmarks/finetune_steps.py --model my-bert --data data/klej --task cdsc-e --steps 40 --runs 3

Both sides fine-tune the same model on the same batches, in the same order, with the same optimizer and learning rates, each in a process
of its own, in turn. The Trainer does what its documentation shows: tokenized rows, `DataCollatorWithPadding`, nothing saved. It
validates in the order of the dev rows, ours by length, both in batches of as many rows. The first two steps, in which the process gets
its memory, are not measured. Seconds are those of the processor, so that other programs disturb them less. Memory is the largest resident
size of the process. Without --data, the task is one of the embedded sample; without --model, the model is the tiny BERT that the sample
trains. Needs the package `accelerate`, which the Trainer needs.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timing import ratio

from mtl.base import device
from mtl.base.settings.schema import Config
from mtl.data.dataset import Split
from mtl.data.sample import unpack_embedded
from mtl.jobs.inputs import prepare
from mtl.jobs.job import load_job
from mtl.methods import network_training
from mtl.methods.transformer.finetune import FineTuned
from mtl.model.network import Batch
from mtl.training.module import MultitaskModule
from mtl.training.schedule import Schedule, batch_rows, pool_size, row_lengths

SIDES = ("ours", "trainer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a folder as transformers saves it")
    parser.add_argument("--data", type=Path, help="KLEJ's data")
    parser.add_argument("--suite", default="klej", help="whose data --data holds")
    parser.add_argument("--task", default="cdsc-e")
    parser.add_argument("--precision", default="32-true", choices=["32-true", "bf16-mixed"])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--side", choices=SIDES, help="this side alone, in this process; prints JSON")
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(measured(arguments)))
        return
    found: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    for _ in range(arguments.runs):
        for side in SIDES:
            command = [sys.executable, __file__, *sys.argv[1:], "--side", side]
            lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
            found[side].append(json.loads(lines[-1]))
    for name, digits in (("seconds a step", 3), ("seconds of a validation", 2), ("peak memory, GB", 2)):
        ours, theirs = ([run[name] for run in found[side]] for side in SIDES)
        medians = [f"{statistics.median(side):.{digits}f}" for side in (ours, theirs)]
        print(f"{name}: ours {medians[0]}, Trainer {medians[1]}; ratio {ratio(ours, theirs, digits=2)}")


def measured(arguments: argparse.Namespace) -> dict[str, float]:
    """What is measured of one side."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = {
            "method": "transformer",
            "suite": arguments.suite if arguments.data else "klej-sample",
            "tasks": [arguments.task],
            "trainer.accelerator": "cpu",
            "trainer.precision": arguments.precision,
            "trainer.threads": arguments.threads,
            "transformer.epochs": 1,
            "transformer.warmup": 0,
            "data_dir": str(arguments.data or folder / "data"),
            "cache_dir": str(folder / "cache"),
            "run_dir": str(folder / "run"),
        }
        if arguments.data is None:
            unpack_embedded("klej-sample", folder / "data")
        if arguments.side == "trainer":
            device.keep_memory = lambda: None  # what ours sets for the whole process
        job = load_job({**settings, **({"transformer.path": arguments.model} if arguments.model else {})})
        _, method = prepare(job, None)
        assert isinstance(method, FineTuned)
        _cut(method, arguments.task, arguments.steps * job.config.transformer.batch_size)
        ends, validation = (_ours if arguments.side == "ours" else _trainer)(job.config, method, folder / "stage")
    step = (ends[-1] - ends[1]) / (len(ends) - 2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return {"seconds a step": step, "seconds of a validation": validation, "peak memory, GB": peak}


def _cut(method: FineTuned, task: str, rows: int) -> None:
    """Leave so many rows of the task for training, drawn at random."""
    part = method.data.splits[task]["train"]
    chosen = np.random.default_rng(0).permutation(len(part))[:rows]
    method.data.splits[task]["train"] = replace(part, texts=part.texts[chosen], targets=part.targets[chosen])


def _ours(config: Config, method: FineTuned, folder: Path) -> tuple[list[float], float]:
    """When each step ended, and the seconds of the validation after the last one."""
    ends: list[float] = []
    validation: list[float] = []

    class Timed(MultitaskModule):
        def on_train_batch_end(self, outputs: Any, batch: Batch, batch_idx: int) -> None:
            ends.append(time.process_time())

        def on_validation_end(self) -> None:
            validation.append(time.process_time() - ends[-1])

    network_training.MultitaskModule = Timed  # type: ignore[misc]
    (task,) = method.dataset.trained_tasks
    network = method.new_network([task], 1)
    method.fine_tune(network, task, 1, folder)
    return ends, validation[-1]


def _trainer(config: Config, method: FineTuned, folder: Path) -> tuple[list[float], float]:
    """As `_ours`."""
    from torch.utils.data import DataLoader
    from transformers import DataCollatorWithPadding, Trainer, TrainerCallback, TrainingArguments

    (task,) = method.dataset.trained_tasks
    split, settings = method.data.splits[task.id]["train"], config.transformer
    lengths = {task.id: row_lengths(split, method.sequences.lengths.numpy())}
    steps = -(-len(split) // settings.batch_size)
    sizes = {task.id: batch_rows(split, settings.batch_size)}
    schedule = Schedule(lengths, sizes, steps, 1, pool=pool_size(steps))
    batches = [schedule.rows(step)[1].tolist() for step in range(steps)]
    ends: list[float] = []

    def rows(split: Split) -> list[dict[str, Any]]:
        codes = split.targets if task.kind == "number" else split.targets.astype(np.int64)
        tokenized = []
        for text, target in zip(split.texts[:, 0], codes.tolist(), strict=True):
            tokens, length = method.sequences.gather(torch.tensor([text]))
            ids = tokens[0, : int(length[0])]
            tokenized.append({"input_ids": ids[:, 0].tolist(), "token_type_ids": ids[:, 1].tolist(), "labels": target})
        return tokenized

    class InOrder(Trainer):
        def get_train_dataloader(self) -> Any:
            return DataLoader(self.train_dataset, batch_sampler=batches, collate_fn=self.data_collator)

    class Timed(TrainerCallback):
        def on_step_end(self, *arguments: Any, **named: Any) -> None:
            ends.append(time.process_time())

    given = TrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        per_device_eval_batch_size=settings.rows_at_once,
        max_grad_norm=settings.gradient_clip,
        use_cpu=True,
        bf16=config.trainer.precision == "bf16-mixed",
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    model, tokenizer = method.pretrained.classifier(method.data.outputs[task.id]), method.pretrained.tokenizer
    trainer = InOrder(model, given, DataCollatorWithPadding(tokenizer), rows(split), callbacks=[Timed()])
    dev = rows(method.data.splits[task.id]["dev"])
    trainer.train()
    start = time.process_time()
    trainer.evaluate(dev)
    return ends, time.process_time() - start


if __name__ == "__main__":
    main()
