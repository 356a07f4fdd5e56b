"""The configuration of a run: the layers of settings from files, merged with the settings of the command line."""

from collections.abc import Collection, Mapping
from typing import Any

from mtl.base.errors import InputError
from mtl.base.names import ABSENT, meant
from mtl.base.settings.layers import check_names_no_code, flatten, flatten_config, matches, merge, nested
from mtl.base.settings.schema import BY_TASK, Config, config_of
from mtl.base.typed import UnknownKey, declared_keys
from mtl.embedders import EMBEDDERS
from mtl.jobs.setting_files import COMMAND_LINE, DEFAULTS, FILES, Layers
from mtl.methods import METHODS

MOST_SEEDS = 10_000


def merged_config(layers: Layers, settings: Mapping[str, Any]) -> tuple[Config, dict[str, str], dict[str, Any]]:
    """The configuration that the layers and the settings of the command line (by dotted keys) make; by key, the name of the layer of its value;
    and by key, its value in the files alone. Raises InputError, which names a layer's file."""
    in_files, origins = _merged_files(layers)
    # embeddings=NAME has chosen a file, embeddings.KEY=VALUE sets a key of it.
    values = {key: value for key, value in settings.items() if key not in FILES} | {"suite": layers.suite_name}
    merged = _with_command_line(in_files, values, layers)
    origins |= dict.fromkeys(values, COMMAND_LINE)
    merged["seeds"] = _listed_seeds(merged.get("seeds"))
    try:
        config = config_of(merged, layers.options)
    except InputError as error:
        origin = _fault_origin(error, origins)
        raise error if origin in (DEFAULTS, COMMAND_LINE) else error.located(path=origin) from None
    _check_variant(config, values, layers.variant)
    return config, origins | _choice_origins(settings), flatten(in_files)


def _merged_files(layers: Layers) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings of all files, nested, and by dotted key the name of the layer of its value. Raises InputError for a file that names code."""
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers.settings.items():
        if not isinstance(layer, dict):
            raise InputError("must hold keys and values", path=origin)
        check_names_no_code(origin, flatten(layer))
        merge(merged, layer)
        origins |= dict.fromkeys(flatten(layer), origin)
    return merged, origins


def _with_command_line(in_files: Mapping[str, Any], values: Mapping[str, Any], layers: Layers) -> dict[str, Any]:
    """The settings of the files, nested, with those of the command line (by dotted keys) in their place. Raises InputError for an unknown key: one
    that no configuration has, that no file or earlier setting has, and that is not for a task in a section by task, as in floor.train_rows.cbd."""
    merged: dict[str, Any] = {}
    merge(merged, in_files)
    known = {key for key, _ in declared_keys(Config)} | {key for key, _ in declared_keys(layers.options, "embeddings.")}
    for key, value in values.items():
        if key == "embeddings.name":  # with another name, the options would still be those of the chosen file
            raise InputError("the file that embeddings= chooses has it; set embeddings=NAME", key=key)
        so_far = flatten(merged)
        if key not in known and key not in so_far and key.rpartition(".")[0] not in BY_TASK:
            raise _unknown_key_error(key, known, so_far)
        merge(merged, nested(key, value))
    return merged


def _unknown_key_error(key: str, known: Collection[str], settings: Mapping[str, Any]) -> InputError:
    """The error for a key of the command line that is not known, with what may be meant beside these settings."""
    section, _, name = key.partition(".")
    kinds = [kind for kind in EMBEDDERS if name in EMBEDDERS[kind].options.__dataclass_fields__]
    if section == "embeddings" and kinds:
        embeddings = settings.get("embeddings.name", "these")  # a bad suite file may have removed the name
        return InputError(f"{embeddings} embeddings have no {name}; set embeddings={' or '.join(kinds)}", key=key)
    if remedies := [ABSENT[part] for part in key.split(".") if part in ABSENT]:
        return InputError(f"unknown key {key!r}; {remedies[-1]}")
    all_known = [known_key for known_key in (*known, "embeddings") if known_key != "embeddings.name"]
    method = METHODS.get(str(settings.get("method")))  # None: a bad suite file has put something else there
    read = [known_key for known_key in all_known if method is None or method.reads_key(known_key)]
    return UnknownKey(key, read if meant(key, read) else all_known)


def _listed_seeds(seeds: Any) -> Any:
    """The seeds as a list: a number N stands for 1 to N. Raises InputError for a number that is none of seeds."""
    if not isinstance(seeds, int) or isinstance(seeds, bool):
        return seeds
    if not 1 <= seeds <= MOST_SEEDS:
        raise InputError(f"must be a number of seeds, 1 to {MOST_SEEDS}, or a list", key="seeds", value=seeds)
    return list(range(1, seeds + 1))


def _fault_origin(error: InputError, origins: Mapping[str, str]) -> str:
    """The name of the layer that an error comes from. A layer may have set the error's key, keys inside it, or a value in place of its section: of
    these keys, the last one counts. For a key without any value, the first key of its section counts. Else the error comes from the defaults."""
    key = f"{error.section}{error.unknown}" if isinstance(error, UnknownKey) else str(error.key)
    setting = [name for name in origins if name == key or name.startswith(f"{key}.") or key.startswith(f"{name}.")]
    if setting:
        return origins[setting[-1]]
    neighbours = [name for name in origins if name.rpartition(".")[0] == key.rpartition(".")[0]]
    return origins[neighbours[0]] if neighbours else DEFAULTS


def _check_variant(config: Config, keys: Collection[str], variant: Mapping[str, Any]) -> None:
    """Raise InputError for a setting that contradicts the variant, by whose name results are compared, or that it does not read."""
    settings = flatten_config(config)
    for key, value in variant.items():
        if settings[key] != value:
            message = f"variant {config.variant} has {key}={value}; choose another with variant="
            raise InputError(message, key=key, value=settings[key])
    unread = METHODS[config.method].unread(config)
    for key in keys:
        if key not in variant and matches(key, unread):
            message = f"variant {config.variant} does not read it; choose another with variant=, or drop it"
            raise InputError(message, key=key)


def _choice_origins(settings: Mapping[str, Any]) -> dict[str, str]:
    """What chose the files and the suite, by key. A chosen file holds its own name, but the command line or a default has chosen it."""
    choices = {key: COMMAND_LINE if key in settings else DEFAULTS for key in (*FILES, "suite")}
    choices["embeddings.name"] = choices.pop("embeddings")
    return choices
