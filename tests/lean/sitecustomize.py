"""For processes that tests start with this folder on PYTHONPATH: two packages that torchmetrics imports where they are installed, for seconds, are
not there."""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder
from typing import Any

HIDDEN = ("transformers", "matplotlib")


class Lean(PathFinder):
    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return None if fullname in HIDDEN else PathFinder.find_spec(fullname, path, target)

    @staticmethod
    def find_distributions(context: Any = DistributionFinder.Context()) -> Any:  # noqa: B008, as in PathFinder
        return list[Distribution]() if context.name in HIDDEN else PathFinder.find_distributions(context)


sys.meta_path[sys.meta_path.index(PathFinder)] = Lean
