"""The optional packages: which extra of mtl-baselines brings them, and one line for a command that lacks one."""

import os
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from mtl.base.errors import InputError
from mtl.base.wings import wings

# By extra, as in setup.cfg, the packages that mtl imports, by the names to import. What an extra's packages need comes with them.
EXTRAS = {
    "elmo": ("allennlp_light", "h5py"),
    "fasttext": ("fasttext",),
    "gensim": ("gensim",),
    "hub": ("huggingface_hub",),
    "notebook": ("pandas", "matplotlib"),
    "parquet": ("pyarrow",),
    "ray": ("ray",),
    "rouge": ("rouge_score",),
    "tensorboard": ("tensorboard",),
    "transformers": ("transformers", "tokenizers"),
}


def missing_package(extra: str, package: str | None = None) -> str | None:
    """The first package of an extra, or this one, that is not installed, by the name to import; None if all are. Imports none of them."""
    needed = known_extras()[extra] if package is None else (package,)
    return next((name for name in needed if find_spec(name) is None), None)


def known_extras() -> dict[str, tuple[str, ...]]:
    """EXTRAS, and those of wings, by name."""
    added = {extra: packages for wing in wings() for extra, packages in wing.extras.items()}
    return dict(sorted({**EXTRAS, **added}.items()))


def check_installed(extra: str, package: str | None = None, **where: Any) -> None:
    """Raise InputError, located by `where`, which says what to install, if this package of an extra, or with None any of them, is missing."""
    if (name := missing_package(extra, package)) is not None:
        raise InputError(f"the package {name} is missing; install it: pip install 'mtl-baselines[{extra}]'", **where)


def installed_extras() -> list[str]:
    """The extras all of whose packages are installed."""
    return [extra for extra in known_extras() if missing_package(extra) is None]


def library_versions() -> dict[str, str]:
    """The versions of transformers and of tokenizers, by name. Imports neither."""
    return {package: version(package) for package in ("transformers", "tokenizers")}


def import_transformers() -> None:
    """Import transformers, so that it writes no bars and notes of its own on standard error. Raises InputError if it is not installed."""
    check_installed("transformers")
    # Processes that are forked later would else print a warning; here all tokenizing ends before.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    import huggingface_hub
    from transformers.utils import logging

    huggingface_hub.logging.set_verbosity_error()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
