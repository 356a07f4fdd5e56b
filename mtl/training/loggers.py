"""The loggers of one training of a stage: those that the user attached, or else CSV files, TensorBoard, W&B and MLflow, as `trainer.logger` says."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import CSVLogger, Logger, MLFlowLogger, TensorBoardLogger, WandbLogger

from mtl.base.errors import InputError, reason_of
from mtl.base.extras import missing_package
from mtl.base.settings.schema import TrainerConfig
from mtl.training.attached import LOGGER, user_loggers

PROJECT = "mtl"  # of W&B, where WANDB_PROJECT names none, and the experiment of MLflow, where MLFLOW_EXPERIMENT_NAME names none


@contextmanager
def stage_loggers(
    config: TrainerConfig, folder: Path, seed: int, epoch: int, settings: Mapping[str, Any]
) -> Iterator[list[Logger]]:
    """The loggers of one training of a stage, for the block. Raises InputError if W&B or MLflow cannot log. CSV files and TensorBoard's are in
    `folder`, RUN/seed-SEED/STAGE. `epoch` is the first one that is trained. `settings` are those of the run, by dotted key, for W&B and MLflow."""
    if (attached := user_loggers(config)) is not None:
        yield attached
        return
    run, _, stage = folder.as_posix().rpartition(f"/seed-{seed}/")
    continued = f", continued after validation {epoch}" if epoch else ""
    name = f"seed-{seed}/{stage}{continued}"
    loggers = _file_loggers(config.logger, folder, epoch)
    with ExitStack() as block:
        try:
            if config.logger == "wandb":
                loggers.append(_wandb_logger(block, name, run, stage, settings))
            elif config.logger == "mlflow":
                loggers.append(_mlflow_logger(name, run, stage, settings))
        except Exception as error:
            remedy = "MLFLOW_TRACKING_URI says where MLflow logs, WANDB_MODE=offline lets W&B log on this machine"
            raise InputError(f"cannot log ({reason_of(error)}); {remedy}", key=LOGGER, value=config.logger) from None
        yield loggers


def _file_loggers(logger: str, folder: Path, epoch: int) -> list[Logger]:
    """The loggers that write into the folder of the stage."""
    if logger == "none":
        return []
    loggers: list[Logger] = [CSVLogger(folder, "log", f"from-epoch-{epoch}")]
    if logger == "tensorboard" or (logger == "auto" and missing_package("tensorboard") is None):
        loggers.append(TensorBoardLogger(folder, name="tensorboard", version=""))
    return loggers


def _wandb_logger(block: ExitStack, name: str, run: str, stage: str, settings: Mapping[str, Any]) -> Logger:
    """A logger of W&B that has begun to log. The end of the block ends what W&B calls a run, unless the user began it: then it stays the user's."""
    import wandb

    if wandb.run is None:
        block.callback(wandb.finish)
    project = os.environ.get("WANDB_PROJECT", PROJECT)
    logger = WandbLogger(name, project=project, group=run, job_type=stage, config=dict(settings))
    _ = logger.experiment  # begins the run
    return logger


def _mlflow_logger(name: str, run: str, stage: str, settings: Mapping[str, Any]) -> Logger:
    """A logger of MLflow that has begun to log."""
    import mlflow

    experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
    logger = MLFlowLogger(experiment, f"{run} {name}", mlflow.get_tracking_uri(), {"run": run, "stage": stage})
    logger.log_hyperparams(dict(settings))
    return logger
