"""The state in which each training gets a callback or a logger that the user gave as an object: the one that it had before its first training.
One object serves all trainings of a run, and of further runs. With the state that the last training left, an EarlyStopping, for example, would
compare scores with the best one of another task. The start state is kept in an attribute of the object itself, to live as long as the object."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Checkpoint
from pytorch_lightning.loggers import CSVLogger, TensorBoardLogger

# The attributes of the user's object that keep its start state. An object has one of them at most.
KEPT_ATTRIBUTES = "_attributes_before_trainings"  # by name: within a run all, between runs those that changed
KEPT_STATE = "_state_before_trainings"  # what its `state_dict` returned


@contextmanager
def start_states(objects: Sequence[Any]) -> Iterator[None]:
    """Keep the start states of objects for a run, whose trainings are within the block: they get them back by `restore_start_state`."""
    for user_object in objects:
        if _has_state_in_attributes(user_object):
            vars(user_object)[KEPT_ATTRIBUTES] = _start_attributes(user_object)
        elif isinstance(user_object, pl.Callback) and KEPT_STATE not in vars(user_object):
            with suppress(Exception):  # some have no state before `on_fit_start`, which then makes a new one
                vars(user_object)[KEPT_STATE] = copy.deepcopy(user_object.state_dict())
    try:
        yield
    finally:
        for user_object in objects:
            if KEPT_ATTRIBUTES in vars(user_object):
                vars(user_object)[KEPT_ATTRIBUTES] = _changed_attributes(user_object)


def restore_start_state(user_object: Any) -> None:
    """Give an object the state back that it had before its first training. An object of which no state is kept stays as it is."""
    for name, value in vars(user_object).get(KEPT_ATTRIBUTES, {}).items():
        vars(user_object)[name] = copy.copy(value) if _is_copied(value) else value
    if state := vars(user_object).get(KEPT_STATE):
        user_object.load_state_dict(copy.deepcopy(state))


def _is_copied(value: Any) -> bool:
    """Whether each training gets a copy of the value of an attribute: of a dictionary, which callbacks fill in place, but of no other object."""
    return type(value) is dict


def _has_state_in_attributes(user_object: Any) -> bool:
    """Whether all attributes of an object are its state: of loggers that write files to a new folder in each training (other loggers have none, and
    continue one log), and of Lightning's own callbacks and those derived from them (the `state_dict` of others has all that counts)."""
    if isinstance(user_object, CSVLogger | TensorBoardLogger):
        # A logger without a version takes the next free number, and so a new folder, in each training.
        return _start_attributes(user_object).get("_version") is None
    # Lightning's base classes themselves hold no state.
    classes = [parent for parent in type(user_object).__mro__ if parent not in (pl.Callback, Checkpoint)]
    return any(parent.__module__.startswith(f"{pl.__name__}.callbacks.") for parent in classes)


def _start_attributes(user_object: Any) -> dict[str, Any]:
    """All attributes of an object before its first training: as they are now, but for those that the trainings of earlier runs have changed."""
    attributes = dict(vars(user_object))
    changed_by_earlier_runs = attributes.pop(KEPT_ATTRIBUTES, {})
    return {**attributes, **changed_by_earlier_runs}


def _changed_attributes(user_object: Any) -> dict[str, Any]:
    """Of the attributes that are kept, those that trainings have changed. The user may set the others before the next run, which then has these."""
    changed = {}
    for name, value in vars(user_object)[KEPT_ATTRIBUTES].items():
        now = vars(user_object).get(name)
        is_unchanged = now is value or (_is_copied(value) and now == value)
        if not is_unchanged:
            changed[name] = value
    return changed
