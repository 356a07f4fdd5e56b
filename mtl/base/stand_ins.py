"""Trainings that start without torch's compiler: stand-ins for modules that others import and nothing here uses.

Lightning and torch's optimizers import torch._dynamo, and torchmetrics imports scipy.signal and transformers, for metrics of audio and of
generated texts. That is a third of the time until the first training step, and more where transformers is installed. Only the processes of mtl's
own commands do without: in a program of someone else, who may need these modules, all imports are as usual.
"""

import importlib
import sys
from collections.abc import Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class OptimizedModule:
    """In place of torch's class of compiled modules, of which there are none."""


def import_trainer() -> None:
    """Import Lightning and torchmetrics without the modules that they do not need here."""
    if "torch._dynamo" not in sys.modules:
        # Outside compiled code, torch's own graph_break does nothing, and its disable returns what it is given.
        functions = {"graph_break": lambda *_: None, "disable": lambda function, *_, **__: function}
        StandIn("torch._dynamo", {"OptimizedModule": OptimizedModule, **functions})
    unused = [name for name in ("scipy.signal", "transformers") if name not in sys.modules]
    sys.modules.update({name: Empty(name) for name in unused})
    try:
        import pytorch_lightning  # noqa: F401
        import torchmetrics  # noqa: F401
    finally:
        for name in unused:
            del sys.modules[name]


class Empty(ModuleType):
    """A module in which every name is None."""

    def __getattr__(self, attribute: str) -> None:
        if attribute.startswith("__"):
            raise AttributeError(attribute)


class StandIn(ModuleType):
    """A module that is imported when an attribute is read that is not among the known ones, or one of its submodules is imported.

    Args:
        name: the name of the module.
        known: attributes that need no import.
    """

    def __init__(self, name: str, known: Mapping[str, Any]) -> None:
        super().__init__(name)
        self.__dict__.update(known, __path__=[])
        sys.modules[name] = self
        sys.meta_path.insert(0, _Submodules(self))

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") or sys.modules.get(self.__name__) is not self:
            raise AttributeError(attribute)  # inspect asks every module for its __file__
        return getattr(self.replace(), attribute)

    def replace(self) -> ModuleType:
        """Import the module itself, which takes the place of this one."""
        del sys.modules[self.__name__]
        module = importlib.import_module(self.__name__)
        self.__dict__.update(module.__dict__)
        return module


class _Submodules(MetaPathFinder, Loader):
    """Finds the submodules of a module with a stand-in: it imports the module itself, which may import the submodule."""

    def __init__(self, module: StandIn) -> None:
        self.module = module

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        name = self.module.__name__
        if not fullname.startswith(f"{name}.") or sys.modules.get(name) is not self.module:
            return None
        found = self.module.replace().__path__
        return ModuleSpec(fullname, self) if fullname in sys.modules else PathFinder.find_spec(fullname, found)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: the module has been executed."""
