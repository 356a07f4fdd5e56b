"""Readers of YAML files that other people wrote, with the promise of `mtl.base.untrusted`."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.base.errors import InputError
from mtl.base.untrusted import check_form, read_bytes, read_errors

YAML_LIMIT = 2**24  # bytes of a YAML file
YAML_DEPTH = 50  # levels; libyaml's composer recurses in C, and 50,000 levels end the process


def read_yaml(path: Path) -> dict[Any, Any]:
    """The keys and values of a YAML file. Nothing is evaluated. Raises InputError if it cannot be read or is not YAML, and for `${`, a reference."""
    with _yaml_errors(path):
        # OmegaConf's loader is yaml's safe loader, but it also reads 1e-4 as a number.
        content = OmegaConf.to_container(OmegaConf.load(io.StringIO(_checked_text(path))), resolve=False)
    if not isinstance(content, dict):
        raise InputError("must hold keys and values", path=path)
    if (key := next(_interpolations(content), None)) is not None:
        raise InputError("holds '${', a reference to another value; write the value itself", path=path, key=key)
    return content


class _TextLoader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """Reads every key and value as the text that stands there."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        content: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(content) < len(node.value):
            raise yaml.constructor.ConstructorError(problem="a key stands twice", problem_mark=node.start_mark)
        return content


def read_yaml_texts(path: Path, most: int) -> dict[str, dict[str, str]]:
    """The sections of a YAML file, each with keys and values, which are the texts that stand there: yes is "yes", and 1 is "1". Raises InputError
    as `read_yaml` does, for a file of another form, for a key that stands twice, and for more than `most` keys in all sections together."""
    with _yaml_errors(path):
        content = yaml.load(_checked_text(path), Loader=_TextLoader)
    if isinstance(content, dict) and sum(len(part) for part in content.values() if isinstance(part, dict)) > most:
        raise InputError("has too many keys; leave out what is not needed", path=path)
    check_form(path, content, dict[str, dict[str, str]], "; it holds sections of keys and values")
    return cast(dict[str, dict[str, str]], content)


@contextmanager
def _yaml_errors(path: Path) -> Iterator[None]:
    """What fails while a YAML file is read becomes an InputError."""
    try:
        with read_errors(path):
            yield
    except OmegaConfBaseException as error:
        raise InputError(f"cannot be read: {str(error).splitlines()[0]}", path=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8; save the file as UTF-8", path=path) from None
    # PyYAML raises these for values such as 0b_, 2020-13-45 and !!bool maybe; OmegaConf asserts that the content is no single value.
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, AssertionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error) or "it must hold keys and values"
        if "OMEGACONF_MAX_YAML_EXPANDED_NODES" in problem:
            raise InputError("has more than 10,000 values; split it, or leave out some", path=path) from None
        if isinstance(error, LookupError | AttributeError):
            problem = "a value does not fit its tag"
        line = mark.line + 1 if mark else 1
        raise InputError(f"not YAML: {' '.join(problem.split())}", path=path, line=line) from None


def _checked_text(path: Path) -> str:
    """The text of a YAML file. Raises InputError for one that is too large or nested deeper than any file of ours, and OSError."""
    text = read_bytes(path, YAML_LIMIT).decode("utf-8")
    depth = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # without recursion
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > YAML_DEPTH:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise InputError(f"nested more than {YAML_DEPTH} levels deep", path=path, line=line)
    return text


def _interpolations(value: Any, key: str = "") -> Iterator[str]:
    """The dotted keys of OmegaConf's interpolations `${…}` in keys and values."""
    if isinstance(value, str) and "${" in value:
        yield key
    elif isinstance(value, dict | list):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            below = f"{key}.{name}".removeprefix(".")
            yield from _interpolations(str(name), below)
            yield from _interpolations(item, below)
