"""What an object of the user's, a logger or a callback, was like before its first training: each training is to begin with the object like this.

What counts as an object's state differs, so there are two classes with the same three steps. `remember`, before a run, keeps the state, unless an
earlier run of the object has kept it; `restore`, before each training, puts it back; `forget_unchanged`, after a run, forgets what the run has not
changed, which the user may set before the next one. The state is kept in an attribute of the object itself, so it lasts as long as the object."""

import copy
from contextlib import suppress
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Checkpoint
from pytorch_lightning.loggers import CSVLogger, TensorBoardLogger

KEPT = "_state_before_trainings"  # the attribute in which a state is kept


class StateOfAttributes:
    """The state of an object that consists of all its attributes. Trainings get copies of dictionaries, which Lightning's callbacks fill; any other
    value is the same object in all trainings."""

    def __init__(self, owner: Any) -> None:
        self.attributes = vars(owner)

    def remember(self) -> None:
        changed_by_earlier_runs = self.attributes.pop(KEPT, {})
        self.attributes[KEPT] = {**self.attributes, **changed_by_earlier_runs}

    def restore(self) -> None:
        for name, value in self.attributes.get(KEPT, {}).items():
            self.attributes[name] = copy.copy(value) if type(value) is dict else value

    def forget_unchanged(self) -> None:
        changed = {}
        for name, value in self.attributes[KEPT].items():
            now = self.attributes.get(name)
            is_equal_copy = type(value) is dict and now == value
            if now is not value and not is_equal_copy:
                changed[name] = value
        self.attributes[KEPT] = changed


class StateOfDict:
    """The state of a callback that consists of what its `state_dict` returns. A logger of this class has none: it goes on with the same log."""

    def __init__(self, owner: Any) -> None:
        self.owner, self.attributes = owner, vars(owner)

    def remember(self) -> None:
        if isinstance(self.owner, pl.Callback) and KEPT not in self.attributes:
            with suppress(Exception):  # it has no state before `on_fit_start`, which then makes a new one
                self.attributes[KEPT] = copy.deepcopy(self.owner.state_dict())

    def restore(self) -> None:
        if self.attributes.get(KEPT):
            self.owner.load_state_dict(copy.deepcopy(self.attributes[KEPT]))

    def forget_unchanged(self) -> None:
        """Nothing: the user cannot set a part of it."""


def start_state(owner: Any) -> StateOfAttributes | StateOfDict:
    """What counts as the state of this object. `state_dict` of Lightning's own callbacks, and of classes derived from them, lacks attributes that
    count, so all their attributes do; and those of a logger that numbers its folders, which begins a new folder for each training."""
    return (
        StateOfAttributes(owner) if _is_callback_of_lightning(owner) or _numbers_folders(owner) else StateOfDict(owner)
    )


def _is_callback_of_lightning(owner: Any) -> bool:
    """Whether one of the object's classes is a callback of Lightning's, apart from the two classes from which users derive their own."""
    classes = [parent for parent in type(owner).__mro__ if parent not in (pl.Callback, Checkpoint)]
    return any(parent.__module__.startswith(f"{pl.__name__}.callbacks.") for parent in classes)


def _numbers_folders(owner: Any) -> bool:
    """Whether this is a logger that had no version before its trainings: it takes the next free number when it first needs one."""
    if not isinstance(owner, CSVLogger | TensorBoardLogger):
        return False
    before_trainings = vars(owner) | vars(owner).get(KEPT, {})
    return before_trainings.get("_version") is None
