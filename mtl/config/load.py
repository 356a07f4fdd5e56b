"""The configuration of a run: typed, read from configs/ and the command line, saved beside the result."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml
from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

import mtl
from mtl.config.check import FORMER_NAMES, check, check_keys
from mtl.errors import InputError
from mtl.files import write_text
from mtl.tasks.suite import Suite, load_suite
from mtl.untrusted import read_yaml


@dataclass
class EmbeddingsConfig:
    """What is None does not apply to the kind of embeddings that `name` says, or may be left open (EMBEDDINGS)."""

    name: str = MISSING
    dropout: float = MISSING
    path: str | None = None
    dim: int | None = None
    trainable: bool | None = None
    min_count: int | None = None
    init_std: float | None = None
    precision: str | None = None
    exact: bool | None = None
    cache: bool | None = None


@dataclass
class EncoderConfig:
    hidden_size: int = MISSING
    num_layers: int = MISSING
    dropout: float = MISSING


@dataclass
class HeadConfig:
    hidden_size: int = MISSING
    attention: bool = MISSING
    attention_size: int = MISSING
    dropout: float = MISSING


@dataclass
class OptimizerConfig:
    batch_size: int = MISSING
    learning_rate: float = MISSING
    final_learning_rate: float = MISSING
    gradient_clip: float = MISSING
    patience: int = MISSING


@dataclass
class PretrainConfig(OptimizerConfig):
    max_steps: int = MISSING
    validate_every: int = MISSING
    checkpoint: str = "best"  # a run's file from before there was the key has none


@dataclass
class FinetuneConfig(OptimizerConfig):
    max_epochs: int = MISSING
    train_encoder: bool = MISSING
    encoder_dropout: bool = False  # likewise


@dataclass
class TrainerConfig:
    accelerator: str = MISSING
    precision: str = MISSING
    threads: int | None = None


@dataclass
class FloorConfig:
    """Floors (`mtl.methods.floors`) alone read this. grid: settings of scikit-learn's estimator, each with the values to try on dev."""

    word_ngrams: list[int] = MISSING
    char_ngrams: list[int] = MISSING
    min_count: int = MISSING
    max_features: int = MISSING
    grid: dict[str, Any] = field(default_factory=dict)


@dataclass
class SubmissionConfig:
    header: str = MISSING


@dataclass
class Config:
    """Everything that a run needs; configs/baseline.yaml says what each key means."""

    suite: str = MISSING
    method: str = MISSING
    embeddings: EmbeddingsConfig = MISSING
    variant: str = MISSING
    data_dir: str | None = None
    embeddings_dir: str = MISSING
    cache_dir: str = MISSING
    run_dir: str | None = None
    runs_dir: str = MISSING
    tasks: list[str] | None = None
    seeds: list[int] = MISSING
    seeds_in_parallel: int = MISSING
    max_length: int = MISSING
    held_out: float = MISSING
    encoder: EncoderConfig = MISSING
    head: HeadConfig = MISSING
    pretrain: PretrainConfig = MISSING
    finetune: FinetuneConfig = MISSING
    trainer: TrainerConfig = MISSING
    floor: FloorConfig = MISSING
    submission: SubmissionConfig = MISSING


# Keys that leave the results as they are: where things lie or are kept (what lies there is compared by content,
# `mtl.runs.folder`), and how many seeds run at a time.
LOCATIONS = ("data_dir", "embeddings_dir", "cache_dir", "run_dir", "runs_dir", "embeddings.path", "embeddings.cache")
INDIFFERENT = (*LOCATIONS, "seeds_in_parallel")

LISTS = {"seeds": "[1,2,3]", "tasks": "[cbd,dyk]", "floor.word_ngrams": "[1,2]", "floor.char_ngrams": "[2,5]"}


def shipped(folder: str) -> Path:
    """A folder that ships with the package, configs or embeddings: inside it when installed, beside it in a checkout."""
    package = Path(mtl.__file__).parent
    inside = package / "shipped" / folder
    return inside if inside.is_dir() else package.parent / folder


def find_yaml(kind: str, name: str, folder: Path) -> Path:
    """The YAML file that `name` means: a path if it looks like one, else a file in `folder`. Raises InputError."""
    if "/" in name or name.endswith((".yaml", ".yml")):
        if not Path(name).is_file():
            raise InputError(f"{kind}={name}: no such file")
        return Path(name)
    path = folder / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
        raise InputError(f"{kind}={name}: unknown; known: {known}, or the path of a YAML file")
    return path


def load_config(overrides: Sequence[str]) -> tuple[Config, Suite]:
    """The configuration that `key=value` overrides make of configs/, and the suite that it names.

    Later wins: baseline.yaml, embeddings/NAME.yaml, method/NAME.yaml, variant/NAME.yaml, the suite file's own `config`, the overrides.
    Raises InputError for an unknown key, a bad value, a missing file.
    """
    configs = shipped("configs")
    given = parse_overrides(overrides)
    method = _read_method(str(given.pop("method", "lstm")), configs / "method")
    check_keys(method["method"], given)
    # embeddings=NAME chooses a file, embeddings.KEY=VALUE sets a key in what it says.
    embeddings = str(given.pop("embeddings", "random"))
    variant = str(given.get("variant", "frozen"))
    baseline = read_yaml(configs / "baseline.yaml")
    data_dir = given.get("data_dir")
    name = str(given.get("suite", baseline.get("suite")))
    if name == "auto":
        name = _default_suite(Path(str(data_dir)) if data_dir else None)
    suite = load_suite(find_yaml("suite", name, configs / "suite"))
    if locations := [key for key in flatten(suite.config) if key in LOCATIONS]:
        raise InputError(f"suite {suite.name}: config: {locations[0]}: only the command line says where files are")

    merged = cast(DictConfig, OmegaConf.structured(Config))
    layers: list[tuple[str, Any]] = [("configs/baseline.yaml", baseline)]
    chosen = read_yaml(find_yaml("embeddings", embeddings, configs / "embeddings"))
    # An embedding's file may set keys of the training too.
    training = chosen.pop("config", None) or {}
    of_variant = read_yaml(find_yaml("variant", variant, configs / "variant"))
    layers += [(embeddings, {"embeddings": chosen}), (f"{embeddings}: config", training)]
    layers += [("method", method), (variant, of_variant)]
    layers.append((f"suite {suite.name}: config", suite.config))
    for origin, layer in layers:
        try:
            merged = cast(DictConfig, OmegaConf.merge(merged, layer))
        except OmegaConfBaseException as error:
            raise InputError(f"{origin}: {error.full_key}: {str(error).splitlines()[0]}") from None
        except ValueError as error:
            raise InputError(f"{origin}: {str(error).splitlines()[0]}") from None
    for key, value in given.items():
        _set(merged, key, value)
    merged.suite = name
    for key, value in flatten(of_variant).items():
        # The variant names the row that the result stands beside.
        if key != "variant" and (other := OmegaConf.select(merged, key)) != value:
            raise InputError(f"{key}={other}: variant {variant} has {key}={value}; choose another with variant=")
    try:
        config = cast(Config, OmegaConf.to_object(merged))
    except OmegaConfBaseException as error:
        raise InputError(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    check(config, flatten_config(config))
    return config, suite


def _read_method(name: str, folder: Path) -> dict[str, Any]:
    """The method file of this name or at this path; a method's former name is replaced by its name."""
    content = read_yaml(find_yaml("method", FORMER_NAMES.get(name, name), folder))
    written = str(content.get("method"))
    return {**content, "method": FORMER_NAMES.get(written, written)}


def parse_overrides(overrides: Sequence[str]) -> dict[str, Any]:
    """`key=value` strings as a dictionary, values read as YAML. Raises InputError for what is not one."""
    given = {}
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals or not key:
            raise InputError(f"{override!r} is not key=value")
        try:
            given[key.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise InputError(f"{override!r}: the value is not YAML") from None
    return given


def _default_suite(data_dir: Path | None) -> str:
    """klej where its data lies, else the embedded sample. A folder that was named must have it."""
    folders = [task.folder for task in load_suite(shipped("configs") / "suite" / "klej.yaml").tasks.values()]
    where = data_dir or Path("data/klej")
    if any((where / folder).is_dir() for folder in folders):
        return "klej"
    if data_dir is not None:
        raise InputError(
            f"data_dir={data_dir}: holds none of KLEJ's folders ({folders[0]}, …); name its suite with suite=, or drop data_dir"
        )
    return "klej-sample"


def _set(config: DictConfig, key: str, value: Any) -> None:
    known = list(flatten(OmegaConf.to_container(config)))
    if key not in known:
        close = difflib.get_close_matches(key, [*known, "embeddings"], 1) or [
            k for k in known if k.rpartition(".")[2] == key
        ]
        raise InputError(
            f"unknown key {key!r}" + (f"; did you mean {close[0]}?" if close else f"; known keys: {', '.join(known)}")
        )
    if key in LISTS and not isinstance(value, list) and (value is not None or key != "tasks"):
        raise InputError(f"{key}={value}: must be a list, as in {key}={LISTS[key]}")
    try:
        # A number alone where YAML 1.1 sees none (1e-4 has no dot) is read again by OmegaConf's own converter.
        OmegaConf.update(config, key, value)
    except OmegaConfBaseException as error:
        raise InputError(f"{key}={value}: {str(error).splitlines()[0]}") from None


def flatten(tree: Any, prefix: str = "") -> dict[str, Any]:
    """A nested dictionary as one of dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def run_dir(config: Config, suite: Suite) -> Path:
    """Where the run's results go: `run_dir`, or a folder of its own below `runs_dir`."""
    name = f"{config.embeddings.name}-{config.variant}" if config.method == "lstm" else config.method
    return Path(config.run_dir or f"{config.runs_dir}/{suite.name}/{name}")


def data_dir(config: Config, suite: Suite) -> Path:
    """Where the suite's data lies."""
    return Path(config.data_dir or f"data/{suite.name}")


def flatten_config(config: Config) -> dict[str, Any]:
    """Every key of a configuration by its dotted name."""
    return flatten(OmegaConf.to_container(OmegaConf.structured(config)))


def save_config(config: Config, path: Path) -> None:
    """Write the configuration as YAML, whole or not at all."""
    write_text(path, OmegaConf.to_yaml(OmegaConf.structured(config)))


def read_config(path: Path) -> Config:
    """Read what `save_config` wrote. Raises InputError if it is not that."""
    if not path.exists():
        raise InputError(f"{path}: no such file; is {path.parent} a run folder?")
    try:
        return cast(Config, OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(Config), read_yaml(path))))
    except OmegaConfBaseException as error:
        raise InputError(f"{path}: not a run's configuration: {str(error).splitlines()[0]}") from None


def differences(one: Config, other: Config) -> list[str]:
    """The keys in which two configurations differ, as "key: one's value there, other's here".

    What makes no difference to the results (INDIFFERENT) does not count.
    """
    a, b = flatten_config(one), flatten_config(other)
    return [
        f"{key}: {a.get(key)} there, {b.get(key)} here"
        for key in a | b
        if a.get(key) != b.get(key) and key not in INDIFFERENT
    ]
