"""The loggers and callbacks that a user chooses, by the settings `trainer.logger` and `trainer.callbacks`.
A setting names classes, as in "package.module:Class", and each training gets a new object of each class. From Python, a setting may hold objects
instead. Within the block of `attach`, trainings use these objects, and the settings, which the run records, have the names of their classes. Each
training gets an object in the state in which the user gave it (`mtl.training.start_states`)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.loggers import Logger

from mtl.base.errors import InputError, reason_of
from mtl.base.settings.schema import TrainerConfig
from mtl.base.wings import resolve
from mtl.training.start_states import restore_start_state, start_states
from mtl.training.trainer import SILENT, quiet

LOGGER, CALLBACKS = "trainer.logger", "trainer.callbacks"
OBJECT_TYPES = (Logger, pl.Callback)
PACKAGES = {"tensorboard": "'mtl-baselines[tensorboard]'", "wandb": "wandb", "mlflow": "mlflow"}  # what pip installs
REMEDY = (
    "name a class without arguments, as in package.module:Class (PYTHONPATH; a subclass can set the arguments: "
    "docs/how-to/python.md shows one), or give an object from Python"
)

# What trainings use in place of the settings with these keys, within a block of `attach`: objects, perhaps among names of classes.
_attached: ContextVar[Mapping[str, list[Any]]] = ContextVar("_attached", default=MappingProxyType({}))


@contextmanager
def attach(settings: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Let trainings within the block use the objects in these settings, which are by dotted key.
    Yields the settings with the names of classes in place of objects, and the keys of the settings that held objects."""
    attached: dict[str, list[Any]] = {}
    for key in (CALLBACKS, LOGGER):
        setting = settings.get(key)
        values = setting if isinstance(setting, list) else [setting]
        if any(isinstance(value, OBJECT_TYPES) for value in values):
            attached[key] = values
    recorded = dict(settings)
    if CALLBACKS in attached:
        recorded[CALLBACKS] = [_recorded_value(value) for value in attached[CALLBACKS]]
    if LOGGER in attached:  # this setting is a text, of several names too
        recorded[LOGGER] = ", ".join(str(_recorded_value(value)) for value in attached[LOGGER])
    objects = [value for values in attached.values() for value in values if isinstance(value, OBJECT_TYPES)]
    token = _attached.set(attached)
    try:
        with start_states(objects):
            yield recorded, list(attached)
    finally:
        _attached.reset(token)


def _recorded_value(value: Any) -> Any:
    """What a run records: of an object or a class the name of the class, as in "package.module:Class"; of any other value, itself."""
    named_class = type(value) if isinstance(value, OBJECT_TYPES) else value
    return f"{named_class.__module__}:{named_class.__qualname__}" if isinstance(named_class, type) else value


def check_attached(config: TrainerConfig) -> None:
    """Raise InputError for callbacks that Lightning does not take together, names that are no classes, and a logger without its package."""
    callbacks = user_callbacks(config)
    try:
        with quiet():
            # A trainer is made for its errors alone. Some callbacks need a logger: it has one of Lightning's own if trainings have any.
            pl.Trainer(accelerator="cpu", devices=1, callbacks=callbacks, logger=config.logger != "none", **SILENT)
    except Exception as error:
        raise InputError(reason_of(error), key=CALLBACKS) from None
    if ":" in config.logger and LOGGER not in _attached.get():
        _instance(config.logger, Logger, LOGGER)  # for its errors alone
    if config.logger in PACKAGES and not _is_installed(config.logger):
        message = f"the package is missing; install it: pip install {PACKAGES[config.logger]}"
        raise InputError(message, key=LOGGER, value=config.logger)


def _is_installed(package: str) -> bool:
    """Whether this is a package with a file: W&B's own folder "wandb", in which it logs, looks like a package without one."""
    spec = find_spec(package)
    return spec is not None and spec.origin is not None


def user_callbacks(config: TrainerConfig) -> list[pl.Callback]:
    """The callbacks for a training: the objects that are attached, and a new one of each class that is named. Raises InputError as `_instance`."""
    values = _attached.get().get(CALLBACKS, config.callbacks or [])
    return [_instance(value, pl.Callback, CALLBACKS) for value in values]


def user_loggers(config: TrainerConfig) -> list[Logger] | None:
    """The loggers for a training, as `user_callbacks`; None if none is attached and the setting names no class, but a logger of mtl's."""
    named = [config.logger] if ":" in config.logger else None
    values = _attached.get().get(LOGGER, named)
    return None if values is None else [_instance(value, Logger, LOGGER) for value in values]


def _instance(value: Any, kind: Any, key: str) -> Any:
    """The object itself, in its start state, or a new object of the class that a value names. Raises InputError for what is not of this kind."""
    try:
        if isinstance(value, kind):
            restore_start_state(value)
            return value
        named_class = resolve(value)
        if isinstance(named_class, type) and issubclass(named_class, kind):
            return named_class()
    except Exception as error:
        problem = f"cannot be made ({type(error).__name__}: {reason_of(error)})"
        raise InputError(f"{problem}; {REMEDY}", key=key, value=value) from None
    raise InputError(f"is not a subclass of pytorch_lightning's {kind.__name__}; {REMEDY}", key=key, value=value)
