"""Stage 2: each task's head on the frozen encoder, by the task's own metric (KLEJ, section 4.1)."""

import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtl.config import Config
from mtl.data.batches import BatchDataset, Schedule, ScheduleSampler, SortedSampler
from mtl.data.dataset import Dataset
from mtl.files import write_text
from mtl.model.multitask import Heads, Multitask, predict
from mtl.suite import Task
from mtl.training.fit import Stage, fit, load_best


def finetune(
    config: Config, dataset: Dataset, task: Task, vectors: Tensor, heads: Heads, seed: int, folder: Path
) -> dict[str, np.ndarray]:
    """Train a task's head on its texts' vectors, from the head of stage 1, and predict.

    vectors: float32 (texts, dim), of all the dataset's texts. The head in `heads` is changed to the best one.
    `folder` receives best.ckpt and done.json. A task whose done.json is there is only predicted, not trained again.
    Returns predictions by split ("dev", and "test" if there is one): (rows,), label indices or numbers.
    """
    settings = config.finetune
    splits = dataset.splits[task.id]
    lone = Heads([task], vectors.shape[1], config.head.hidden_size, config.head.dropout)
    lone.layers[0] = heads[task.id]
    batches = math.ceil(len(splits["train"]) / settings.batch_size)
    module = Multitask(
        [task], lone, None, settings.learning_rate, settings.final_learning_rate, batches * settings.max_epochs
    )
    done = folder / "done.json"
    if done.exists():
        load_best(module, folder)
    else:
        # Vectors have no length: rows are shuffled freely.
        schedule = Schedule(
            {task.id: np.zeros(len(splits["train"]))}, settings.batch_size, batches * settings.max_epochs, seed
        )
        train = BatchDataset({task.id: splits["train"]}, vectors=vectors)
        dev = BatchDataset({task.id: splits["dev"]}, vectors=vectors)
        start = time.monotonic()
        best = fit(
            module,
            Stage(
                title=f"seed {seed} · stage 2 · {task.id}",
                folder=folder,
                seed=seed,
                epochs=settings.max_epochs,
                total_steps=batches * settings.max_epochs,
                patience=settings.patience,
                gradient_clip=settings.gradient_clip,
                train=lambda epoch: train.loader(ScheduleSampler(schedule, epoch * batches, (epoch + 1) * batches)),
                dev=dev.loader(SortedSampler({task.id: np.zeros(len(splits["dev"]))}, settings.batch_size)),
                resumable=False,  # training a head anew takes seconds
                lines=False,
            ),
            config.trainer,
        )
        write_text(
            done, json.dumps({"score": best, "seconds": time.monotonic() - start, "curve": module.curve}, indent=1)
        )
    predictions: dict[str, np.ndarray] = {}
    module.eval()
    for name in ("dev", "test"):
        if name in splits:
            sides = torch.from_numpy(splits[name].texts.T.reshape(-1))
            with torch.no_grad():
                predictions[name] = predict(task, lone[task.id](vectors[sides])).numpy()
    return predictions
