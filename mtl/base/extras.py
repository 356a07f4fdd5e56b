"""The optional packages: which extra of mtl-baselines brings them, and one line for a command that lacks one."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from mtl.base.errors import InputError

# By extra, as in setup.cfg, the packages that mtl imports, by the names to import. What an extra's packages need comes with them.
EXTRAS = {
    "completion": ("argcomplete",),
    "elmo": ("allennlp_light", "h5py"),
    "fasttext": ("fasttext",),
    "gensim": ("gensim",),
    "mteb": ("mteb",),
    "notebook": ("pandas", "matplotlib"),
    "parquet": ("pyarrow",),
    "ray": ("ray",),
    "rouge": ("rouge_score",),
    "sentence-transformers": ("sentence_transformers",),
    "tensorboard": ("tensorboard",),
    "transformers": ("transformers", "tokenizers"),
}


def missing_package(extra: str) -> str | None:
    """The first package of an extra that is not installed, by the name to import; None if all are. Imports none of them."""
    return _missing(EXTRAS[extra])


def _missing(packages: Sequence[str]) -> str | None:
    return next((name for name in packages if find_spec(name) is None), None)


def check_installed(extra: str, package: str | None = None, **where: Any) -> None:
    """Raise InputError, which says what to install, if a package of an extra is missing.

    Args:
        extra: a key of EXTRAS.
        package: the one that is needed, by the name to import; None: all of the extra.
        where: what needs it, as in the constructor of InputError.
    """
    names = EXTRAS[extra] if package is None else (package,)
    if (name := _missing(names)) is not None:
        raise InputError(f"the package {name} is missing; install it: pip install 'mtl-baselines[{extra}]'", **where)


def installed_extras() -> list[str]:
    """The extras all of whose packages are installed."""
    return [extra for extra in EXTRAS if missing_package(extra) is None]
