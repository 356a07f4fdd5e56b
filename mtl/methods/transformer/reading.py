"""Reading with the library transformers: no code that a folder brings along runs, and errors of any kind become InputErrors."""

import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EACCES, EDQUOT, ENOSPC, EROFS
from pathlib import Path
from typing import Any

from mtl.base.arrays import without_advice
from mtl.base.errors import InputError, resource_problem
from mtl.methods.transformer.model_files import AGAIN

NOT_THERE = (
    "cannot be had from the Hugging Face Hub: there is no network, or no such model, and no folder of this name; a folder with the model works"
    " without a network: set transformer.path="
)
BRINGS_CODE = "needs code that it brings along, and such code is never run; name a transformer whose architecture the transformers library has"
NO_TOKENIZER = "has no tokenizer that can be read; restore its tokenizer.json, or name a folder or a model that has one with transformer.tokenizer="
CACHE_ERRORS = (EACCES, EDQUOT, ENOSPC, EROFS)  # of a disk that takes no download
MOST_SAID = 200  # characters of an error's message


def opened(name: str, part: str, read: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """`read(…)` of a part of a folder, without running code that it brings along: transformers would ask on standard input. Raises InputError with
    the beginning of what transformers says, which raises errors of many kinds. Memory that runs out is no fault of the folder: MemoryError passes."""
    try:
        return read(*arguments, trust_remote_code=False, **options)
    except MemoryError:
        raise
    except Exception as error:  # damaged files: of safetensors, of pickle, of JSON, of shapes
        raise InputError(f"{name}: {_problem(name, part, error)}") from None


def _problem(name: str, part: str, error: Exception) -> str:
    """What is wrong if reading a part of a folder, or of a model on the Hub, raised this error."""
    said, unreadable = str(error), f"{part} cannot be read: {_begin(error)}; {AGAIN}"
    if isinstance(error, OSError) and error.errno in CACHE_ERRORS and not Path(name).is_dir():
        return f"cannot be downloaded: {resource_problem(error)}"
    if isinstance(error, OSError):
        return unreadable if Path(name).is_dir() else NOT_THERE
    if isinstance(error, ImportError):
        return f"needs a package that is not installed: {_begin(error)}"
    if "trust_remote_code" in said:
        return BRINGS_CODE
    return NO_TOKENIZER if said.startswith("Couldn't instantiate the backend tokenizer") else unreadable


@contextmanager
def tokenizing(name: str) -> Iterator[None]:
    """Whatever a tokenizer raises within the block but MemoryError becomes an InputError that names it; panics of its library are no Exceptions."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise InputError(f"{name}: its tokenizer cannot read a text: {_begin(error)}; {AGAIN}") from None


def _begin(error: BaseException) -> str:
    """The beginning of an error's message, as one line."""
    text = without_advice(str(error)) or type(error).__name__
    return textwrap.shorten(text, MOST_SAID, placeholder=" …").rstrip(".")
