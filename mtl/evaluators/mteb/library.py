"""mteb is an optional package, and importing it takes seconds: only what evaluates imports it."""

import importlib.util
import logging
import os
import warnings
from pathlib import Path

from mtl.errors import InputError


def check_installed() -> None:
    """Raise InputError if mteb is not installed."""
    if importlib.util.find_spec("mteb") is None:
        raise InputError("mteb is not installed; install it: pip install 'mtl-baselines[mteb]'")


def import_mteb(folder: Path) -> None:
    """Import mteb, so that it makes its folder of results here and writes no bars and notes of its own on standard error.

    Its notes say that tasks of a benchmark have newer versions, which are other data. Raises InputError if it is not installed.
    """
    check_installed()
    os.environ.setdefault("MTEB_CACHE", str(folder))
    import datasets
    import mteb  # noqa: F401

    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(logging.CRITICAL)  # what it logs as errors it also raises
    for library in ("mteb", "huggingface_hub"):  # the hub's client logs each retry
        logging.getLogger(library).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"mteb\.")
