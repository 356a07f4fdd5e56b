"""Loggers and callbacks that the user chooses: by the settings `trainer.logger` and `trainer.callbacks`, or as objects from Python.

A setting names classes, of which each training gets a new object. From Python, it may hold objects instead. `attached` then puts the names of their
classes into the settings, which the run records, and hands the objects themselves to the trainings within a block. One object serves all trainings;
each begins with the object as the user gave it. The state that the object had then is kept in an attribute of the object itself."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Checkpoint
from pytorch_lightning.loggers import CSVLogger, Logger, TensorBoardLogger

from mtl.base.errors import InputError, reason_of
from mtl.base.settings.schema import TrainerConfig
from mtl.base.wings import resolve
from mtl.training.trainer import SILENT, quiet

LOGGER, CALLBACKS = "trainer.logger", "trainer.callbacks"
PACKAGES = {"tensorboard": "'mtl-baselines[tensorboard]'", "wandb": "wandb", "mlflow": "mlflow"}  # what pip installs
OBJECT_TYPES = (Logger, pl.Callback)
START_STATE = "_state_before_trainings"  # the attribute in which an object's state is kept

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
        _remember_state(user_object)
    token = _values.set(values_by_key)
    try:
        yield with_names, list(values_by_key)
    finally:
        _values.reset(token)
        for user_object in filter(_is_all_attributes, objects):
            _forget_unchanged(user_object)


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
            _restore_state(value)
            return value
        named_class = resolve(value)
        if isinstance(named_class, type) and issubclass(named_class, kind):
            return named_class()
    except Exception as error:
        problem = f"cannot be made ({type(error).__name__}: {reason_of(error)})"
    example = "a subclass can set the arguments: docs/how-to/python.md shows one"
    remedy = f"name a class without arguments, as in package.module:Class (PYTHONPATH; {example}), or give an object from Python"
    raise InputError(f"{problem}; {remedy}", key=key, value=value)


def _is_all_attributes(user_object: Any) -> bool:
    """Whether the state of an object is all its attributes, not what its `state_dict` returns. That of Lightning's own callbacks, and of classes that
    are derived from them, lacks attributes that count. A logger without a version takes the next free number in each training."""
    if isinstance(user_object, CSVLogger | TensorBoardLogger):
        before_trainings = vars(user_object) | vars(user_object).get(START_STATE, {})
        return before_trainings.get("_version") is None
    own_classes = [parent for parent in type(user_object).__mro__ if parent not in (pl.Callback, Checkpoint)]
    return any(parent.__module__.startswith(f"{pl.__name__}.callbacks.") for parent in own_classes)


def _remember_state(user_object: Any) -> None:
    """Keep the state of an object before a run, unless an earlier run has kept it. Other loggers have none: they go on with the same log."""
    attributes = vars(user_object)
    if _is_all_attributes(user_object):
        changed_by_earlier_runs = attributes.pop(START_STATE, {})
        attributes[START_STATE] = {**attributes, **changed_by_earlier_runs}
    elif isinstance(user_object, pl.Callback) and START_STATE not in attributes:
        with suppress(Exception):  # it has no state before `on_fit_start`, which then makes a new one
            attributes[START_STATE] = copy.deepcopy(user_object.state_dict())


def _restore_state(user_object: Any) -> None:
    """Give an object its state before trainings back. It gets copies of dictionaries, which callbacks fill; other attributes are the same objects."""
    state = vars(user_object).get(START_STATE)
    if state and _is_all_attributes(user_object):
        for name, value in state.items():
            vars(user_object)[name] = copy.copy(value) if type(value) is dict else value
    elif state:
        user_object.load_state_dict(copy.deepcopy(state))


def _forget_unchanged(user_object: Any) -> None:
    """Of the attributes that are kept, forget those that the run has not changed: the user may set them before the next one."""
    attributes = vars(user_object)
    changed = {}
    for name, value in attributes[START_STATE].items():
        now = attributes.get(name)
        is_equal_copy = type(value) is dict and now == value
        if now is not value and not is_equal_copy:
            changed[name] = value
    attributes[START_STATE] = changed
