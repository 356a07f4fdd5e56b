"""Loggers and callbacks that the user chooses: by the settings `trainer.logger` and `trainer.callbacks`, or as objects from Python. An object serves
all trainings: its state before the first one is kept as its attribute START_STATE, and each training begins with this state."""

import copy
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
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
from mtl.training.trainer import SILENT, quiet

LOGGER, CALLBACKS = "trainer.logger", "trainer.callbacks"
PACKAGES = {"tensorboard": "'mtl-baselines[tensorboard]'", "wandb": "wandb", "mlflow": "mlflow"}  # what pip installs
OBJECT_TYPES = (Logger, pl.Callback)
PROJECT = "mtl"  # of W&B, where WANDB_PROJECT names none, and the experiment of MLflow, where MLFLOW_EXPERIMENT_NAME names none
START_STATE = "_state_before_trainings"

# By the key of the setting, the objects that trainings use in place of the classes that the setting names.
_objects: ContextVar[dict[str, list[Any]]] = ContextVar("_objects")


@contextmanager
def attached(settings: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Let trainings within the block use the objects in these settings, by dotted key. Yields the settings with names of classes, and the keys."""
    named, by_key = dict(settings), {}
    for key in sorted({LOGGER, CALLBACKS} & settings.keys()):
        values = settings[key] if isinstance(settings[key], list) else [settings[key]]
        if any(isinstance(value, OBJECT_TYPES) for value in values):
            names = [_class_name(value) for value in values]
            named[key] = names if key == CALLBACKS else ", ".join(map(str, names))
            by_key[key] = values
    objects = [value for values in by_key.values() for value in values if isinstance(value, OBJECT_TYPES)]
    for attached_object in objects:
        _remember_state(attached_object)
    token = _objects.set(by_key)
    try:
        yield named, list(by_key)
    finally:
        _objects.reset(token)
        for attached_object in filter(_has_attribute_state, objects):
            _forget_unchanged(attached_object)


def _class_name(value: Any) -> Any:
    """The name of a class, or of an object's class, as in "package.module:Class". Any other value is returned as it is."""
    kind = type(value) if isinstance(value, OBJECT_TYPES) else value
    return f"{kind.__module__}:{kind.__qualname__}" if isinstance(kind, type) else kind


def check_attached(config: TrainerConfig) -> None:
    """Raise InputError for a logger without its package, names that are no classes, and callbacks that Lightning does not take together."""
    callbacks = user_callbacks(config)
    try:  # a trainer is made for its errors alone
        with quiet():
            pl.Trainer(accelerator="cpu", devices=1, callbacks=callbacks, logger=config.logger != "none", **SILENT)
    except Exception as error:
        raise InputError(" ".join(str(error).split())[:200], key=CALLBACKS) from None
    if ":" in config.logger and LOGGER not in _objects.get({}):
        _instance(config.logger, Logger, LOGGER)  # for its errors alone
    if config.logger in PACKAGES:
        spec = find_spec(config.logger)
        if spec is None or spec.origin is None:  # W&B's own folder "wandb" would be a package without a file
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
    """The loggers of one training of a stage, for the block. Raises InputError if W&B or MLflow cannot log. CSV files and TensorBoard's are in
    `folder`, RUN/seed-SEED/STAGE. `epoch` is the first one that is trained. `settings` are those of the run, by dotted key, for W&B and MLflow."""
    objects = _objects.get({})
    if LOGGER in objects or ":" in config.logger:
        yield [_instance(value, Logger, LOGGER) for value in objects.get(LOGGER, [config.logger])]
        return
    loggers: list[Logger] = [] if config.logger == "none" else [CSVLogger(folder, "log", f"from-epoch-{epoch}")]
    if config.logger == "tensorboard" or (config.logger == "auto" and missing_package("tensorboard") is None):
        loggers.append(TensorBoardLogger(folder, name="tensorboard", version=""))
    run, _, stage = folder.as_posix().rpartition(f"/seed-{seed}/")
    name = f"seed-{seed}/{stage}{f', continued after validation {epoch}' if epoch else ''}"
    with ExitStack() as block:
        try:
            if config.logger == "wandb":
                loggers.append(_wandb_logger(block, name, run, stage, settings))
            elif config.logger == "mlflow":
                loggers.append(_mlflow_logger(name, run, stage, settings))
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            remedy = "MLFLOW_TRACKING_URI says where MLflow logs, WANDB_MODE=offline lets W&B log on this machine"
            raise InputError(f"cannot log ({reason}); {remedy}", key=LOGGER, value=config.logger) from None
        yield loggers


def _wandb_logger(block: ExitStack, name: str, run: str, stage: str, settings: Mapping[str, Any]) -> Logger:
    """A logger of W&B that has begun to log the training of this stage of a run. The end of the block ends what W&B calls a run."""
    import wandb

    if wandb.run is None:  # a run that the user began stays the user's
        block.callback(wandb.finish)
    project = os.environ.get("WANDB_PROJECT", PROJECT)
    logger = WandbLogger(name, project=project, group=run, job_type=stage, config=dict(settings))
    _ = logger.experiment  # begins the run
    return logger


def _mlflow_logger(name: str, run: str, stage: str, settings: Mapping[str, Any]) -> Logger:
    """A logger of MLflow that has begun to log the training of this stage of a run."""
    import mlflow

    experiment, tags = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT), {"run": run, "stage": stage}
    tracking = MLFlowLogger(experiment, f"{run} {name}", mlflow.get_tracking_uri(), tags)
    tracking.log_hyperparams(dict(settings))
    return tracking


def _instance(value: Any, kind: Any, key: str) -> Any:
    """An object of this kind, in its state before trainings, or a new one of the class that is named. Raises InputError for anything else."""
    problem = f"is not a subclass of pytorch_lightning's {kind.__name__}"
    try:
        if isinstance(value, kind):
            return _with_start_state(value)
        named_class = resolve(value)
        if isinstance(named_class, type) and issubclass(named_class, kind):
            return named_class()
    except Exception as error:
        problem = f"cannot be made ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    example = "a subclass can set the arguments: docs/how-to/python.md shows one"
    remedy = f"name a class without arguments, as in package.module:Class (PYTHONPATH; {example}), or give an object from Python"
    raise InputError(f"{problem}; {remedy}", key=key, value=value)


def _has_attribute_state(attached_object: Any) -> bool:
    """Whether the state of an object is all its attributes: of Lightning's callbacks, and of loggers that number their folders."""
    if isinstance(attached_object, CSVLogger | TensorBoardLogger):
        state_before = vars(attached_object) | vars(attached_object).get(START_STATE, {})
        return state_before.get("_version") is None
    kinds = (kind for kind in type(attached_object).__mro__ if kind not in (pl.Callback, Checkpoint))
    return any(kind.__module__.startswith(f"{pl.__name__}.callbacks.") for kind in kinds)


def _remember_state(attached_object: Any) -> None:
    """Keep the state that an object had before its first training, in this run or an earlier one: its attributes, or what `state_dict` returns."""
    attributes = vars(attached_object)
    if _has_attribute_state(attached_object):
        remembered = attributes.pop(START_STATE, {})
        attributes[START_STATE] = {**attributes, **remembered}
    elif isinstance(attached_object, pl.Callback) and START_STATE not in attributes:
        with suppress(Exception):  # it has no state before `on_fit_start`, which then makes a new one
            attributes[START_STATE] = copy.deepcopy(attached_object.state_dict())


def _forget_unchanged(attached_object: Any) -> None:
    """Of the attributes that are kept, forget those that trainings have not changed: the user may set them before the next run."""
    attributes = vars(attached_object)
    changed = {}
    for name, start in attributes[START_STATE].items():
        is_equal_copy = type(start) is dict and attributes.get(name) == start  # each training has a copy of it
        if not (attributes.get(name) is start or is_equal_copy):
            changed[name] = start
    attributes[START_STATE] = changed


def _with_start_state(attached_object: Any) -> Any:
    """The object with the state that `_remember_state` kept. Dictionaries, which trainings fill, are copied; other values are the same objects."""
    state = vars(attached_object).get(START_STATE, {})
    if _has_attribute_state(attached_object):
        copies = {name: copy.copy(value) if type(value) is dict else value for name, value in state.items()}
        vars(attached_object).update(copies)
    elif state:
        attached_object.load_state_dict(copy.deepcopy(state))
    return attached_object
