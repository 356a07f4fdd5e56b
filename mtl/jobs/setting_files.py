"""The files of settings that a run's settings choose, as layers: defaults, embeddings, method, variant, suite, architecture and preset."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError, locating
from mtl.base.names import advice, one_spelling
from mtl.base.settings.layers import find_suite, find_yaml, flatten, shipped
from mtl.base.settings.schema import CHOICES, LOCATIONS, PAPER, EmbedderOptions
from mtl.base.typed import check_known
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.sample import SAMPLES
from mtl.embedders import EMBEDDERS, embedder_kind, read_embeddings
from mtl.methods import METHODS, method_name
from mtl.submissions import submission_problem
from mtl.tasks.suite import Suite, load_suite

DEFAULTS, COMMAND_LINE = "configs/baseline.yaml", "command line"  # names of the first and of the last layer
SETTINGS_KINDS = ("architecture", "preset")  # kinds of files that change any settings
METHODS_KEY = "methods"  # in a suite file's `config`: settings for runs of single methods
# The settings that choose a file of settings, with their defaults. A method's file may name another variant as its default.
FILES = {"method": "lstm", "embeddings": "random", "variant": "frozen", "architecture": PAPER, "preset": PAPER}


@dataclass(frozen=True)
class Layers:
    """The settings of a run from files, which those of the command line replace."""

    settings: dict[str, Any]  # nested, by the name of the layer, DEFAULTS first; values replace those of earlier ones
    suite: Suite
    suite_name: str  # its name or path, as the settings have it
    variant: dict[str, Any]  # the settings of the variant, by dotted keys
    options: type[EmbedderOptions]  # the keys of the embeddings


def read_layers(settings: Mapping[str, Any]) -> Layers:
    """The layers below these settings (by dotted keys), of which later ones win: baseline.yaml, NAME.yaml of embeddings and its section `config`, of
    method and of variant, the suite file's `config` and its section for the method, NAME.yaml of architecture and of preset. Raises InputError."""
    named = {key: str(settings[key]) for key in FILES if key in settings}
    method_settings = _read_method(named.get("method", FILES["method"]))
    method = method_settings["method"]
    default_variant = str(method_settings.pop("variant", FILES["variant"]))
    chosen = {**FILES, "variant": default_variant, **named}
    _check_settings_are_read(settings, method)
    embeddings = read_embeddings(chosen["embeddings"])
    embeddings_config = embeddings.pop("config", None) or {}  # an embedding's file may set keys of the training too
    _, variant = _read_named("variant", chosen["variant"])
    baseline = read_yaml(shipped("configs") / "baseline.yaml")
    if "variant" in named:
        _check_variant_is_read(variant, baseline, method)
    suite_name = chosen_suite(settings, baseline)
    suite = load_checked_suite(suite_name)
    # The settings of a generated suite for a method are for the model that the run trains by itself.
    trains_itself = not suite.generated or settings.get(f"{method}.path") is None
    read_sections = {"config", f"config.{METHODS_KEY}.{method}"} if trains_itself else {"config"}
    sections = {key: section for key, section in suite_settings(suite).items() if key in read_sections}
    embeddings_layer = f"embeddings={chosen['embeddings']}"
    layers = {
        DEFAULTS: baseline,
        embeddings_layer: {"embeddings": embeddings},
        f"{embeddings_layer}: config": embeddings_config,
        f"method={chosen['method']}": method_settings,
        f"variant={chosen['variant']}": variant,
        **{f"suite {suite.name}: {key}": section for key, section in sections.items()},
        **{f"{kind}={chosen[kind]}": _read_settings(kind, chosen[kind], embeddings["name"]) for kind in SETTINGS_KINDS},
    }
    return Layers(layers, suite, suite_name, flatten(variant), embedder_kind(embeddings["name"]).options)


def _read_method(name: str) -> dict[str, Any]:
    """The settings of the method with this name, or in the file at this path; a method without a file has none. `method` is its name."""
    folder = shipped("configs") / "method"
    if name in METHODS and not (folder / f"{name}.yaml").is_file():
        return {"method": name}
    content = read_yaml(find_yaml("method", name, folder))
    return {**content, "method": method_name(str(content.get("method")))}


def _check_settings_are_read(settings: Iterable[str], method: str) -> None:
    """Raise InputError for a setting that other methods read, but not this one."""
    reads = METHODS[method].reads_key
    for key in settings:
        if key != "method" and not reads(key) and any(kind.reads_key(key) for kind in METHODS.values()):
            raise InputError(f"method {method} does not read it; set method=, or drop it", key=key)


def _check_variant_is_read(variant: Mapping[str, Any], baseline: Mapping[str, Any], method: str) -> None:
    """Raise InputError for a variant that changes a value of baseline.yaml which the method does not read."""
    defaults, reads = flatten(baseline), METHODS[method].reads_key
    if unread := [key for key, value in flatten(variant).items() if defaults.get(key) != value and not reads(key)]:
        message = f"sets {unread[0]}, which method {method} does not read"
        raise InputError(message, key="variant", value=variant["variant"])


def _read_named(kind: str, name: str) -> tuple[Path, dict[str, Any]]:
    """The file with this name or path, and its content, which has the file's own name under the key `kind`, as in `variant: frozen`."""
    path = find_yaml(kind, name, shipped("configs") / kind)
    content = read_yaml(path)
    recorded = one_spelling(str(content.get(kind, "")))
    if not re.fullmatch(r"\w[\w.+-]*", recorded):
        raise InputError(f"{kind}: must be its name, of letters, digits and _ . + -", path=path)
    return path, {**content, kind: recorded}


def _read_settings(kind: str, name: str, embeddings: str) -> dict[str, Any]:
    """The settings of the architecture or preset (`kind`) of this name or path. Its section `embeddings` has a part for each kind of embeddings."""
    origin = f"{kind}={name}"
    path, content = _read_named(kind, name)
    _check_is_no_shipped_name(origin, path, content[kind])
    sections = content.pop("embeddings", {})
    with locating(path=origin):
        _check_sections(sections)
    settings = {**content, "embeddings": sections.get(embeddings, {})}
    _check_may_be_set(origin, settings, name_key=kind)
    return settings


def _check_is_no_shipped_name(origin: str, path: Path, name: str) -> None:
    """Raise InputError if a file at another path is shipped under this name. Runs are told apart by the names of architectures and presets, which
    stand in the same part of a run's name."""
    shipped_files = {kind: shipped("configs") / kind / f"{name}.yaml" for kind in SETTINGS_KINDS}
    shipped_kinds = [kind for kind, file in shipped_files.items() if file.is_file()]
    if shipped_kinds and path.resolve() not in [file.resolve() for file in shipped_files.values()]:
        raise InputError(f"{origin}: {name} is the name of a shipped {shipped_kinds[0]}; choose another name")


def _check_sections(sections: Any) -> None:
    """Raise InputError unless the sections have, by kind of embeddings, keys of that kind."""
    if not isinstance(sections, dict) or not all(isinstance(section, dict) for section in sections.values()):
        message = "must hold a section for each kind of embeddings, as in {fasttext: {dropout: 0.1}}"
        raise InputError(message, key="embeddings")
    check_known(sections, EMBEDDERS, "embeddings.")
    for embeddings, section in sections.items():
        if "name" in section:
            raise InputError("only the command line and sweeps choose it", key=f"embeddings.{embeddings}.name")
        check_known(section, EMBEDDERS[embeddings].options.__dataclass_fields__, f"embeddings.{embeddings}.")


def _check_may_be_set(origin: str, settings: Mapping[str, Any], name_key: str = "") -> None:
    """Raise InputError for a key that no file of settings sets, but for `name_key`, under which the file has its own name."""
    for key in flatten(settings):
        if key in LOCATIONS:
            raise InputError("only the command line says where files are", path=origin, key=key)
        if key in (*CHOICES, "embeddings.name") and key != name_key:
            raise InputError("only the command line and sweeps choose it", path=origin, key=key)


def chosen_suite(settings: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    """The name or path of the suite in the settings of a run, or else in baseline.yaml. `auto` stands for klej if its data is there, else for the
    embedded sample. Raises InputError for `auto` with a data folder that has no data of KLEJ."""
    name = str(settings.get("suite", baseline.get("suite")))
    data_dir = settings.get("data_dir")
    if name != "auto":
        return name
    folders = [task.folder for task in load_suite(find_suite("klej")).tasks.values()]
    if any((Path(str(data_dir or "data/klej")) / folder).is_dir() for folder in folders):
        return "klej"
    if data_dir:
        message = f"holds none of KLEJ's folders ({folders[0]}, …); name its suite with suite=, or drop data_dir"
        raise InputError(message, key="data_dir", value=Path(str(data_dir)))
    return "klej-sample"


def load_checked_suite(name: str) -> Suite:
    """The suite with this name or path. Raises InputError, also for settings in its file that a suite must not have."""
    suite = load_suite(find_suite(name))
    if suite.generated and suite.name not in SAMPLES:
        raise InputError(f"suite {suite.name}: generated: only the data of {', '.join(SAMPLES)} is; drop this key")
    if problem := submission_problem(suite):
        raise InputError(f"suite {suite.name}: submission.{problem}")
    for section, settings in suite_settings(suite).items():
        _check_may_be_set(f"suite {suite.name}: {section}", settings)
    return suite


def suite_settings(suite: Suite) -> dict[str, Mapping[str, Any]]:
    """The settings in a suite file by section: `config`, and `config.methods.NAME` for a method. Raises InputError for what is no
    section, for unknown methods, and for keys that they do not read."""
    by_method, place = suite.config.get(METHODS_KEY, {}), f"suite {suite.name}: config.{METHODS_KEY}"
    if not isinstance(by_method, dict) or not all(isinstance(settings, dict) for settings in by_method.values()):
        raise InputError(f"{place}: must hold settings for methods, as in {{svm: {{floor: {{min_count: 1}}}}}}")
    for method, settings in by_method.items():
        if method not in METHODS:
            raise InputError(f"{place}.{method}: unknown method; {advice(method, METHODS, 'methods')}")
        if unread := [key for key in flatten(settings) if not METHODS[method].reads_key(key)]:
            raise InputError(f"{place}.{method}: {unread[0]}: the method does not read it")
    common = {key: value for key, value in suite.config.items() if key != METHODS_KEY}
    return {"config": common, **{f"config.{METHODS_KEY}.{name}": section for name, section in by_method.items()}}
