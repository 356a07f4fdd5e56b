"""transformers is an optional package, and importing it takes seconds: only what trains with it imports it."""

import importlib.util
import os
from importlib.metadata import version

from mtl.errors import InputError


def check_installed() -> None:
    """Raise InputError if transformers or tokenizers is not installed."""
    for package in ("transformers", "tokenizers"):
        if importlib.util.find_spec(package) is None:
            raise InputError(f"{package} is not installed; install it: pip install 'mtl-baselines[transformers]'")


def library_versions() -> dict[str, str]:
    """The versions of transformers and of tokenizers, by name. Imports neither."""
    return {package: version(package) for package in ("transformers", "tokenizers")}


def import_transformers() -> None:
    """Import transformers, so that it writes no bars and notes of its own on standard error. Raises InputError if it is not installed."""
    check_installed()
    # Processes that are forked later would else print a warning; here all tokenizing ends before.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    import huggingface_hub
    from transformers.utils import logging

    huggingface_hub.logging.set_verbosity_error()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
