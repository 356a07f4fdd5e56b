"""Checks for files that other people wrote: suite files, recipes, configurations."""

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.errors import InputError


def read_yaml(path: Path) -> dict[Any, Any]:
    """The keys and values of a YAML file. Nothing in it is evaluated.

    Raises InputError if it cannot be read or is not YAML, and for `${`, which OmegaConf would replace by the value of
    another key or of an environment variable.
    """
    try:
        # OmegaConf's loader is yaml's safe one that also reads 1e-4 as a number.
        content = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or error
        raise InputError(f"{path}:{mark.line + 1 if mark else 1}: not YAML: {' '.join(str(problem).split())}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8; save the file as UTF-8") from None
    except (OSError, OmegaConfBaseException) as error:
        raise InputError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: must hold keys and values")
    if key := _interpolated(content):
        raise InputError(f"{path}: {key}: holds '${{', a reference to another value; write the value itself")
    return content


def _interpolated(value: Any, key: str = "") -> str | None:
    """The dotted key below which a text with an OmegaConf interpolation stands, if there is one."""
    if isinstance(value, str):
        return key if "${" in value else None
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        below = f"{key}.{name}".removeprefix(".")
        if found := _interpolated(str(name), below) or _interpolated(item, below):
            return found
    return None


def is_inside(name: str) -> bool:
    """Whether a path leads to a place below the folder that it is relative to, on any system."""
    kinds = (PurePosixPath(name), PureWindowsPath(name))
    return "\0" not in name and not any(path.anchor or ".." in path.parts for path in kinds)


def is_web_address(url: str) -> bool:
    """Whether an address is one that a download may be made from."""
    return url.startswith(("https://", "http://"))
