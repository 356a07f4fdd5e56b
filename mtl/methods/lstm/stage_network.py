"""The network of a finished stage of an LSTM, from the stage's checkpoint in a run's folder."""

import re
from dataclasses import dataclass
from pathlib import Path

from mtl.base.errors import InputError
from mtl.methods.heads import load_heads
from mtl.methods.lstm.trained import TrainedLstm
from mtl.methods.predictor import Predictor
from mtl.model.network import Network
from mtl.runs.folder import finetune_folder, pretrain_folder
from mtl.training.checkpoints import WEIGHTS, read_weights

NO_STAGE = "must be a stage's checkpoint in a run's folder, as in RUN/seed-1/pretrain/best.ckpt, or a saved mtl.Module"


@dataclass(frozen=True)
class StageNetwork:
    """What a stage has trained."""

    path: Path  # the file of its weights
    network: Network  # after stage 1 with the heads of all tasks, after stage 2 with one
    predictor: Predictor  # the run; it predicts with this network
    model: TrainedLstm  # that of the predictor
    learning_rate: float  # the first one of the stage


def stage_network(path: Path, device: str) -> StageNetwork:
    """The network of a stage's checkpoint, on the device. Raises InputError for another file, a damaged one, and a run of another method."""
    folder = path.absolute().parent
    seed_folders = [above for above in folder.parents if re.fullmatch(r"seed-\d+", above.name)]
    if not seed_folders:
        raise InputError(NO_STAGE, path=path)
    seed_folder = seed_folders[0]  # the nearest one
    predictor = Predictor.load(seed_folder.parent, int(seed_folder.name.removeprefix("seed-")), device=device)
    model, config = predictor.model, predictor.config
    if not isinstance(model, TrainedLstm):
        raise InputError("only runs of lstm have such a module", path=path, key="method", value=config.method)
    is_first = folder == pretrain_folder(seed_folder)
    is_second = folder == finetune_folder(seed_folder, folder.name)
    if not (is_first or is_second) or path.name not in WEIGHTS.values():
        raise InputError(NO_STAGE, path=path)
    if is_first:
        network, rate = _network_of_stage1(predictor, model, path), config.pretrain.learning_rate
    else:
        opened = model.network(predictor.task(folder.name))
        assert isinstance(opened, Network)
        network, rate = opened, config.finetune.learning_rate
        if network.encoder is not None:
            network.encoder.requires_grad_(config.finetune.train_encoder)
    model.use(network)
    return StageNetwork(path.absolute(), network, predictor, model, rate)


def _network_of_stage1(predictor: Predictor, model: TrainedLstm, path: Path) -> Network:
    """The network of stage 1, with the heads of all tasks of the run that have one."""
    inputs = predictor.folder.read_inputs()
    tasks = [task for id, task in predictor.suite.tasks.items() if f"tasks.{id}" in inputs and task.answered_by is None]
    heads = load_heads(predictor.config, tasks, model.answers, model.encoder.output_size, read_weights(path), path)
    return Network(tasks, heads, model.encoder)
