"""Readers of YAML files that other people wrote, with the promise of `mtl.base.untrusted`."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.base.errors import InputError
from mtl.base.untrusted import read_bytes

YAML_LIMIT = 2**24  # bytes of a YAML file
YAML_DEPTH = 50  # levels; libyaml's composer recurses in C, and 50,000 levels end the process


def read_yaml(path: Path) -> dict[Any, Any]:
    """The keys and values of a YAML file. Nothing in it is evaluated.

    Raises InputError if it cannot be read or is not YAML, and for `${`, which OmegaConf would replace by the value of
    another key or of an environment variable.
    """
    with _yaml_errors(path):
        # OmegaConf's loader is yaml's safe loader, but it also reads 1e-4 as a number.
        content = OmegaConf.to_container(OmegaConf.load(io.StringIO(_checked_text(path))), resolve=False)
    if not isinstance(content, dict):
        raise InputError("must hold keys and values", path=path)
    if key := _find_interpolation(content):
        raise InputError("holds '${', a reference to another value; write the value itself", path=path, key=key)
    return content


def read_yaml_texts(path: Path, most: int) -> dict[str, dict[str, str]]:
    """The sections of a YAML file, each with keys and values, which are the texts that stand there: yes is "yes", and 1 is "1".

    Args:
        most: how many keys all sections together may have.

    Raises:
        InputError: as `read_yaml` does, for a file of another form, and for a key that stands twice.
    """
    with _yaml_errors(path):
        root = yaml.compose(_checked_text(path), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    sections: dict[str, dict[str, str]] = {}
    for name, section in _items(path, root, "must hold sections of keys and values"):
        values = sections[name] = {}
        for key, value in _items(path, section, f"{name}: must hold keys and values"):
            if not isinstance(value, yaml.ScalarNode):
                line = value.start_mark.line + 1
                raise InputError("must be a single value", path=path, line=line, key=f"{name}.{key}")
            values[key] = value.value
            most -= 1
            if most < 0:
                raise InputError("has too many keys; leave out what is not needed", path=path)
    return sections


def _items(path: Path, node: yaml.Node | None, problem: str) -> Iterator[tuple[str, yaml.Node]]:
    """The keys of a YAML mapping with their values. Raises InputError: `problem` for another node, and for a key that stands twice."""
    if not isinstance(node, yaml.MappingNode):
        raise InputError(problem, path=path, line=node.start_mark.line + 1 if node else 1)
    seen = set[str]()
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise InputError("a key must be a single value", path=path, line=line)
        if key.value in seen:
            raise InputError("the key stands twice", path=path, line=line, key=key.value)
        seen.add(key.value)
        yield key.value, value


@contextmanager
def _yaml_errors(path: Path) -> Iterator[None]:
    """What fails while a YAML file is read becomes an InputError."""
    try:
        yield
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None
    except OmegaConfBaseException as error:
        raise InputError(f"cannot be read: {str(error).splitlines()[0]}", path=path) from None
    # PyYAML's constructors raise ValueError or IndexError for values such as 0b_ and 2020-13-45.
    # OmegaConf asserts that the content is no single value.
    except (yaml.YAMLError, RecursionError, ValueError, IndexError, AssertionError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise InputError("not UTF-8; save the file as UTF-8", path=path) from None
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error) or "it must hold keys and values"
        if "OMEGACONF_MAX_YAML_EXPANDED_NODES" in problem:
            problem = "it has more than 10,000 values; split it, or leave out what is not needed"
            raise InputError(problem, path=path) from None
        line = mark.line + 1 if mark else 1
        raise InputError(f"not YAML: {' '.join(problem.split())}", path=path, line=line) from None


def _checked_text(path: Path) -> str:
    """The text of a YAML file. Raises InputError for one that is too large or nested deeper than any file of ours, and OSError."""
    text, depth = read_bytes(path, YAML_LIMIT).decode("utf-8"), 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # without recursion
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > YAML_DEPTH:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise InputError(f"nested more than {YAML_DEPTH} levels deep", path=path, line=line)
    return text


def _find_interpolation(value: Any, key: str = "") -> str | None:
    """The dotted key of the first OmegaConf interpolation `${…}` in a key or a value; None if there is none."""
    if isinstance(value, str):
        return key if "${" in value else None
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        below = f"{key}.{name}".removeprefix(".")
        if inner := _find_interpolation(str(name), below) or _find_interpolation(item, below):
            return inner
    return None
