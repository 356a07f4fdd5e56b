"""The whole job: every seed, both stages, predictions, summary and table."""

import json
import logging
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from mtl.config import Config, data_dir, find_yaml, run_dir, shipped
from mtl.data.batches import Table
from mtl.data.dataset import Dataset, fingerprints, load_dataset
from mtl.data.sample import write_sample
from mtl.data.splits import missing_tasks
from mtl.device import device_of
from mtl.embedders import Embeddings, build_embeddings
from mtl.embedders.words import WordEmbeddings
from mtl.files import write_text
from mtl.memory import keep_memory
from mtl.metrics import score
from mtl.results.run_folder import RunFolder, read_json, write_json
from mtl.results.submission import write_predictions, write_submission
from mtl.results.summary import summarize
from mtl.results.table import render
from mtl.suite import Suite
from mtl.training.finetune import check_disk, finetune, stage_inputs
from mtl.training.parallel import run_in_parallel
from mtl.training.pretrain import pretrain

logger = logging.getLogger("mtl")


def run_baseline(config: Config, suite: Suite) -> dict[str, Any]:
    """Run what the configuration says, or what of it is not done yet; return the summary.

    Raises InputError for bad data, a run folder of another configuration, or one that another process holds.
    """
    folder = RunFolder(run_dir(config, suite))
    tasks = suite.choose(config.tasks)
    data = data_dir(config, suite)
    device_of(config.trainer.accelerator)  # complains before anything is read
    with folder.locked():
        folder.check(config)
        if folder.summary.exists():
            folder.check_inputs(fingerprints(tasks, data))
            logger.info("%s: this run is finished; remove the folder to run it again", folder.path)
            return read_json(folder.summary)
        if suite.generated and len(missing_tasks(suite, data)) == len(suite.tasks):
            logger.info("writing the suite's data to %s", data)
            write_sample(data)
        inputs = load_inputs(config, suite)
        dataset, embeddings = inputs.dataset, inputs.embeddings
        folder.claim(config, {**dataset.fingerprints, "embeddings": embeddings.fingerprint()})
        _record(folder, config, dataset, embeddings)
        waiting = [seed for seed in config.seeds if not folder.scores(seed).exists()]
        if config.seeds_in_parallel > 1 and len(waiting) > 1:
            run_in_parallel(run_apart, config, suite, waiting)
        scores: dict[str, dict[int, float]] = {task.id: {} for task in tasks}
        for seed in config.seeds:
            for task, value in run_seed(config, inputs, seed, folder).items():
                scores[task][seed] = value
        summary = summarize(suite, tasks, config.embeddings.name, config.variant, scores, dataset.rows())
        summary["held_out"] = {task: len(lines) for task, lines in dataset.held_out.items()}
        summary["embeddings_coverage"] = embeddings.coverage.as_dict()
        write_text(folder.table, render(summary, suite))
        write_json(folder.summary, summary)
        return summary


@dataclass(frozen=True)
class Inputs:
    """What every seed reads: the rows, their texts as an embedder reads them, and what makes embedders."""

    dataset: Dataset
    table: Table
    embeddings: Embeddings


def load_inputs(config: Config, suite: Suite) -> Inputs:
    """Read and tokenize the data and find the embeddings, from the caches where they are there.

    Raises InputError for bad data, and where there is too little disk.
    """
    device = device_of(config.trainer.accelerator)
    if device.type == "cpu":
        keep_memory()
    if config.trainer.threads:
        torch.set_num_threads(config.trainer.threads)
    tasks = suite.choose(config.tasks)
    data = data_dir(config, suite)
    dataset = load_dataset(suite, tasks, data, config.max_length, config.held_out, Path(config.cache_dir))
    logger.info("%d tasks, %d distinct texts, %d tokens", len(tasks), len(dataset.texts), len(dataset.texts.tokens))
    check_disk(config, dataset, run_dir(config, suite))
    embeddings = build_embeddings(config, suite, dataset, device)
    logger.info("%s embeddings: %s", config.embeddings.name, embeddings.coverage)
    return Inputs(dataset, embeddings.table(dataset.texts), embeddings)


def run_apart(config: Config, suite: Suite, seed: int) -> None:
    """One seed in a process of its own, which has its share of the threads from its environment."""
    logger.setLevel(logging.WARNING)  # of what it reads the first process has spoken
    inputs = load_inputs(replace(config, trainer=replace(config.trainer, threads=None)), suite)
    logger.setLevel(logging.INFO)
    run_seed(config, inputs, seed, RunFolder(run_dir(config, suite)))


def run_seed(config: Config, inputs: Inputs, seed: int, folder: RunFolder) -> dict[str, float]:
    """Both stages of one seed, its predictions and its submission; the scores × 100 on dev by task id."""
    done = folder.scores(seed)
    if done.exists():
        return read_json(done)["scores"]
    dataset = inputs.dataset
    start = time.monotonic()
    encoder, heads = pretrain(config, dataset, inputs.table, inputs.embeddings, seed, folder.pretrained(seed))
    encoded = stage_inputs(config, dataset, inputs.table, encoder, heads, seed, folder.seed(seed))
    scores = {}
    for task in dataset.tasks:
        predictions = finetune(config, dataset, task, encoded, heads, seed, folder.finetuned(seed, task.id))
        gold = torch.from_numpy(dataset.splits[task.id]["dev"].targets)
        scores[task.id] = score(task, torch.from_numpy(predictions["dev"]), gold)
        for split, values in predictions.items():
            write_predictions(folder.predictions(seed, split, task.id), task, values.tolist(), config.submission.header)
    write_submission(
        folder.submission(seed),
        [folder.predictions(seed, "test", t.id) for t in dataset.tasks if "test" in dataset.splits[t.id]],
    )
    average = sum(scores.values()) / len(scores)
    number = f"{config.seeds.index(seed) + 1}/{len(config.seeds)}"
    logger.info(
        "seed %d (%s) · %s · average %.1f", seed, number, ", ".join(f"{t} {s:.1f}" for t, s in scores.items()), average
    )
    write_json(done, {"scores": scores, "average": average, "seconds": time.monotonic() - start})
    return scores


def _record(folder: RunFolder, config: Config, dataset: Dataset, embeddings: Embeddings) -> None:
    """Keep what `mtl predict` needs and what a reader may ask: the suite file, the vocabulary, the held-out rows."""
    suite_file = find_yaml("suite", config.suite, shipped("configs") / "suite")
    write_text(folder.suite, suite_file.read_text(encoding="utf-8"))
    if isinstance(embeddings, WordEmbeddings):
        write_text(folder.vocabulary, "".join(f"{word}\n" for word in embeddings.vocabulary.words))
    write_text(folder.held_out, json.dumps(dataset.held_out) + "\n")
