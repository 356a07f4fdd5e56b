"""Stage 1 of `variant=joint`: one body with a head for each task, trained on all tasks together."""

from pathlib import Path

from mtl.config.schema import Config
from mtl.device import device_of
from mtl.embedders.sequences import ArraySequences
from mtl.methods.coded import Coded
from mtl.methods.transformer.finetune import batching_of
from mtl.methods.transformer.network import TransformerNetwork
from mtl.methods.transformer.optimization import fine_tuning, freeze_layers
from mtl.training.batches import BatchDataset, Schedule, ScheduleSampler, SortedSampler, row_lengths
from mtl.training.checkpoints import load_finished
from mtl.training.fit import Stage, fit
from mtl.training.module import MultitaskModule


def train_together(
    config: Config, data: Coded, sequences: ArraySequences, network: TransformerNetwork, seed: int, folder: Path
) -> None:
    """Train the network, or load its weights if `folder` has a finished stage.

    As in stage 1 of the LSTM, each batch has rows of one task, drawn in proportion to (training rows) ** `pretrain.sampling`. An epoch is
    as many steps as all tasks' batches make; the optimizer is that of fine-tuning. `transformer.checkpoint` says whether the last
    weights are used or those with the best average on dev.
    """
    settings, tasks = config.transformer, data.dataset.trained_tasks
    if load_finished(network, folder, settings.checkpoint):
        return
    data.set_loss(network, config.loss)
    freeze_layers(network, settings.freeze)
    batching, token_counts = batching_of(config), sequences.lengths.numpy()
    parts = {
        "train": {task.id: data.train(task, config.loss, seed) for task in tasks},
        "dev": {task.id: data.splits[task.id]["dev"] for task in tasks},
    }
    lengths = {split: {id: row_lengths(part, token_counts) for id, part in of.items()} for split, of in parts.items()}
    sizes = {split: {id: batching.rows(part) for id, part in of.items()} for split, of in parts.items()}
    # Whole steps: a step's batches may be of several tasks.
    steps = sum(batching.steps(part) for part in parts["train"].values())
    batches, total_steps = steps * settings.accumulate, steps * settings.joint_epochs
    fewest = min(batching.batches(part) for part in parts["train"].values())
    schedule = Schedule(
        lengths["train"],
        sizes["train"],
        batches * settings.joint_epochs,
        seed,
        config.pretrain.sampling,
        batching.pool(fewest),
    )
    pin_memory = device_of(config.trainer.accelerator).type == "cuda"
    made = {split: BatchDataset(of, sequences) for split, of in parts.items()}
    fit(
        MultitaskModule(network, {task.id: data.dev_score(task) for task in tasks}, fine_tuning(settings, total_steps)),
        Stage(
            title=f"seed {seed} · stage 1",
            section="transformer",
            folder=folder,
            seed=seed,
            epochs=settings.joint_epochs,
            total_steps=total_steps,
            patience=settings.patience or settings.joint_epochs,
            gradient_clip=settings.gradient_clip,
            train=lambda epoch: made["train"].loader(
                ScheduleSampler(schedule, epoch * batches, (epoch + 1) * batches), pin_memory
            ),
            dev=made["dev"].loader(SortedSampler(lengths["dev"], sizes["dev"]), pin_memory),
            checkpoint=settings.checkpoint,
            scale=data.scale,
            accumulate=settings.accumulate,
        ),
        config.trainer,
    )
