"""Stage 1 of `variant=joint`: one body with a head for each task, trained on all tasks together."""

from pathlib import Path

from mtl.config.schema import Config
from mtl.embedders.sequences import ArraySequences
from mtl.methods.coded import Coded
from mtl.methods.joint_batches import JointBatches
from mtl.methods.transformer.network import TransformerNetwork
from mtl.methods.transformer.optimization import fine_tuning, freeze_layers
from mtl.training.batches import pass_batches, pool_size
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
    made = JointBatches(config, data, sequences, seed, settings.batch_size, settings.rows_at_once)
    of_tasks = [pass_batches(part, settings.batch_size) for part in made.parts["train"].values()]
    steps, total_steps = sum(of_tasks), sum(of_tasks) * settings.joint_epochs
    schedule = made.schedule(total_steps, seed, config.pretrain.sampling, pool_size(min(of_tasks)))
    fit(
        MultitaskModule(
            network,
            {task.id: data.dev_score(task) for task in tasks},
            fine_tuning(settings, total_steps),
            settings.accumulate,
        ),
        Stage(
            title=f"seed {seed} · stage 1",
            section="transformer",
            folder=folder,
            seed=seed,
            epochs=settings.joint_epochs,
            total_steps=total_steps,
            patience=settings.patience or settings.joint_epochs,
            gradient_clip=settings.gradient_clip,
            train=lambda epoch: made.train(schedule, epoch * steps, (epoch + 1) * steps),
            dev=made.dev(),
            checkpoint=settings.checkpoint,
            scale=data.scale,
        ),
        config.trainer,
    )
