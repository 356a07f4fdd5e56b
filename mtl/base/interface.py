"""Functions that notebooks call: their arguments can be anything, and every error of a user is one InputError."""

import inspect
import os
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

from mtl.base.errors import InputError, UserError, reason_of, resources_as_input
from mtl.base.names import text_problem
from mtl.base.typed import LARGEST_NUMBER

Function = TypeVar("Function", bound=Callable[..., Any])

WORDS: dict[Any, str] = {  # How a message names a type.
    **{str: "a text", os.PathLike: "a path", int: "a whole number", float: "a number", bool: "True or False"},
    **{type(None): "None", Mapping: "a dictionary", Sequence: "a list", Collection: "a list", Iterable: "a list"},
}


def checked(function: Function) -> Function:
    """The function, with checks of its arguments by their annotations, and with errors of files, disks and memory as InputError. Numbers and
    arrays of other libraries are converted to Python's. Another argument raises an InputError with the text of `Annotated[hint, "as in …"]`."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        # A call with missing or unknown arguments is a TypeError, as of every function: the missing ones by the function itself.
        bound = signature.bind_partial(*args, **kwargs)
        for name, value in bound.arguments.items():
            parameter = signature.parameters[name]
            if parameter.kind is parameter.VAR_KEYWORD or parameter.annotation in (Any, parameter.empty):
                continue
            is_variadic = parameter.kind is parameter.VAR_POSITIONAL
            items = value if is_variadic else [value]
            with errors_as_input(name):
                values = tuple(_argument(item, parameter.annotation, name) for item in items)
            bound.arguments[name] = values if is_variadic else values[0]
        with resources_as_input():
            return function(*bound.args, **bound.kwargs)

    return cast(Function, call)  # of the same type, so that editors show what documents the arguments


@contextmanager
def errors_as_input(key: str) -> Iterator[None]:
    """For a block that reads objects of other libraries: an error of any kind that they raise becomes an InputError with this key."""
    try:
        yield
    except (UserError, MemoryError, OSError):
        raise
    except Exception as error:
        reason = reason_of(error) or "no reason is given"
        raise InputError(f"cannot be read ({type(error).__name__}: {reason})", key=key) from None


def _argument(value: Any, hint: Any, name: str) -> Any:
    """An argument, or an item of one, in Python's own types, also within lists and dictionaries. Raises InputError if it does not fit the hint."""
    is_of_library = hasattr(value, "tolist") and not isinstance(value, type)  # a number or an array of numpy or torch
    value = value.tolist() if is_of_library else value
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if isinstance(text, str) and (problem := text_problem(text)):
        raise InputError(problem, key=name)
    alternative = _best_alternative(value, hint)
    if alternative is None:
        raise InputError(_mismatch(value, hint), key=name)
    item_hints = get_args(alternative) if isinstance(get_origin(alternative), type) else ()
    if isinstance(value, Mapping) and len(item_hints) == 2:
        return _dictionary(value, *item_hints, name)
    # An iterator can be read only once, and the items of a range are of one type.
    has_items = isinstance(value, Collection) and not isinstance(value, str | bytes | range)
    if item_hints and has_items:
        return [_argument(item, item_hints[0], f"{name}.{number}") for number, item in enumerate(value)]
    return value


def _best_alternative(value: Any, hint: Any) -> Any | None:
    """Of the alternatives of the hint that the value fits, the one to read it by; None if it fits none."""
    fitting = [kind for kind in _alternatives(hint) if _fits(value, get_origin(kind) or kind)]
    # Any stands before all others, and a dictionary before a list: a dictionary is a collection too, of its keys.
    return max(fitting, key=lambda kind: (kind is Any, get_origin(kind) is Mapping), default=None)


def _dictionary(value: Mapping[Any, Any], key_hint: Any, item_hint: Any, name: str) -> dict[Any, Any]:
    """A dictionary, or another mapping, whose keys and values fit these hints. Raises InputError as `_argument`."""
    # The only dictionaries of dictionaries that functions take have a task's values under its id.
    if get_origin(item_hint) is Mapping and not all(isinstance(item, Mapping) for item in value.values()):
        form = f"{{TASK: {str(dict(value))[:100]}}}"
        raise InputError(f"must be a dictionary with a dictionary for each task, as in {form}", key=name)
    keys = [_argument(key, key_hint, f"a key of {name}") for key in value]
    return {key: _argument(value[key], item_hint, f"{name}.{key}") for key in keys}


def _mismatch(value: Any, hint: Any) -> str:
    """What an argument must be, and what this value is that does not fit."""
    alternatives = _alternatives(hint)
    takes_numbers = int in alternatives or float in alternatives
    if takes_numbers and isinstance(value, int | float) and not abs(value) <= LARGEST_NUMBER:  # which NaN is not either
        return f"must be a number from {-LARGEST_NUMBER:,} to {LARGEST_NUMBER:,}"
    words = [WORDS.get(get_origin(kind) or kind, f"a {getattr(kind, '__name__', kind)}") for kind in alternatives]
    wanted = ", ".join([" or ".join(dict.fromkeys(words)), *getattr(hint, "__metadata__", ())])
    return f"must be {wanted}, not a value of type {type(value).__name__}"


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """The types of a union; of another annotation, itself, without what `Annotated` says of it."""
    if get_origin(hint) is Annotated:
        return _alternatives(hint.__origin__)
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(alternative for part in get_args(hint) for alternative in _alternatives(part))
    return (hint,)


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value, without its items, is of a type."""
    if kind is Any or not isinstance(kind, type):
        return True
    if kind in (int, float):
        is_number = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
        return is_number and abs(value) <= LARGEST_NUMBER
    is_text = isinstance(value, str | bytes)  # to Python a collection, too, but nobody means one
    return isinstance(value, kind) and (not is_text or kind in (str, bytes, os.PathLike))
