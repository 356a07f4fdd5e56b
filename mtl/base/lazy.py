"""Functions that are imported when they are first called, so that registries name what is slow to import."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def resolve(name: str) -> Any:
    """Import what a name such as "mtl.methods.lstm.two_stages:TwoStages" stands for."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def lazy(name: str) -> Callable[..., Any]:
    """A function that imports another one when it is called, and calls it.

    Args:
        name: where the function or class is, as in `resolve`.
    """

    def call(*arguments: Any, **named: Any) -> Any:
        return resolve(name)(*arguments, **named)

    return call
