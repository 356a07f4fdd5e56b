"""The layers of settings below those of the command line: baseline.yaml, the suite's file, and the files that the settings of a run choose."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError, locating
from mtl.base.names import advice, one_spelling
from mtl.base.settings.layers import check_file_may_set, find_yaml, flatten, shipped
from mtl.base.settings.schema import PAPER, EmbedderOptions
from mtl.base.typed import check_known
from mtl.base.untrusted_yaml import read_yaml
from mtl.data.sample import SAMPLES
from mtl.embedders import EMBEDDERS, embedder_kind, read_embeddings
from mtl.methods import METHODS, method_name
from mtl.submissions import submission_problem
from mtl.tasks.suite import Suite, load_suite

DEFAULTS = "configs/baseline.yaml"  # the name of the first layer
COMMAND_LINE = "command line"  # the name of the last one
SETTINGS_KINDS = ("architecture", "preset")  # kinds of files that change any settings
# The settings that choose a file of settings, with their defaults. A method's file may name another variant as its default.
FILES = {"method": "lstm", "embeddings": "random", "variant": "frozen", "architecture": PAPER, "preset": PAPER}
METHODS_KEY = "methods"  # in a suite file's `config`: settings for runs of single methods


@dataclass(frozen=True)
class Layers:
    """The settings of a run from files, which those of the command line replace."""

    settings: dict[str, Any]  # nested, by the name of the layer, DEFAULTS first; values replace those of earlier ones
    suite: Suite
    suite_name: str  # its name or path, as the settings have it
    variant: dict[str, Any]  # the settings of the variant, by dotted keys
    options: type[EmbedderOptions]  # the keys of the embeddings


def read_layers(settings: Mapping[str, Any]) -> Layers:
    """The layers of files below these settings (by dotted keys): baseline.yaml, then the files of embeddings (with `config`), method, variant, suite
    (`config` and the method's section), architecture and preset; later ones win. Raises InputError for bad files, and settings that nothing reads."""
    chosen, method_settings = _chosen_files(settings)
    method = method_settings["method"]
    _check_settings_are_read(settings, method)
    embeddings = read_embeddings(chosen["embeddings"])
    embeddings_config = embeddings.pop("config", None) or {}  # an embedding's file may set keys of the training too
    variant = _read_named("variant", find_yaml("variant", chosen["variant"]))
    baseline = read_yaml(shipped("configs") / "baseline.yaml")
    if "variant" in settings:
        _check_variant_is_read(variant, baseline, method)
    suite_name = chosen_suite(settings, baseline)
    suite = load_checked_suite(suite_name)
    layers = {
        DEFAULTS: baseline,
        f"embeddings={chosen['embeddings']}": {"embeddings": embeddings},
        f"embeddings={chosen['embeddings']}: config": embeddings_config,
        f"method={chosen['method']}": method_settings,
        f"variant={chosen['variant']}": variant,
    }
    # The settings of a generated suite for a method are for the model that the run trains by itself.
    trains_itself = not suite.generated or settings.get(f"{method}.path") is None
    for section, section_settings in suite_settings(suite).items():
        if section == "config" or (trains_itself and section == f"config.{METHODS_KEY}.{method}"):
            layers[f"suite {suite.name}: {section}"] = section_settings
    for kind in SETTINGS_KINDS:
        layers[f"{kind}={chosen[kind]}"] = _read_settings(kind, chosen[kind], embeddings["name"])
    return Layers(layers, suite, suite_name, flatten(variant), embedder_kind(embeddings["name"]).options)


def _chosen_files(settings: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The names or paths of the files that the settings choose, by the keys of FILES, and the method's settings, which may choose the variant."""
    named = {key: str(settings[key]) for key in FILES if key in settings}
    method_settings = _read_method(named.get("method", FILES["method"]))
    default_variant = str(method_settings.pop("variant", FILES["variant"]))
    return {**FILES, "variant": default_variant, **named}, method_settings


def _read_method(name: str) -> dict[str, Any]:
    """The settings of the method with this name, or in the file at this path; a method without a file has none. `method` is its name."""
    if name in METHODS and not (shipped("configs") / "method" / f"{name}.yaml").is_file():
        return {"method": name}
    content = read_yaml(find_yaml("method", name))
    return {**content, "method": method_name(str(content.get("method")))}


def _check_settings_are_read(settings: Iterable[str], method: str) -> None:
    """Raise InputError for a setting that other methods read, but not this one."""
    for key in [key for key in settings if key != "method" and not METHODS[method].reads_key(key)]:
        if any(kind.reads_key(key) for kind in METHODS.values()):
            raise InputError(f"method {method} does not read it; set method=, or drop it", key=key)


def _check_variant_is_read(variant: Mapping[str, Any], baseline: Mapping[str, Any], method: str) -> None:
    """Raise InputError for a variant that changes a value of baseline.yaml which the method does not read."""
    defaults = flatten(baseline)
    for key, value in flatten(variant).items():
        if defaults.get(key) != value and not METHODS[method].reads_key(key):
            message = f"sets {key}, which method {method} does not read"
            raise InputError(message, key="variant", value=variant["variant"])


def _read_settings(kind: str, name: str, embeddings: str) -> dict[str, Any]:
    """The settings of the architecture or preset (`kind`) of this name or path. Its section `embeddings` has a part for each kind of embeddings."""
    origin, path = f"{kind}={name}", find_yaml(kind, name)
    content = _read_named(kind, path)
    _check_is_no_shipped_name(origin, path, content[kind])
    by_embeddings = content.pop("embeddings", {})
    with locating(path=origin):
        _check_embeddings(by_embeddings)
    settings = {**content, "embeddings": by_embeddings.get(embeddings, {})}
    check_file_may_set(origin, settings, name_key=kind)
    return settings


def _read_named(kind: str, path: Path) -> dict[str, Any]:
    """The content of a file, which has the file's own name under the key `kind`, as in `variant: frozen`. Raises InputError for no such name."""
    content = read_yaml(path)
    name = one_spelling(str(content.get(kind, "")))
    if not re.fullmatch(r"\w[\w.+-]*", name):
        raise InputError(f"{kind}: must be its name, of letters, digits and _ . + -", path=path)
    return {**content, kind: name}


def _check_is_no_shipped_name(origin: str, path: Path, name: str) -> None:
    """Raise InputError if a file at another path is shipped under this name, since a run's name tells architectures and presets apart by theirs."""
    files = {kind: shipped("configs") / kind / f"{name}.yaml" for kind in SETTINGS_KINDS}
    shipped_kinds = [kind for kind, file in files.items() if file.is_file()]
    if shipped_kinds and path.resolve() not in [file.resolve() for file in files.values()]:
        raise InputError(f"{origin}: {name} is the name of a shipped {shipped_kinds[0]}; choose another name")


def _check_embeddings(by_embeddings: Any) -> None:
    """Raise InputError unless the section `embeddings` of an architecture or preset has, by kind of embeddings, keys of that kind."""
    if not isinstance(by_embeddings, dict) or not all(isinstance(keys, dict) for keys in by_embeddings.values()):
        message = "must hold a section for each kind of embeddings, as in {fasttext: {dropout: 0.1}}"
        raise InputError(message, key="embeddings")
    check_known(by_embeddings, EMBEDDERS, "embeddings.")
    for kind, keys in by_embeddings.items():
        if "name" in keys:
            raise InputError("only the command line and sweeps choose it", key=f"embeddings.{kind}.name")
        check_known(keys, EMBEDDERS[kind].options.__dataclass_fields__, f"embeddings.{kind}.")


def chosen_suite(settings: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    """The name or path of the suite in the settings of a run, or else in baseline.yaml. `auto` stands for klej if its data is there, else for the
    embedded sample. Raises InputError for `auto` with a data folder that has no data of KLEJ."""
    name = str(settings.get("suite", baseline.get("suite")))
    if name != "auto":
        return name
    data_dir = settings.get("data_dir")
    klej_dir = Path(str(data_dir or "data/klej"))
    folders = [task.folder for task in load_suite(find_yaml("suite", "klej")).tasks.values()]
    if any((klej_dir / folder).is_dir() for folder in folders):
        return "klej"
    if not data_dir:
        return "klej-sample"
    message = f"holds none of KLEJ's folders ({folders[0]}, …); name its suite with suite=, or drop data_dir"
    raise InputError(message, key="data_dir", value=klej_dir)


def load_checked_suite(name: str) -> Suite:
    """The suite with this name or path. Raises InputError, also for settings in its file that a suite must not have."""
    suite = load_suite(find_yaml("suite", name))
    if suite.generated and suite.name not in SAMPLES:
        raise InputError(f"suite {suite.name}: generated: only the data of {', '.join(SAMPLES)} is; drop this key")
    if problem := submission_problem(suite):
        raise InputError(f"suite {suite.name}: submission.{problem}")
    for section, settings in suite_settings(suite).items():
        check_file_may_set(f"suite {suite.name}: {section}", settings)
    return suite


def suite_settings(suite: Suite) -> dict[str, Mapping[str, Any]]:
    """The sections of settings in a suite file: `config`, for all methods, and `config.methods.NAME`. Raises InputError for a bad section."""
    origin = f"suite {suite.name}: config.{METHODS_KEY}"
    by_method = suite.config.get(METHODS_KEY, {})
    if not isinstance(by_method, dict) or not all(isinstance(settings, dict) for settings in by_method.values()):
        raise InputError(f"{origin}: must hold settings for methods, as in {{svm: {{floor: {{min_count: 1}}}}}}")
    sections: dict[str, Mapping[str, Any]] = {
        "config": {key: value for key, value in suite.config.items() if key != METHODS_KEY}
    }
    for method, settings in by_method.items():
        if method not in METHODS:
            raise InputError(f"{origin}.{method}: unknown method; {advice(method, METHODS, 'methods')}")
        for key in flatten(settings):
            if not METHODS[method].reads_key(key):
                raise InputError(f"{origin}.{method}: {key}: the method does not read it")
        sections[f"config.{METHODS_KEY}.{method}"] = settings
    return sections
