"""Loggers and callbacks that the user chooses: by the settings `trainer.logger` and `trainer.callbacks`, or as objects from Python."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import pytorch_lightning as pl
from pytorch_lightning import Callback
from pytorch_lightning.loggers import CSVLogger, Logger, MLFlowLogger, TensorBoardLogger, WandbLogger

from mtl.base.errors import InputError
from mtl.base.extras import missing_package
from mtl.base.lazy import resolve
from mtl.base.settings.schema import TrainerConfig
from mtl.training.trainer import WITHOUT, quiet

LOGGER, CALLBACKS = "trainer.logger", "trainer.callbacks"
PROJECT = "mtl"  # of W&B, where WANDB_PROJECT names none, and the experiment of MLflow, where MLFLOW_EXPERIMENT_NAME names none

Made = TypeVar("Made", Logger, Callback)

# By the key of the setting, the objects that trainings use in place of the classes that the setting names.
_objects: ContextVar[dict[str, list[Any]]] = ContextVar("_objects")


@contextmanager
def attached(settings: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Let trainings within the block use the loggers and callbacks that are objects in these settings, by dotted key.

    Returns the settings with the names of classes in place of objects, and the keys of those that hold objects.
    """
    named, objects = dict(settings), {}
    for key in sorted({LOGGER, CALLBACKS} & settings.keys()):
        value = settings[key]
        values = value if isinstance(value, list) else [value]
        if any(isinstance(item, Logger | Callback) for item in values):
            names = [_name(item) if isinstance(item, Logger | Callback) else item for item in values]
            named[key], objects[key] = names if isinstance(value, list) else names[0], values
    token = _objects.set(objects)
    try:
        yield named, list(objects)
    finally:
        _objects.reset(token)


def check_attached(config: TrainerConfig) -> None:
    """Raise InputError for a logger whose package is not installed, names that are no classes of loggers and callbacks, and callbacks that
    Lightning does not take together."""
    callbacks = user_callbacks(config)
    try:
        with quiet():
            pl.Trainer(accelerator="cpu", devices=1, callbacks=callbacks, logger=config.logger != "none", **WITHOUT)
    except Exception as error:
        raise InputError(" ".join(str(error).split())[:200], key=CALLBACKS) from None
    if ":" in config.logger and LOGGER not in _objects.get({}):
        _class(config.logger, Logger, LOGGER)
    if config.logger == "tensorboard" and (name := missing_package("tensorboard")):
        message = f"the package {name} is missing; install it: pip install 'mtl-baselines[tensorboard]'"
        raise InputError(message, key=LOGGER, value=config.logger)
    # W&B's own folder "wandb" would be a package without a file.
    if config.logger in ("wandb", "mlflow") and getattr(find_spec(config.logger), "origin", None) is None:
        message = f"the package {config.logger} is missing; install it: pip install {config.logger}"
        raise InputError(message, key=LOGGER, value=config.logger)
    if config.logger == "mlflow":
        from mlflow import MlflowClient

        with _service(config.logger, "MLFLOW_TRACKING_URI names where runs are logged"):
            MlflowClient().search_experiments(max_results=1)


def user_callbacks(config: TrainerConfig) -> list[Callback]:
    """The callbacks of `trainer.callbacks`: objects from Python, and a new one of each class that is named. Raises InputError as `check_attached`."""
    given = _objects.get({}).get(CALLBACKS, config.callbacks or [])
    return [_made(value, Callback, CALLBACKS) for value in given]


@contextmanager
def stage_loggers(
    config: TrainerConfig, folder: Path, seed: int, epoch: int, settings: Mapping[str, Any]
) -> Iterator[list[Logger]]:
    """The loggers of one training of a stage, for the block.

    Args:
        folder: that of the stage. CSV files and TensorBoard's are in it, those of W&B and MLflow where these packages put them.
        epoch: the first one that is trained: more than 0 if the stage continues.
        settings: those of the run, by dotted key, which W&B and MLflow show.
    """
    if LOGGER in (given := _objects.get({})) or ":" in config.logger:
        yield [_made(value, Logger, LOGGER) for value in given.get(LOGGER, [config.logger])]
        return
    if config.logger == "none":
        yield []
        return
    loggers: list[Logger] = [CSVLogger(folder, name="log", version=f"from-epoch-{epoch}")]
    if config.logger == "tensorboard" or (config.logger == "auto" and missing_package("tensorboard") is None):
        loggers.append(TensorBoardLogger(folder, name="tensorboard", version=""))
    run, _, stage = folder.as_posix().partition(f"/seed-{seed}/")
    name = f"seed-{seed}/{stage}{f', continued after validation {epoch}' if epoch else ''}"
    if config.logger == "mlflow":
        import mlflow

        experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        logger = MLFlowLogger(experiment, f"{run} {name}", mlflow.get_tracking_uri(), {"run": run, "stage": stage})
        logger.log_hyperparams(dict(settings))
        loggers.append(logger)
    if config.logger != "wandb":
        yield loggers
        return
    import wandb

    is_open = wandb.run is not None  # a run that the user began stays the user's
    project = os.environ.get("WANDB_PROJECT", PROJECT)
    loggers.append(WandbLogger(name, project=project, group=run, job_type=stage, config=dict(settings)))
    try:
        with _service(config.logger, "log in with wandb login, or set WANDB_MODE=offline"):
            _ = loggers[-1].experiment
        yield loggers
    finally:
        if not is_open:
            wandb.finish()


@contextmanager
def _service(name: str, remedy: str) -> Iterator[None]:
    """For a block that calls a service: an error of any kind becomes an InputError."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"cannot log there ({type(error).__name__}: {reason}); {remedy}", key=LOGGER, value=name
        ) from None


def _made(value: Any, kind: type[Made], key: str) -> Made:
    """An object, or a new one of the class of this name."""
    if isinstance(value, kind):
        return value
    made = _class(value, kind, key)
    try:
        return made()
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        message = f"cannot be made without arguments ({reason}); in Python, give an object: mtl.run(trainer={{…}})"
        raise InputError(message, key=key, value=value) from None


def _class(name: Any, kind: type[Made], key: str) -> type[Made]:
    """The class with a name as in "package.module:Class"."""
    what = f"subclass of pytorch_lightning's {kind.__name__}"
    if not isinstance(name, str) or ":" not in name:
        raise InputError(f"must name a {what}, as in package.module:Class", key=key, value=name)
    try:
        made = resolve(name)
    except (ImportError, AttributeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"cannot be imported ({reason}); PYTHONPATH says where modules are", key=key, value=name
        ) from None
    if not (isinstance(made, type) and issubclass(made, kind)):
        raise InputError(f"is not a {what}", key=key, value=name)
    return made


def _name(value: Any) -> str:
    return f"{type(value).__module__}:{type(value).__qualname__}"
