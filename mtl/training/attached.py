"""Loggers and callbacks that the user chooses: by the settings `trainer.logger` and `trainer.callbacks`, or as objects from Python.

A setting names classes, of which each training gets a new object. From Python, it may hold objects instead. `attached` then puts the names of their
classes into the settings, which the run records, and hands the objects themselves to the trainings within a block. One object serves all trainings;
each begins with the object as the user gave it (`mtl.training.start_state`)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.loggers import Logger

from mtl.base.errors import InputError, reason_of
from mtl.base.settings.schema import TrainerConfig
from mtl.base.wings import resolve
from mtl.training.start_state import start_state
from mtl.training.trainer import SILENT, quiet

LOGGER, CALLBACKS = "trainer.logger", "trainer.callbacks"
PACKAGES = {"tensorboard": "'mtl-baselines[tensorboard]'", "wandb": "wandb", "mlflow": "mlflow"}  # what pip installs
OBJECT_TYPES = (Logger, pl.Callback)

# What trainings use in place of what these settings name, by their keys: objects, perhaps among names of classes.
_values: ContextVar[Mapping[str, list[Any]]] = ContextVar("_values")


@contextmanager
def attached(settings: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Let trainings within the block use the objects in these settings, which are by dotted key.

    Yields the settings with the names of classes in place of objects, and the keys of the settings that have held objects."""
    with_names, values_by_key = dict(settings), dict[str, list[Any]]()
    for key in (CALLBACKS, LOGGER):
        values = settings.get(key)
        values = values if isinstance(values, list) else [values]
        if any(isinstance(value, OBJECT_TYPES) for value in values):
            names = [_class_name(value) for value in values]
            with_names[key] = names if key == CALLBACKS else ", ".join(map(str, names))
            values_by_key[key] = values
    objects = [value for values in values_by_key.values() for value in values if isinstance(value, OBJECT_TYPES)]
    for user_object in objects:
        start_state(user_object).remember()
    token = _values.set(values_by_key)
    try:
        yield with_names, list(values_by_key)
    finally:
        _values.reset(token)
        for user_object in objects:
            start_state(user_object).forget_unchanged()


def _class_name(value: Any) -> Any:
    """The name of a class, or of an object's class, as in "package.module:Class". Any other value is returned as it is."""
    named_class = type(value) if isinstance(value, OBJECT_TYPES) else value
    return f"{named_class.__module__}:{named_class.__qualname__}" if isinstance(named_class, type) else value


def check_attached(config: TrainerConfig) -> None:
    """Raise InputError for a logger without its package, names that are no classes, and callbacks that Lightning does not take together."""
    callbacks = user_callbacks(config)
    try:  # a trainer is made for its errors alone
        with quiet():
            pl.Trainer(accelerator="cpu", devices=1, callbacks=callbacks, logger=config.logger != "none", **SILENT)
    except Exception as error:
        raise InputError(reason_of(error), key=CALLBACKS) from None
    if ":" in config.logger and LOGGER not in _values.get({}):
        _instance(config.logger, Logger, LOGGER)  # for its errors alone
    if config.logger in PACKAGES and not _is_installed(config.logger):
        message = f"the package is missing; install it: pip install {PACKAGES[config.logger]}"
        raise InputError(message, key=LOGGER, value=config.logger)


def _is_installed(package: str) -> bool:
    """Whether this is a package with a file: W&B's own folder "wandb", in which it logs, looks like a package without one."""
    spec = find_spec(package)
    return spec is not None and spec.origin is not None


def user_callbacks(config: TrainerConfig) -> list[pl.Callback]:
    """The callbacks of `trainer.callbacks`: objects from Python, and a new one of each class that is named. Raises InputError as `check_attached`."""
    values = _values.get({}).get(CALLBACKS, config.callbacks or [])
    return [_instance(value, pl.Callback, CALLBACKS) for value in values]


def user_loggers(config: TrainerConfig) -> list[Logger] | None:
    """The loggers of `trainer.logger` as `user_callbacks` has callbacks; None if it holds no object and names no class, but a logger of mtl's."""
    named = [config.logger] if ":" in config.logger else None
    values = _values.get({}).get(LOGGER, named)
    return None if values is None else [_instance(value, Logger, LOGGER) for value in values]


def _instance(value: Any, kind: Any, key: str) -> Any:
    """An object of this kind, as the user gave it, or a new one of the class that is named. Raises InputError for anything else."""
    problem = f"is not a subclass of pytorch_lightning's {kind.__name__}"
    try:
        if isinstance(value, kind):
            start_state(value).restore()
            return value
        named_class = resolve(value)
        if isinstance(named_class, type) and issubclass(named_class, kind):
            return named_class()
    except Exception as error:
        problem = f"cannot be made ({type(error).__name__}: {reason_of(error)})"
    example = "a subclass can set the arguments: docs/how-to/python.md shows one"
    remedy = f"name a class without arguments, as in package.module:Class (PYTHONPATH; {example}), or give an object from Python"
    raise InputError(f"{problem}; {remedy}", key=key, value=value)
