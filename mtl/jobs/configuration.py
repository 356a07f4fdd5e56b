"""The configuration of a run: the layers of settings from files, merged with the settings of the command line."""

from collections.abc import Collection, Mapping
from typing import Any

from mtl.base.errors import InputError
from mtl.base.names import ABSENT, meant
from mtl.base.settings.layers import flatten, flatten_config, matches, merge, nested
from mtl.base.settings.schema import BY_TASK, Config, config_of, names_code
from mtl.base.typed import UnknownKey, declared_keys
from mtl.embedders import EMBEDDERS
from mtl.jobs.setting_files import COMMAND_LINE, DEFAULTS, FILES, Layers
from mtl.methods import METHODS

MOST_SEEDS = 10_000


def merged_config(layers: Layers, settings: Mapping[str, Any]) -> tuple[Config, dict[str, str], dict[str, Any]]:
    """The configuration that the layers and the settings of the command line (by dotted keys) make; by key, the name of the layer of its value; and
    by key, its value in the layers alone. Raises InputError, located in a layer's file, for an unknown key, and a missing, bad or unfit value."""
    merged, origins = _merge_files(layers)
    file_settings = flatten(merged)
    # embeddings=NAME has chosen a file, embeddings.KEY=VALUE sets a key of it.
    values = {key: value for key, value in settings.items() if key not in FILES} | {"suite": layers.suite_name}
    known = {key for key, _ in declared_keys(Config)} | {key for key, _ in declared_keys(layers.options, "embeddings.")}
    _merge_command_line(merged, origins, values, known)
    merged["seeds"] = _listed_seeds(merged.get("seeds"))
    try:
        config = config_of(merged, layers.options)
    except InputError as error:
        origin = _fault_origin(error, origins)
        located = error if origin in (DEFAULTS, COMMAND_LINE) else error.located(path=origin)
        raise located from None
    _check_variant(config, values, layers.variant)
    return config, origins | _choice_origins(settings), file_settings


def _merge_files(layers: Layers) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings of all files, nested, and by dotted key the name of the layer of its value. Raises InputError for a file that names code."""
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers.settings.items():
        if not isinstance(layer, dict):
            raise InputError("must hold keys and values", path=origin)
        if code := [key for key, value in flatten(layer).items() if names_code(key, value)]:
            raise InputError("only the command line and Python name code that runs", path=origin, key=code[0])
        merge(merged, layer)
        origins |= dict.fromkeys(flatten(layer), origin)
    return merged, origins


def _merge_command_line(
    merged: dict[str, Any], origins: dict[str, str], values: Mapping[str, Any], known: Collection[str]
) -> None:
    """Add the values of the command line, by dotted keys, to settings and origins. Raises InputError for a key that nothing declares."""
    for key, value in values.items():
        present = flatten(merged)
        if key not in known and key not in present and key.rpartition(".")[0] not in BY_TASK:
            raise _unknown_key(key, known, present)
        merge(merged, nested(key, value))
        origins[key] = COMMAND_LINE


def _choice_origins(settings: Mapping[str, Any]) -> dict[str, str]:
    """The origins of the keys that choose files. A chosen file holds its own name, but what chose it is the command line or a default."""
    origins = {key: COMMAND_LINE if key in settings else DEFAULTS for key in (*FILES, "suite")}
    return {"embeddings.name" if key == "embeddings" else key: origin for key, origin in origins.items()}


def _unknown_key(key: str, known: Collection[str], settings: Mapping[str, Any]) -> InputError:
    """The error for an unknown key of the command line, which says what may be meant with the embeddings and the method of these settings. These may
    lack both: a suite file can put a value in place of the section, or a section in place of the name."""
    section, _, name = key.partition(".")
    kinds = [kind for kind in EMBEDDERS if name in EMBEDDERS[kind].options.__dataclass_fields__]
    if section == "embeddings" and kinds:
        embeddings = settings.get("embeddings.name", "these")
        return InputError(f"{embeddings} embeddings have no {name}; set embeddings={' or '.join(kinds)}", key=key)
    if remedies := [ABSENT[part] for part in key.split(".") if part in ABSENT]:
        return InputError(f"unknown key {key!r}; {remedies[-1]}")
    all_known = [*known, "embeddings"]
    method = METHODS.get(str(settings.get("method")))
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
    """The name of the layer that an error comes from: the last one among those of the error's key, of keys inside it, and of the section that holds
    it as a value; for a key without a value, the layer of the first key of its section; else the defaults."""
    key = f"{error.section}{error.unknown}" if isinstance(error, UnknownKey) else str(error.key)
    inside_or_around = [name for name in origins if f"{name}.".startswith(f"{key}.") or key.startswith(f"{name}.")]
    if inside_or_around:
        return origins[inside_or_around[-1]]
    neighbours = [name for name in origins if name.rpartition(".")[0] == key.rpartition(".")[0]]
    return origins[neighbours[0]] if neighbours else DEFAULTS


def _check_variant(config: Config, keys: Collection[str], variant: Mapping[str, Any]) -> None:
    """Raise InputError for a setting that contradicts the variant, by whose name results are compared, or that it does not read."""
    name, settings = config.variant, flatten_config(config)
    for key, value in variant.items():
        if settings[key] != value:
            message = f"variant {name} has {key}={value}; choose another with variant="
            raise InputError(message, key=key, value=settings[key])
    unread = METHODS[config.method].unread(config)
    if ignored := [key for key in keys if key not in variant and matches(key, unread)]:
        raise InputError(f"variant {name} does not read it; choose another with variant=, or drop it", key=ignored[0])
