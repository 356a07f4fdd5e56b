"""Layers of settings: find the files that they come from, check what these set, put the layers together, and save what the whole of them is."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.names import meant
from mtl.base.settings.schema import CHOICES, CODE, INDIFFERENT, LOCATIONS, LOGGERS, Config, EmbedderOptions, config_of
from mtl.base.untrusted_yaml import read_yaml

# Keys that saved configurations may have, which change no result and are no longer read.
GONE = ("selected", "statistic")


def shipped(folder: str) -> Path:
    """A folder that comes with the package (configs or embeddings): inside it when installed, beside it in a checkout."""
    package = Path(__file__).parent.parent.parent
    inside = package / "shipped" / folder
    return inside if inside.is_dir() else package.parent / folder


def find_yaml(kind: str, name: str, folder: Path | None = None) -> Path:
    """The YAML file at a path (with a slash, or ending in .yaml or .yml), or of a name in `folder`, which is else configs/KIND. Raises InputError."""
    if "/" in name or name.endswith((".yaml", ".yml")):
        path = Path(name)
        if not path.is_file():
            stem = name.removesuffix(".yml").removesuffix(".yaml")
            twins = [twin for twin in (Path(f"{stem}.yaml"), Path(f"{stem}.yml")) if twin.is_file()]
            hint = f"; did you mean {twins[0]}?" if twins else ""
            raise InputError(f"{kind}={name}: no such file{hint}")
        return path
    folder = folder or shipped("configs") / kind
    path = folder / f"{name}.yaml"
    if not path.is_file():
        names = sorted(file.stem for file in folder.glob("*.yaml"))
        close = " or ".join(meant(name, names))
        remedy = f"did you mean {close}?" if close else f"known: {', '.join(names)}, or the path of a YAML file"
        raise InputError(f"{kind}={name}: unknown; {remedy}")
    return path


def check_file_may_set(origin: str, settings: Mapping[str, Any], name_key: str = "") -> None:
    """Raise InputError for a key that no file of settings sets, but for `name_key`, under which the file has its own name."""
    for key in flatten(settings):
        if key in LOCATIONS:
            raise InputError("only the command line says where files are", path=origin, key=key)
        if key in (*CHOICES, "embeddings.name") and key != name_key:
            raise InputError("only the command line and sweeps choose it", path=origin, key=key)


def check_names_no_code(origin: str | Path, settings: Mapping[str, Any]) -> None:
    """Raise InputError for a setting of a file (by dotted keys) that names code that runs: files come from other people too."""
    for key, value in settings.items():
        if key in CODE and value and value not in (True, *LOGGERS):
            raise InputError("only the command line and Python name code that runs", path=origin, key=key)


def matches(key: str, names: Sequence[str]) -> bool:
    """Whether a configuration key is one of these; a name that ends in a dot means all keys that begin with it."""
    return key in names or key.startswith(tuple(name for name in names if name.endswith(".")))


def flatten(tree: Any, prefix: str = "") -> dict[str, Any]:
    """A nested dictionary as one of dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def nested(key: str, value: Any) -> dict[str, Any]:
    """The nested dictionary that has one value, under a dotted key."""
    *sections, name = key.split(".")
    tree = {name: value}
    for section in reversed(sections):
        tree = {section: tree}
    return tree


def merge(settings: dict[str, Any], layer: Mapping[str, Any]) -> None:
    """Add a layer of nested settings, whose values replace those of earlier layers; lists are replaced as a whole."""
    for key, value in layer.items():
        if isinstance(value, dict):
            if not isinstance(settings.get(key), dict):
                settings[key] = {}
            merge(settings[key], value)
        else:
            settings[key] = value


def flatten_config(config: Config) -> dict[str, Any]:
    """Every key of a configuration by its dotted name."""
    return flatten(asdict(config))


def save_config(config: Config, path: Path) -> None:
    """Write the configuration as YAML, whole or not at all."""
    write_text(path, OmegaConf.to_yaml(OmegaConf.create(asdict(config))))


def read_config(path: Path, options: Callable[[str], type[EmbedderOptions]]) -> Config:
    """Read what `save_config` wrote; `options` returns the class for a name of embeddings. Raises InputError."""
    content = _read_saved(path)
    embeddings = content.get("embeddings")
    name = embeddings.get("name") if isinstance(embeddings, dict) else None
    try:
        return config_of(content, options(str(name)))
    except InputError as error:
        remedy = "make the run again, or use the version of mtl that made it"
        raise InputError(f"not a run's configuration of this version: {error}; {remedy}", path=path) from None


def differences(path: Path, config: Config, keys: Collection[str] | None = None, but: Sequence[str] = ()) -> list[str]:
    """These keys, or all that change results but some, whose values differ from those saved at `path`, as "key: value there, value here"."""
    there, here = flatten(_read_saved(path)), flatten_config(config)
    counting = (there | here).keys() - INDIFFERENT - set(but) if keys is None else keys
    differing = [key for key in there | here if key in counting and there.get(key) != here.get(key)]
    return [f"{key}: {there.get(key)} there, {here.get(key)} here" for key in differing]


def _read_saved(path: Path) -> dict[Any, Any]:
    """The content of the configuration that a run saved, without the keys GONE. Raises InputError for a missing file and as `read_yaml` does."""
    if not path.exists():
        raise InputError(f"no such file; is {path.parent} a run folder?", path=path)
    return {key: value for key, value in read_yaml(path).items() if key not in GONE}
