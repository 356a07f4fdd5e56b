"""Checks for files that other people wrote: suite files, recipes, configurations."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, TypeVar, cast

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.errors import InputError

if TYPE_CHECKING:
    import torch

Content = TypeVar("Content")


def read_yaml(path: Path) -> dict[Any, Any]:
    """The keys and values of a YAML file. Nothing in it is evaluated.

    Raises InputError if it cannot be read or is not YAML, and for `${`, which OmegaConf would replace by the value of
    another key or of an environment variable.
    """
    try:
        # OmegaConf's loader is yaml's safe loader, but it also reads 1e-4 as a number.
        content = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, OmegaConfBaseException) as error:
        raise InputError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None
    # PyYAML's constructors raise ValueError or IndexError for values such as 0b_ and 2020-13-45.
    except (yaml.YAMLError, RecursionError, ValueError, IndexError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise InputError(f"{path}: not UTF-8; save the file as UTF-8") from None
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or error
        raise InputError(f"{path}:{mark.line + 1 if mark else 1}: not YAML: {' '.join(str(problem).split())}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: must hold keys and values")
    if key := _find_interpolation(content):
        raise InputError(f"{path}: {key}: holds '${{', a reference to another value; write the value itself")
    return content


def typed_content(kind: type[Content], content: Mapping[Any, Any], path: Path, what: str) -> Content:
    """The content of a YAML file as an instance of a dataclass. what: the file is meant to be, as in "suite file".

    Raises InputError for an unknown key, a value of another type, and a field without a value.
    """
    try:
        return cast(Content, OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(kind), content)))
    except OmegaConfBaseException as error:
        raise InputError(f"{path}: {error.full_key or 'the file'}: {str(error).splitlines()[0]}") from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not a {what}: {error}") from None


def read_checkpoint(
    path: Path, keys: Sequence[str], remedy: str = "", device: "torch.device | str" = "cpu"
) -> dict[str, Any]:
    """The content of a file that torch saved, read as tensors and plain values alone, so that no code in it runs.

    keys: what it must have. remedy: what the user can do, after a comma or a semicolon. device: where tensors are put.
    Raises InputError if it does not exist, is damaged, or lacks a key.
    """
    import torch

    try:
        content = torch.load(path, map_location=device, weights_only=True)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file{remedy}") from None
    except Exception as error:  # a damaged pickle raises errors of many kinds
        reason = str(error).partition("\n")[0] or "it ends too early"
        raise InputError(f"{path}: not a checkpoint that can be read: {reason}{remedy}") from None
    lacking = [key for key in keys if not isinstance(content, dict) or key not in content]
    if lacking:
        raise InputError(f"{path}: not a checkpoint that can be read: it has no {lacking[0]}{remedy}")
    found: dict[str, Any] = content
    return found


def _find_interpolation(value: Any, key: str = "") -> str | None:
    """The dotted key of the first OmegaConf interpolation `${…}` in a key or a value; None if there is none."""
    if isinstance(value, str):
        return key if "${" in value else None
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        below = f"{key}.{name}".removeprefix(".")
        if found := _find_interpolation(str(name), below) or _find_interpolation(item, below):
            return found
    return None


def is_inside(name: str) -> bool:
    """Whether a relative path stays inside its folder, both as a POSIX and as a Windows path."""
    kinds = (PurePosixPath(name), PureWindowsPath(name))
    return "\0" not in name and not any(path.anchor or ".." in path.parts for path in kinds)


def is_web_address(url: str) -> bool:
    """Whether an address starts with https:// or http://, so that a download may use it."""
    return url.startswith(("https://", "http://"))
