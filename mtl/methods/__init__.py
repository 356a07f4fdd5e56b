"""Methods: one registry entry for each way to predict a suite's targets."""

from mtl.base.errors import InputError
from mtl.methods.ensemble import ENSEMBLE
from mtl.methods.floors.entries import FLOORS
from mtl.methods.imported import IMPORTED
from mtl.methods.lstm.entry import LSTM
from mtl.methods.method import MethodKind
from mtl.methods.transformer.entry import TRANSFORMER
from mtl.methods.word_vectors.entry import WORD_VECTORS

# By the name that `method` has in a configuration.
METHODS: dict[str, MethodKind] = {
    "lstm": LSTM,
    "transformer": TRANSFORMER,
    **FLOORS,
    "word_vectors": WORD_VECTORS,
    "imported": IMPORTED,
    "ensemble": ENSEMBLE,
}


def method_name(name: str) -> str:
    """The name itself. Raises InputError if it is not the name of a method."""
    if name not in METHODS:
        raise InputError(f"must be one of {', '.join(METHODS)}", key="method", value=name)
    return name
