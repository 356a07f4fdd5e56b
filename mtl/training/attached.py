"""Loggers and callbacks that the user chooses: by the settings `trainer.logger` and `trainer.callbacks`, or as objects from Python."""

import copy
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Checkpoint
from pytorch_lightning.loggers import CSVLogger, Logger, MLFlowLogger, TensorBoardLogger, WandbLogger

from mtl.base.errors import InputError
from mtl.base.extras import missing_package
from mtl.base.settings.schema import TrainerConfig
from mtl.base.wings import resolve
from mtl.training.trainer import SHOWS_NOTHING, quiet

LOGGER, CALLBACKS = "trainer.logger", "trainer.callbacks"
PACKAGES = {"tensorboard": "'mtl-baselines[tensorboard]'", "wandb": "wandb", "mlflow": "mlflow"}  # what pip installs
OBJECTS = (Logger, pl.Callback)  # what stands for itself in a setting
PROJECT = "mtl"  # of W&B, where WANDB_PROJECT names none, and the experiment of MLflow, where MLFLOW_EXPERIMENT_NAME names none
# An attribute of an object from Python: the state that it had before its first training (`_remember`).
START = "_state_before_trainings"

# By the key of the setting, the objects that trainings use in place of the classes that the setting names.
_objects: ContextVar[dict[str, list[Any]]] = ContextVar("_objects")


@contextmanager
def attached(settings: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Let trainings within the block use the loggers and callbacks that are objects in these settings, by dotted key. Returns the settings with the
    names of classes in place of objects, and the keys of those that hold objects."""
    named, by_key = dict(settings), {}
    for key in sorted({LOGGER, CALLBACKS} & settings.keys()):
        values = settings[key] if isinstance(settings[key], list) else [settings[key]]
        if any(isinstance(item, OBJECTS) for item in values):
            kinds = [type(item) if isinstance(item, OBJECTS) else item for item in values]
            names = [f"{kind.__module__}:{kind.__qualname__}" if isinstance(kind, type) else kind for kind in kinds]
            named[key], by_key[key] = names if key == CALLBACKS else ", ".join(map(str, names)), values
    objects = [item for values in by_key.values() for item in values if isinstance(item, OBJECTS)]
    for item in objects:
        _remember(item)
    token = _objects.set(by_key)
    try:
        yield named, list(by_key)
    finally:
        _objects.reset(token)
        for item in filter(_is_reset, objects):
            _forget_unchanged(item)


def check_attached(config: TrainerConfig) -> None:
    """Raise InputError for a logger without its package, names that are no classes, and callbacks that Lightning does not take together."""
    callbacks = user_callbacks(config)
    try:
        with quiet():
            pl.Trainer(
                accelerator="cpu", devices=1, callbacks=callbacks, logger=config.logger != "none", **SHOWS_NOTHING
            )
    except Exception as error:
        raise InputError(" ".join(str(error).split())[:200], key=CALLBACKS) from None
    if ":" in config.logger and LOGGER not in _objects.get({}):
        _instance(config.logger, Logger, LOGGER)
    # W&B's own folder "wandb" would be a package without a file.
    if config.logger in PACKAGES and getattr(find_spec(config.logger), "origin", None) is None:
        message = f"the package is missing; install it: pip install {PACKAGES[config.logger]}"
        raise InputError(message, key=LOGGER, value=config.logger)


def user_callbacks(config: TrainerConfig) -> list[pl.Callback]:
    """The callbacks of `trainer.callbacks`: objects from Python, and a new one of each class that is named. Raises InputError as `check_attached`."""
    values = _objects.get({}).get(CALLBACKS, config.callbacks or [])
    return [_instance(value, pl.Callback, CALLBACKS) for value in values]


@contextmanager
def stage_loggers(
    config: TrainerConfig, folder: Path, seed: int, epoch: int, settings: Mapping[str, Any]
) -> Iterator[list[Logger]]:
    """The loggers of one training of a stage, for the block. Raises InputError if W&B or MLflow cannot log.

    Args:
        folder: that of the stage. CSV files and TensorBoard's are in it, those of W&B and MLflow where these packages put them.
        epoch: the first one that is trained: more than 0 if the stage continues.
        settings: those of the run, by dotted key, which W&B and MLflow show.
    """
    objects = _objects.get({})
    if LOGGER in objects or ":" in config.logger:
        yield [_instance(value, Logger, LOGGER) for value in objects.get(LOGGER, [config.logger])]
        return
    loggers: list[Logger] = []
    if config.logger != "none":
        loggers.append(CSVLogger(folder, name="log", version=f"from-epoch-{epoch}"))
    if config.logger == "tensorboard" or (config.logger == "auto" and missing_package("tensorboard") is None):
        loggers.append(TensorBoardLogger(folder, name="tensorboard", version=""))
    run, _, stage = folder.as_posix().partition(f"/seed-{seed}/")
    name = f"seed-{seed}/{stage}{f', continued after validation {epoch}' if epoch else ''}"
    finish = None
    try:
        if config.logger == "wandb":
            import wandb

            finish = wandb.finish if wandb.run is None else None  # a run that the user began stays the user's
        if config.logger in ("wandb", "mlflow"):
            loggers.append(_service_logger(config.logger, name, run, stage, settings))
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        remedy = "MLFLOW_TRACKING_URI says where MLflow logs, WANDB_MODE=offline lets W&B log on this machine"
        raise InputError(f"cannot log ({reason}); {remedy}", key=LOGGER, value=config.logger) from None
    try:
        yield loggers
    finally:
        if finish is not None:
            finish()


def _service_logger(service: str, name: str, run: str, stage: str, settings: Mapping[str, Any]) -> Logger:
    """A logger of MLflow or W&B that has begun to log."""
    if service == "wandb":
        project = os.environ.get("WANDB_PROJECT", PROJECT)
        logger = WandbLogger(name, project=project, group=run, job_type=stage, config=dict(settings))
        _ = logger.experiment  # begins the run
        return logger
    import mlflow

    experiment, tags = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT), {"run": run, "stage": stage}
    tracking = MLFlowLogger(experiment, f"{run} {name}", mlflow.get_tracking_uri(), tags)
    tracking.log_hyperparams(dict(settings))
    return tracking


def _instance(value: Any, kind: Any, key: str) -> Any:
    """An object of this kind, as a training begins with it, or a new one of the class with a name as in "package.module:Class"."""
    problem = f"is not a subclass of pytorch_lightning's {kind.__name__}"
    try:
        if isinstance(value, kind):
            return _reset(value)
        named = resolve(value)
        if isinstance(named, type) and issubclass(named, kind):
            return named()
    except Exception as error:
        problem = f"cannot be made ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    remedy = (
        "name a class without arguments, as in package.module:Class (PYTHONPATH; a subclass can set the arguments:"
        " docs/how-to/python.md shows one), or give an object from Python"
    )
    raise InputError(f"{problem}; {remedy}", key=key, value=value)


def _is_reset(item: Any) -> bool:
    """Whether each training begins with the attributes that the user's object had: Lightning's callbacks, and loggers that number folders."""
    if isinstance(item, CSVLogger | TensorBoardLogger):
        return vars(item).get(START, vars(item)).get("_version") is None
    kinds = (kind for kind in type(item).__mro__ if kind not in (pl.Callback, Checkpoint))
    return any(kind.__module__.startswith(f"{pl.__name__}.callbacks.") for kind in kinds)


def _remember(item: Any) -> None:
    """Keep the state that an object had before its first training, in this run or an earlier one: attributes, or what its `state_dict` returns."""
    attributes = vars(item)
    if _is_reset(item):
        before = attributes.pop(START, {})
        attributes[START] = {**attributes, **before}
    elif isinstance(item, pl.Callback) and START not in attributes:
        with suppress(Exception):  # it has no state before `on_fit_start`, which then makes a new one
            attributes[START] = copy.deepcopy(item.state_dict())


def _forget_unchanged(item: Any) -> None:
    """Keep only what trainings have changed of the state: the user may set the other attributes before the next run."""
    now, start = vars(item), vars(item)[START]
    # Dictionaries are copied for each training.
    same = {key for key, old in start.items() if now.get(key) is old or (type(old) is dict and now.get(key) == old)}
    now[START] = {key: old for key, old in start.items() if key not in same}


def _reset(item: Any) -> Any:
    """The object with the state that `_remember` kept. Dictionaries, which trainings fill, are copied; other values are the same objects."""
    state = vars(item).get(START, {})
    if _is_reset(item):
        vars(item).update({name: copy.copy(value) if type(value) is dict else value for name, value in state.items()})
    elif state:
        item.load_state_dict(copy.deepcopy(state))
    return item
