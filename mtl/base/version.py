"""The version of mtl, and of the software that scores may depend on, for records, keys of caches and the command line."""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

VERSION = "0.1.0"
PACKAGES = (
    *("torch", "pytorch-lightning", "torchmetrics", "numpy", "scipy", "scikit-learn"),
    *("sacremoses", "fasttext", "transformers", "tokenizers"),
)


def versions() -> dict[str, str]:
    """The version of mtl, of Python, and of each installed package that a score may depend on, by name."""
    installed = {"mtl": VERSION, "python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed
