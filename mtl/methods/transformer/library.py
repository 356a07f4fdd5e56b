"""transformers is an optional package, and importing it takes seconds: only what trains or reads a transformer imports it."""

import importlib.util

from mtl.errors import InputError


def check_installed() -> None:
    """Raise InputError if a package that transformers need is not installed."""
    for name in ("transformers", "tokenizers"):
        if importlib.util.find_spec(name) is None:
            raise InputError(f"{name} is not installed; install it: pip install 'mtl-baselines[transformers]'")


def import_transformers() -> None:
    """Import transformers, so that it writes no bars, reports and warnings of its own. Raises InputError if it is not installed."""
    check_installed()
    import huggingface_hub
    import transformers

    huggingface_hub.logging.set_verbosity_error()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
