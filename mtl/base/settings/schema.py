"""The configuration of a run, as typed values. configs/baseline.yaml has each key with its default and what it means; a default here is for runs
that were saved before there was the key. `mtl.base.typed.typed` makes a section, and calls its `check` for values that do not go together."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.typed import AT_LEAST_ONE, LAYERS, NOT_NEGATIVE, PART, SHARE, SIZE, declared_keys, notes_of, typed

POSITIVE = Meta(gt=0)
ZERO_TO_ONE = Meta(ge=0, le=1)
LOGGERS = ("auto", "csv", "tensorboard", "wandb", "mlflow", "none")
PAPER = "paper"  # the name of the default architecture and of the default preset


class Role(Enum):
    """What else a key is, as its type says."""

    CHOICE = auto()  # chooses a file of settings, or the suite: only the command line and sweeps set it
    SOURCE = auto()  # where the vectors or the transformer are that a run starts from
    LOCATION = auto()  # where other files are
    INDIFFERENT = auto()  # does not change the results
    CODE = auto()  # may name code that runs: no file of settings does so


@dataclass(kw_only=True)
class EmbedderOptions:
    """The keys that all kinds of embeddings have; each kind adds its own keys (`mtl.embedders.interface.EmbedderKind`)."""

    name: str
    dropout: Annotated[float, SHARE] = 0.2


@dataclass
class EncoderConfig:
    """The shared encoder."""

    hidden_size: Annotated[int, SIZE]
    num_layers: Annotated[int, LAYERS]
    dropout: Annotated[float, SHARE]
    join_input: bool


@dataclass
class HeadConfig:
    """The heads of the tasks."""

    hidden_size: Annotated[int, SIZE]
    attention: bool
    attention_size: Annotated[int, SIZE]
    dropout: Annotated[float, SHARE]
    projection: Annotated[int, SIZE] | None
    overlap: bool
    linear: bool
    pair: Literal["features", "cosine"]
    crf: bool = False


@dataclass
class OptimizerConfig:
    """The keys that both stages of training have."""

    batch_size: Annotated[int, POSITIVE]
    learning_rate: Annotated[float, POSITIVE]
    final_learning_rate: float
    gradient_clip: Annotated[float, POSITIVE]
    patience: Annotated[int, POSITIVE]

    def check(self) -> None:
        rate, final = self.learning_rate, self.final_learning_rate
        if not 0 <= final <= rate:
            raise InputError(f"must lie between 0 and learning_rate={rate}", key="final_learning_rate", value=final)


@dataclass
class PretrainConfig(OptimizerConfig):
    """Stage 1: the encoder and all heads together."""

    max_steps: Annotated[int, POSITIVE]
    validate_every: Annotated[int, POSITIVE]
    sampling: Annotated[float, ZERO_TO_ONE]


@dataclass
class FinetuneConfig(OptimizerConfig):
    """Stage 2: the head of each task."""

    max_epochs: Annotated[int, POSITIVE]
    train_encoder: bool
    token_outputs: Literal["float32", "float16"]
    threshold: Literal["argmax", "dev", "bagged"]


@dataclass
class LossConfig:
    """The losses of the heads."""

    class_weights: Annotated[float, ZERO_TO_ONE]
    choice: Literal["candidates", "pairs"]


@dataclass
class TrainerConfig:
    """The device, the precision and the number of threads to train with."""

    accelerator: Literal["auto", "cpu", "gpu", "cuda", "mps"]
    precision: Literal["32-true", "16-mixed", "bf16-mixed"]
    force_precision: Annotated[bool, Role.INDIFFERENT] = False
    threads: Annotated[int, AT_LEAST_ONE] | None = None
    logger: Annotated[Any, Role.INDIFFERENT, Role.CODE] = "auto"
    callbacks: Annotated[list[str] | None, Role.CODE, Meta(examples=["[package.module:Class]"])] = None

    def check(self) -> None:
        if isinstance(self.logger, bool):  # as Lightning's own logger=
            self.logger = "auto" if self.logger else "none"
        if not isinstance(self.logger, str) or (self.logger not in LOGGERS and ":" not in self.logger):
            message = f"must be one of {', '.join(LOGGERS)}, or a class, as in package.module:Class"
            raise InputError(message, key="logger", value=self.logger)
        for name in self.callbacks or ():
            if not all(name.partition(":")):
                raise InputError("must name a class, as in package.module:Class", key="callbacks", value=name)


@dataclass
class FloorConfig:
    """Floors (`mtl.methods.floors`) read this; the linear models of heads (`mtl.methods.lstm.linear`) read its `min_count` and `max_features`."""

    min_count: Annotated[int, POSITIVE]
    max_features: Annotated[int, POSITIVE]
    grid: dict[str, Any]
    features: Literal["pair", "joined"]
    train_rows: dict[str, Annotated[int, AT_LEAST_ONE]]
    choice: Literal["candidates", "pairs"]
    keep: Annotated[bool | None, Role.INDIFFERENT]

    def check(self) -> None:
        for key, values in self.grid.items():
            if values is not None and (not isinstance(values, list) or not values):
                message = "must be a list of values to try, as in [0.1,1], or null for the default"
                raise InputError(message, key=f"grid.{key}", value=values)


@dataclass
class WordVectorsConfig:
    """Only the method `word_vectors` reads this."""

    algebra: Literal["b-a+c", "a-b+c"]


@dataclass
class StaticConfig:
    """Only the method `static` reads this."""

    path: Annotated[str | None, Role.SOURCE]


@dataclass
class System:
    """What is known of a system of others. None: not stated."""

    title: str | None = None
    family: str | None = None
    parameters: Annotated[int, NOT_NEGATIVE] | None = None
    seconds: Annotated[float, NOT_NEGATIVE] | None = None
    text: str | None = None
    hardware: str | None = None
    link: str | None = None
    license: str | None = None
    held_out_unseen: bool | None = None


@dataclass(kw_only=True)
class ImportedConfig(System):
    """What `mtl import` says of a system and its predictions; only the method `imported` reads this."""

    predictions: Annotated[list[str], Role.LOCATION, Meta(examples=["[seed-1.zip,seed-2.zip]"])]
    labels: dict[str, dict[str, str]]
    labels_sha256: Annotated[str | None, Role.INDIFFERENT]
    rows: dict[str, list[int]]
    notes: Annotated[list[str] | None, Meta(examples=["[asked twice]"])]


@dataclass
class EnsembleConfig:
    """Only the method `ensemble` reads this."""

    runs: Annotated[list[str], Role.LOCATION, Meta(examples=["[runs/a,runs/b]"])]
    by_seed: bool


@dataclass
class TransformerConfig:
    """Only the method `transformer` reads this. Its defaults in configs/baseline.yaml are KLEJ's protocol."""

    path: Annotated[str | None, Role.SOURCE]
    tokenizer: Annotated[str | None, Role.SOURCE]
    keep: Annotated[bool, Role.INDIFFERENT]
    epochs: Annotated[int, POSITIVE]
    batch_size: Annotated[int, POSITIVE]
    accumulate: Annotated[int, POSITIVE]
    number_loss: Literal["raw", "scaled"]
    learning_rate: Annotated[float, POSITIVE]
    warmup: Annotated[float, NOT_NEGATIVE]
    weight_decay: Annotated[float, NOT_NEGATIVE]
    gradient_clip: Annotated[float, POSITIVE]
    checkpoint: Literal["best", "last"]
    patience: Annotated[int, AT_LEAST_ONE] | None
    gradient_checkpointing: bool

    @property
    def rows_at_once(self) -> int:
        """The largest number of rows that are computed together if each row has one input."""
        return self.batch_size // self.accumulate

    def check(self) -> None:
        if self.warmup >= 1 and self.warmup != int(self.warmup):
            raise InputError("must be a whole number of steps, or a share below 1", key="warmup", value=self.warmup)
        if self.batch_size % self.accumulate:
            message = f"must divide transformer.batch_size={self.batch_size}"
            raise InputError(message, key="accumulate", value=self.accumulate)
        if self.patience is not None and self.checkpoint == "last":
            message = "is for transformer.checkpoint=best; with checkpoint=last, all epochs are trained"
            raise InputError(message, key="patience", value=self.patience)


@dataclass
class ResourcesConfig:
    """What each seed asks of the machine that trains it."""

    gpu: Annotated[float | None, Role.INDIFFERENT]
    memory: Annotated[float | None, Role.INDIFFERENT]

    @property
    def memory_bytes(self) -> int | None:
        return None if self.memory is None else round(self.memory * 1e9)

    def check(self) -> None:
        gpu, memory = self.gpu, self.memory
        is_share = gpu is not None and 0 <= gpu < 1 and gpu == round(gpu, 4)
        is_whole = gpu is not None and gpu >= 0 and gpu.is_integer()
        if gpu is not None and not is_share and not is_whole:
            message = "must be a share from 0 to 1 with at most four decimals, or a whole number of GPUs"
            raise InputError(message, key="gpu", value=gpu)
        if memory is not None and not (memory >= 1e-9 and math.isfinite(memory * 1e9)):
            raise InputError("must be a number of GB, at least 1e-9 (one byte)", key="memory", value=memory)


@dataclass
class SubmissionConfig:
    """Files for a leaderboard."""

    header: Literal["task", "target"]
    name: str | None

    def check(self) -> None:
        name = self.name
        if name is not None and (not name.strip(" .") or not name.isprintable() or name[0] == "." or len(name) > 100):
            message = "names a file; use 1 to 100 printable characters, the first no dot"
            raise InputError(message, key="name", value=name)


@dataclass
class Config:
    """The whole configuration of a run."""

    suite: Annotated[str, Role.CHOICE]
    method: Annotated[str, Role.CHOICE]
    embeddings: EmbedderOptions
    variant: Annotated[str, Role.CHOICE]
    architecture: Annotated[str, Role.CHOICE]
    preset: Annotated[str, Role.CHOICE]
    boundary_words: bool
    data_dir: Annotated[str | None, Role.LOCATION]
    embeddings_dir: Annotated[str, Role.LOCATION]
    cache_dir: Annotated[str, Role.LOCATION]
    run_dir: Annotated[str | None, Role.LOCATION]
    runs_dir: Annotated[str, Role.LOCATION]
    tasks: Annotated[list[str] | None, Meta(examples=["[cbd,dyk]"])]
    seeds: Annotated[list[int], Meta(examples=["[1,2,3]"])]
    seeds_in_parallel: Annotated[Annotated[int, AT_LEAST_ONE] | None, Role.INDIFFERENT]
    engine: Annotated[Literal["processes", "ray"], Role.INDIFFERENT]
    resources: ResourcesConfig
    max_length: Annotated[int, POSITIVE]
    held_out: Annotated[float, PART]
    choose_on_repeats: bool
    encoder: EncoderConfig
    head: HeadConfig
    loss: LossConfig
    pretrain: PretrainConfig
    finetune: FinetuneConfig
    trainer: TrainerConfig
    floor: FloorConfig
    word_vectors: WordVectorsConfig
    static: StaticConfig
    imported: ImportedConfig
    ensemble: EnsembleConfig
    transformer: TransformerConfig
    submission: SubmissionConfig
    baselines: Annotated[bool, Role.INDIFFERENT] = True
    choosing_share: Annotated[float, PART] | None = None

    def units_at_once(self, units: int) -> int:
        """How many of these units, such as seeds, an engine executes at once: by default one process, or as many as a cluster has room for."""
        return self.seeds_in_parallel or (1 if self.engine == "processes" else units)

    @property
    def runs_apart(self) -> bool:
        """Whether seeds run in processes of their own, not in that of the command."""
        return self.engine != "processes" or (self.seeds_in_parallel or 1) > 1

    def check(self) -> None:
        seeds = self.seeds
        if not seeds or len(set(seeds)) < len(seeds) or not 0 <= min(seeds) <= max(seeds) < 2**32:
            message = f"must be different whole numbers from 0 to {2**32 - 1}, as in [1,2,3]"
            raise InputError(message, key="seeds", value=seeds)


def config_of(content: Mapping[str, Any], options: type[EmbedderOptions]) -> Config:
    """The configuration that all keys with their values are. Raises InputError as `typed` does."""
    return typed(Config, {**content, "embeddings": typed(options, content.get("embeddings"), "embeddings.")})


def _keys(*roles: Role) -> tuple[str, ...]:
    """The keys with one of these roles."""
    return tuple(key for key, hint in declared_keys(Config) if any(role in notes_of(hint) for role in roles))


CHOICES = _keys(Role.CHOICE)
SOURCES = ("embeddings.path", *_keys(Role.SOURCE))  # the options of embeddings are declared beside each kind of them
LOCATIONS = ("embeddings.cache", *_keys(Role.LOCATION), *SOURCES)
# Keys that do not change the results: locations, whose files are compared by content, how and where seeds run, whether weights are kept, and
# keys whose effects, the precision that is used and the labels in a file, are compared themselves (`mtl.runs.folder`).
INDIFFERENT = (*LOCATIONS, *_keys(Role.INDIFFERENT))
CODE = _keys(Role.CODE)  # keys whose values may name code that runs (`mtl.base.settings.layers.check_names_no_code`)
# Keys that hold one value for each task id.
BY_TASK = tuple(key for key, hint in declared_keys(Config) if get_origin(hint) is dict and get_args(hint)[1] is not Any)
