"""YAML files: readers of those that other people wrote, with the promise of `mtl.base.untrusted`, and how mtl writes its own."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import yaml

from mtl.base.errors import InputError
from mtl.base.untrusted import check_form, read_bytes

YAML_LIMIT = 2**24  # bytes of a YAML file
YAML_DEPTH = 50  # levels; libyaml's composer recurses in C, and 50,000 levels end the process
YAML_VALUES = 10_000  # keys and values of a YAML file, of which a few lines with aliases can make any number
EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$")  # of a number, which PyYAML reads as a text
DATE = "tag:yaml.org,2002:timestamp"
SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(SAFE_LOADER):
    """Nothing is evaluated, and no key stands twice. 1e-4 is a number, and a date is a text."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in kinds if tag != DATE]
        for first, kinds in SAFE_LOADER.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set[tuple[str, str]]()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in keys:
                raise yaml.constructor.ConstructorError(problem="a key stands twice", problem_mark=key.start_mark)
            keys.add((key.tag, str(key.value)))
        return cast(dict[Any, Any], super().construct_mapping(node, deep))


class _TextLoader(_Loader):
    """Reads every key and value as the text that stands there."""

    yaml_implicit_resolvers = {}


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Puts a text in quotes that `_Loader` would read as something else."""


for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+0123456789"))


def parse_yaml(text: str) -> Any:
    """The value of a YAML text. Raises YAMLError, and what PyYAML raises for values that it cannot make (`read_yaml`)."""
    return yaml.load(text, Loader=_Loader)


def yaml_text(content: dict[str, Any]) -> str:
    """Keys and values as YAML, which `read_yaml` reads back unchanged."""
    return yaml.dump(content, Dumper=_Dumper, default_flow_style=False, allow_unicode=True, sort_keys=False)


def read_yaml(path: Path) -> dict[Any, Any]:
    """The keys and values of a YAML file. Nothing in it is evaluated. Raises InputError if it cannot be read or is not YAML."""
    content = _read(path, _Loader)
    if not isinstance(content, dict):
        raise InputError("must hold keys and values", path=path)
    return content


def read_yaml_texts(path: Path) -> dict[str, dict[str, str]]:
    """The sections of a YAML file, each with keys and values, which are the texts that stand there: yes is "yes", and 1 is "1". Raises InputError
    as `read_yaml` does, and for a file of another form."""
    content = _read(path, _TextLoader)
    check_form(path, content, dict[str, dict[str, str]], "; it holds sections of keys and values")
    return cast(dict[str, dict[str, str]], content)


def _read(path: Path, loader: type[Any]) -> Any:
    with _yaml_errors(path):
        content = yaml.load(_checked_text(path), Loader=loader)
    left, count = [content], 0
    while left and count <= YAML_VALUES:
        value = left.pop()
        count += 1 + (len(value) if isinstance(value, dict) else 0)
        left += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if left:
        problem = f"it has more than {YAML_VALUES:,} values; split it, or leave out what is not needed"
        raise InputError(problem, path=path)
    return {} if content is None else content


@contextmanager
def _yaml_errors(path: Path) -> Iterator[None]:
    """What fails while a YAML file is read becomes an InputError."""
    try:
        yield
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None
    # PyYAML's constructors raise ValueError or IndexError for values such as 0b_ and !!int "".
    except (yaml.YAMLError, RecursionError, ValueError, IndexError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise InputError("not UTF-8; save the file as UTF-8", path=path) from None
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error) or "a value cannot be read"
        raise InputError(
            f"not YAML: {' '.join(problem.split())}", path=path, line=mark.line + 1 if mark else 1
        ) from None


def _checked_text(path: Path) -> str:
    """The text of a YAML file. Raises InputError for one that is too large or nested deeper than any file of ours, and OSError."""
    text, depth = read_bytes(path, YAML_LIMIT).decode("utf-8"), 0
    for event in yaml.parse(text, Loader=SAFE_LOADER):  # without recursion
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > YAML_DEPTH:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise InputError(f"nested more than {YAML_DEPTH} levels deep", path=path, line=line)
    return text
