"""Methods: one registry entry for each way to predict a suite's targets."""

from mtl.errors import InputError
from mtl.methods.floors.entries import FLOORS
from mtl.methods.kind import MethodKind
from mtl.methods.lstm.entry import LSTM

# By the name that `method` has in a configuration.
METHODS: dict[str, MethodKind] = {"lstm": LSTM, **FLOORS}
FORMER_NAMES = {"majority": "constant"}  # older names of methods, which are still accepted


def method_name(name: str) -> str:
    """The current name of a method. Raises InputError for an unknown name."""
    name = FORMER_NAMES.get(name, name)
    if name not in METHODS:
        raise InputError(f"method={name}: must be one of {', '.join(METHODS)}")
    return name
