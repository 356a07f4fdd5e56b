"""The registry of methods: one entry for each way to predict a suite's targets."""

from mtl.base.typed import check_choice
from mtl.base.wings import Registry
from mtl.methods.floors.entries import FLOORS
from mtl.methods.lstm.entry import LSTM
from mtl.methods.method_kind import MethodKind
from mtl.methods.transformer.entry import TRANSFORMER
from mtl.methods.untrained import EnsembleKind, ImportedKind

# By the name that `method` has in a configuration.
METHODS: Registry[MethodKind] = Registry(
    {"lstm": LSTM, "transformer": TRANSFORMER, **FLOORS, "imported": ImportedKind(), "ensemble": EnsembleKind()},
    "methods",
)


def method_name(name: str) -> str:
    """The name, once it is checked. Raises InputError if no method has it."""
    check_choice("method", name, METHODS)
    return name
