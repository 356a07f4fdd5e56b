"""What a seed of a method costs: parameters, time and memory of trained networks, and the speed of prediction with any trained method."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from mtl.base.device import threads_of_torch
from mtl.base.memory import peak_gpu_memory
from mtl.data.dataset import Dataset, input_rows
from mtl.data.examples import Row
from mtl.methods.method import SeedCost
from mtl.runs.folder import finetune_folder, pretrain_folder
from mtl.runs.records import read_stage
from mtl.tasks.task import Task
from mtl.training.checkpoints import DONE_FILE

ROWS = 16  # the most rows of a task in one batch
SECONDS = 1.0  # the least time that is measured; each task is measured equally often

Predict = Callable[[Task, Sequence[Row]], object]


def networks_cost(
    folder: Path, dataset: Dataset, predict: Predict, embeddings: int, others: int, further_seconds: float = 0.0
) -> dict[str, Any]:
    """`mtl.methods.method.Method.cost` of the seed in `folder`, whose networks were trained in stages. `embeddings` is the number of parameters in
    word vectors or token embeddings, `others` that of all others, and `further_seconds` the time that the seed took beside its stages."""
    stage1_file = pretrain_folder(folder) / DONE_FILE
    stage1 = [read_stage(stage1_file)] if stage1_file.exists() else []
    stages = [read_stage(finetune_folder(folder, task.id) / DONE_FILE) for task in dataset.trained_tasks]
    gpu = peak_gpu_memory()
    pretrain_seconds = stage1[0]["seconds"] if stage1 else None
    finetune_seconds = further_seconds + sum(stage["seconds"] for stage in stages)
    memory = max(stage["peak_memory"] for stage in [*stage1, *stages])
    speed = sentences_per_second(predict, dataset)
    cost = SeedCost(embeddings + others, others, pretrain_seconds, finetune_seconds, memory, speed)._asdict()
    return cost if gpu is None else {**cost, "peak_gpu_memory": gpu}


def sentences_per_second(predict: Predict, dataset: Dataset, tasks: Sequence[Task] | None = None) -> float:
    """Texts per second on one core, from text to prediction, over these tasks of the dataset (None: all). In turn, a batch of each task's scored rows
    is predicted. Before each measured call, `predict` is called with one row, so that loading a model is not measured."""
    count, seconds = 0, 0.0
    with threads_of_torch(1), threadpool_limits(1):
        while seconds < SECONDS:
            for task in tasks or dataset.tasks:
                split = dataset.scored(task)
                evenly_chosen = range(0, len(split), -(-len(split) // ROWS))
                rows = input_rows(dataset, task, split, evenly_chosen)
                predict(task, rows[:1])
                start = time.perf_counter()
                predict(task, rows)
                seconds += time.perf_counter() - start
                count += sum(isinstance(part, str) for row in rows for part in row)
    return count / seconds
