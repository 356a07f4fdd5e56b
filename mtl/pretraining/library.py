"""transformers is an optional package, and importing it takes seconds: only what trains with it imports it."""

import importlib.util
import os

from mtl.errors import InputError


def check_installed() -> None:
    """Raise InputError if transformers or tokenizers is not installed."""
    for package in ("transformers", "tokenizers"):
        if importlib.util.find_spec(package) is None:
            raise InputError(f"{package} is not installed; install it: pip install 'mtl-baselines[transformers]'")
    # Processes that are forked later would else print a warning; here all tokenizing ends before.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
