"""The loggers of one training of a stage: those that the user attached, or else CSV files, TensorBoard, W&B and MLflow, as `trainer.logger` says."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pytorch_lightning.loggers import CSVLogger, Logger, MLFlowLogger, TensorBoardLogger, WandbLogger

from mtl.base.errors import InputError, reason_of
from mtl.base.extras import missing_package
from mtl.base.settings.schema import TrainerConfig
from mtl.training.attached import LOGGER, user_loggers

PROJECT = "mtl"  # of W&B, where WANDB_PROJECT names none, and the experiment of MLflow, where MLFLOW_EXPERIMENT_NAME names none


class LoggedTraining(NamedTuple):
    """What W&B and MLflow are told of a training."""

    run: str  # the folder of the run
    stage: str
    name: str  # seed-SEED/STAGE, and where the training continues
    settings: dict[str, Any]  # those of the run, by dotted key


@contextmanager
def stage_loggers(
    config: TrainerConfig, folder: Path, seed: int, epoch: int, settings: Mapping[str, Any]
) -> Iterator[list[Logger]]:
    """The loggers of one training of a stage, for the block. Raises InputError if W&B or MLflow cannot log. CSV files and TensorBoard's are in
    `folder`, RUN/seed-SEED/STAGE. `epoch` is the first one that is trained. `settings` are those of the run, by dotted key, for W&B and MLflow."""
    loggers = user_loggers(config)
    if loggers is not None:
        yield loggers
        return
    run, _, stage = folder.as_posix().rpartition(f"/seed-{seed}/")
    continued = f", continued after validation {epoch}" if epoch else ""
    training = LoggedTraining(run, stage, f"seed-{seed}/{stage}{continued}", dict(settings))
    with ExitStack() as block:
        yield [*_file_loggers(config.logger, folder, epoch), *_service_loggers(config.logger, training, block)]


def _file_loggers(logger: str, folder: Path, epoch: int) -> Iterator[Logger]:
    """The loggers that write into the folder of the stage."""
    if logger != "none":
        yield CSVLogger(folder, "log", f"from-epoch-{epoch}")
    if logger == "tensorboard" or (logger == "auto" and missing_package("tensorboard") is None):
        yield TensorBoardLogger(folder, name="tensorboard", version="")


def _service_loggers(logger: str, training: LoggedTraining, block: ExitStack) -> list[Logger]:
    """The logger of W&B or of MLflow, which has begun to log, if `trainer.logger` names one. Raises InputError if it cannot log."""
    try:
        if logger == "wandb":
            return [_wandb_logger(training, block)]
        return [_mlflow_logger(training)] if logger == "mlflow" else []
    except Exception as error:
        remedy = "MLFLOW_TRACKING_URI says where MLflow logs, WANDB_MODE=offline lets W&B log on this machine"
        raise InputError(f"cannot log ({reason_of(error)}); {remedy}", key=LOGGER, value=logger) from None


def _wandb_logger(training: LoggedTraining, block: ExitStack) -> Logger:
    """A logger of W&B that has begun to log. The end of the block ends what W&B calls a run, unless the user began it: then it stays the user's."""
    import wandb

    if wandb.run is None:
        block.callback(wandb.finish)
    project = os.environ.get("WANDB_PROJECT", PROJECT)
    run, stage, name, settings = training
    logger = WandbLogger(name, project=project, group=run, job_type=stage, config=settings)
    _ = logger.experiment  # begins the run
    return logger


def _mlflow_logger(training: LoggedTraining) -> Logger:
    """A logger of MLflow that has begun to log."""
    import mlflow

    experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
    tags = {"run": training.run, "stage": training.stage}
    logger = MLFlowLogger(experiment, f"{training.run} {training.name}", mlflow.get_tracking_uri(), tags)
    logger.log_hyperparams(training.settings)
    return logger
