"""The configuration of a run, as typed values. configs/baseline.yaml has each key with its default and what it means."""

import math
import re
from dataclasses import asdict, dataclass
from functools import reduce
from typing import Any

from omegaconf import MISSING

from mtl.base.errors import InputError
from mtl.settings.bounds import (
    AT_LEAST_ONE,
    LAYERS,
    NOT_NEGATIVE,
    PART,
    POSITIVE,
    SHARE,
    SIZE,
    ZERO_TO_ONE,
    Interval,
    bounded,
    check_bounds,
    check_numbers,
    one_of,
)

PAPER = "paper"  # the name of the default architecture and of the default preset


@dataclass
class EmbedderOptions:
    """The keys that all kinds of embeddings have; each kind adds its own keys (`mtl.embedders.interface.EmbedderKind`)."""

    name: str = MISSING
    dropout: float = bounded(SHARE)


@dataclass
class EncoderConfig:
    """The shared encoder."""

    hidden_size: int = bounded(SIZE)
    num_layers: int = bounded(LAYERS)
    dropout: float = bounded(SHARE)
    join_input: bool = MISSING


@dataclass
class HeadConfig:
    """The heads of the tasks."""

    hidden_size: int = bounded(SIZE)
    attention: bool = MISSING
    attention_size: int = bounded(SIZE)
    dropout: float = bounded(SHARE)
    projection: int | None = bounded(SIZE)
    overlap: bool = MISSING
    linear: bool = MISSING
    pair: str = one_of("features", "cosine")


@dataclass
class OptimizerConfig:
    """The keys that both stages of training have."""

    batch_size: int = bounded(POSITIVE)
    learning_rate: float = bounded(POSITIVE)
    final_learning_rate: float = MISSING
    gradient_clip: float = bounded(POSITIVE)
    patience: int = bounded(POSITIVE)


@dataclass
class PretrainConfig(OptimizerConfig):
    """Stage 1: the encoder and all heads together."""

    max_steps: int = bounded(POSITIVE)
    validate_every: int = bounded(POSITIVE)
    checkpoint: str = one_of("best", "last")
    warmup_steps: int = bounded(NOT_NEGATIVE)
    sampling: float = bounded(ZERO_TO_ONE)

    def check(self) -> None:
        check_final_rate("pretrain", self.learning_rate, self.final_learning_rate)


@dataclass
class FinetuneConfig(OptimizerConfig):
    """Stage 2: the head of each task."""

    max_epochs: int = bounded(POSITIVE)
    train_encoder: bool = MISSING
    encoder_dropout: bool = MISSING
    token_outputs: str = one_of("float32", "float16", "recompute")
    threshold: str = one_of("argmax", "dev", "bagged")

    def check(self) -> None:
        check_final_rate("finetune", self.learning_rate, self.final_learning_rate)
        if self.encoder_dropout and self.train_encoder:
            raise InputError(
                "is for a frozen encoder; finetune.train_encoder=True trains it",
                key="finetune.encoder_dropout",
                value="True",
            )


@dataclass
class LossConfig:
    """The losses of the heads."""

    class_weights: float = bounded(ZERO_TO_ONE)
    choice: str = one_of("candidates", "pairs")


@dataclass
class DistillConfig:
    """Learning from the outputs of other models (Hinton et al. 2015; Tang et al. 2019). Only the LSTM reads this.

    Attributes:
        run: the folder of a finished run whose models are kept; None: from the targets alone.
        weight: of the loss against their outputs; the loss against the targets has the rest.
        temperature: see `mtl.tasks.target_kind.HeadTargets.soft_loss`.
        texts: text files whose lines are further rows, without targets.
        rows: the most rows that a task gets of them.
        augment: how many variants of each training row, with words left out, are further rows without targets.
    """

    run: str | None = MISSING
    weight: float = bounded(ZERO_TO_ONE)
    temperature: float = bounded(POSITIVE)
    texts: list[str] = MISSING
    rows: int = bounded(POSITIVE)
    augment: int = bounded(NOT_NEGATIVE)

    def check(self) -> None:
        for key, value in (("texts", self.texts), ("augment", self.augment)):
            if value and self.run is None:
                raise InputError("needs a teacher: set distill.run=, or drop it", key=f"distill.{key}", value=value)


@dataclass
class TrainerConfig:
    """The device, the precision and the number of threads to train with."""

    accelerator: str = one_of("auto", "cpu", "gpu", "cuda", "mps")
    precision: str = one_of("32-true", "16-mixed", "bf16-mixed")
    force_precision: bool = False
    threads: int | None = bounded(AT_LEAST_ONE, None)


@dataclass
class FloorConfig:
    """Floors (`mtl.methods.floors`) read this; the linear models of heads (`mtl.methods.lstm.linear`) read its n-grams.

    Attributes:
        grid: settings of scikit-learn's estimator, each with the values to try on dev, or None for the estimator's default.
        train_rows: by task id, the largest number of training rows to use.
    """

    word_ngrams: list[int] = MISSING
    char_ngrams: list[int] = MISSING
    min_count: int = bounded(POSITIVE)
    max_features: int = bounded(POSITIVE)
    grid: dict[str, Any] = MISSING
    features: str = one_of("pair", "joined")
    vectorizers: list[str] = MISSING
    separator: str = MISSING
    train_rows: dict[str, int] = MISSING
    choice: str = one_of("candidates", "pairs")
    keep: bool = MISSING

    def check(self) -> None:
        for key in ("word_ngrams", "char_ngrams"):
            span = getattr(self, key)
            if len(span) != 2 or not 1 <= span[0] <= span[1]:
                raise InputError("must be [shortest, longest]", key=f"floor.{key}", value=span)
        for key, values in self.grid.items():
            if values is not None and (not isinstance(values, list) or not values):
                raise InputError(
                    "must be a list of values to try, as in [0.1,1], or null for the default",
                    key=f"floor.grid.{key}",
                    value=values,
                )
        if not self.vectorizers:
            raise InputError("must name one or more, as in [counts-1-2,tfidf-1-3]", key="floor.vectorizers", value="[]")
        for name in self.vectorizers:
            lengths = re.fullmatch(r"(?:counts|tfidf)-([1-9])-([1-9])", name)
            if not lengths or lengths[1] > lengths[2]:
                raise InputError(
                    f"{name!r} must be counts or tfidf with its shortest and longest n-gram, as in tfidf-1-2",
                    key="floor.vectorizers",
                )
        for task, rows in self.train_rows.items():
            if not AT_LEAST_ONE.holds(rows):
                raise InputError(AT_LEAST_ONE.problem, key=f"floor.train_rows.{task}", value=rows)


@dataclass
class WordVectorsConfig:
    """Only the method `word_vectors` reads this."""

    number: str = one_of("cosine", "line")
    algebra: str = one_of("b-a+c", "a-b+c")
    exclude_question: bool = MISSING
    ignore_case: bool = MISSING


@dataclass
class StaticConfig:
    """Only the method `static` reads this.

    Attributes:
        path: the folder of a transformer or a model2vec model, or a name on the Hub; None: word vectors.
    """

    path: str | None = MISSING
    weighting: str = one_of("none", "tfidf", "sif")


@dataclass
class LeadConfig:
    """Only the method `lead` reads this."""

    sentences: int | None = bounded(AT_LEAST_ONE)


@dataclass
class ImportedConfig:
    """What `mtl import` says of a system and its predictions; only the method `imported` reads this. None: not stated.

    Attributes:
        predictions: for each seed the path of a zip or a folder.
        labels: by task id, the label that each spelling of an answer means (`mtl.submissions.answers`).
        labels_sha256: of the file of these labels; None: they were given without one.
        rows: by task id, the lines of the rows that the predictions are scored on; a task that is not named is scored on all.
        notes: what else tables and reports say of the predictions.
        text: what it was trained on.
        seconds: the seconds of the training of a seed.
    """

    predictions: list[str] = MISSING
    labels: dict[str, dict[str, str]] = MISSING
    labels_sha256: str | None = MISSING
    rows: dict[str, list[int]] = MISSING
    notes: list[str] | None = MISSING
    title: str | None = MISSING
    family: str | None = MISSING
    parameters: int | None = bounded(NOT_NEGATIVE)
    seconds: float | None = bounded(NOT_NEGATIVE)
    text: str | None = MISSING
    hardware: str | None = MISSING
    link: str | None = MISSING
    license: str | None = MISSING


@dataclass
class EnsembleConfig:
    """Only the method `ensemble` reads this.

    Attributes:
        runs: the folders of finished runs of the same suite whose models are kept.
        by_seed: whether each seed of the ensemble averages the models of this seed alone.
    """

    runs: list[str] = MISSING
    by_seed: bool = MISSING


@dataclass
class TransformerConfig:
    """Only the method `transformer` reads this. The defaults are KLEJ's protocol."""

    path: str | None = MISSING
    tokenizer: str | None = MISSING
    keep: bool = MISSING
    epochs: int = bounded(POSITIVE)
    batch_size: int = bounded(POSITIVE)
    accumulate: int = bounded(POSITIVE)
    number_loss: str = one_of("raw", "scaled")
    learning_rate: float = bounded(POSITIVE)
    final_learning_rate: float = MISSING
    warmup: float = bounded(NOT_NEGATIVE)
    weight_decay: float = bounded(NOT_NEGATIVE)
    gradient_clip: float = bounded(POSITIVE)
    checkpoint: str = one_of("best", "last")
    patience: int | None = bounded(AT_LEAST_ONE)
    layer_decay: float = bounded(Interval(0, 1, open_low=True))
    freeze: int = bounded(NOT_NEGATIVE)
    gradient_checkpointing: bool = MISSING
    joint: bool = MISSING
    joint_epochs: int = bounded(POSITIVE)

    @property
    def rows_at_once(self) -> int:
        """The largest number of rows that are computed together if each row has one input."""
        return self.batch_size // self.accumulate

    def check(self) -> None:
        if self.warmup >= 1 and self.warmup != int(self.warmup):
            raise InputError(
                "must be a whole number of steps, or a share below 1", key="transformer.warmup", value=self.warmup
            )
        if self.batch_size % self.accumulate:
            raise InputError(
                f"must divide transformer.batch_size={self.batch_size}",
                key="transformer.accumulate",
                value=self.accumulate,
            )
        check_final_rate("transformer", self.learning_rate, self.final_learning_rate)
        if self.patience is not None and self.checkpoint == "last":
            raise InputError(
                "is for transformer.checkpoint=best; with checkpoint=last, all epochs are trained",
                key="transformer.patience",
                value=self.patience,
            )


def check_final_rate(section: str, rate: float, final_rate: float) -> None:
    """Raise InputError unless the last learning rate lies between 0 and the first one."""
    if not 0 <= final_rate <= rate:
        raise InputError(
            f"must lie between 0 and {section}.learning_rate={rate}",
            key=f"{section}.final_learning_rate",
            value=final_rate,
        )


@dataclass
class ResourcesConfig:
    """What each seed asks of the machine that trains it.

    Attributes:
        gpu: a share of one GPU, or a whole number of GPUs; None for an equal share.
        memory: GB; None: an equal share.
    """

    gpu: float | None = MISSING
    memory: float | None = MISSING

    @property
    def memory_bytes(self) -> int | None:
        """The memory in bytes."""
        return None if self.memory is None else round(self.memory * 1e9)

    def check(self) -> None:
        gpu, memory = self.gpu, self.memory
        if gpu is not None and not (gpu >= 0 and (gpu.is_integer() or (gpu < 1 and gpu == round(gpu, 4)))):
            raise InputError(
                "must be a share from 0 to 1 with at most four decimals, or a whole number of GPUs",
                key="resources.gpu",
                value=gpu,
            )
        if memory is not None and not (memory >= 1e-9 and math.isfinite(memory * 1e9)):
            raise InputError("must be a number of GB, at least 1e-9 (one byte)", key="resources.memory", value=memory)


@dataclass
class SubmissionConfig:
    """Files for a leaderboard."""

    header: str = one_of("task", "target")
    name: str | None = MISSING

    def check(self) -> None:
        name = self.name
        if name is not None and (not name.strip(" .") or not name.isprintable() or name[0] == "." or len(name) > 100):
            raise InputError(
                "names a file; use 1 to 100 printable characters, the first no dot", key="submission.name", value=name
            )


@dataclass
class Config:
    """The whole configuration of a run."""

    suite: str = MISSING
    method: str = MISSING
    embeddings: EmbedderOptions = MISSING
    variant: str = MISSING
    architecture: str = MISSING
    preset: str = MISSING
    boundary_words: bool = MISSING
    data_dir: str | None = MISSING
    embeddings_dir: str = MISSING
    cache_dir: str = MISSING
    run_dir: str | None = MISSING
    runs_dir: str = MISSING
    tasks: list[str] | None = MISSING
    seeds: list[int] = MISSING
    seeds_in_parallel: int | None = bounded(AT_LEAST_ONE)
    engine: str = one_of("processes", "ray")
    resources: ResourcesConfig = MISSING
    max_length: int = bounded(POSITIVE)
    held_out: float = bounded(PART)
    choose_on_repeats: bool = MISSING
    encoder: EncoderConfig = MISSING
    head: HeadConfig = MISSING
    loss: LossConfig = MISSING
    distill: DistillConfig = MISSING
    pretrain: PretrainConfig = MISSING
    finetune: FinetuneConfig = MISSING
    trainer: TrainerConfig = MISSING
    floor: FloorConfig = MISSING
    word_vectors: WordVectorsConfig = MISSING
    static: StaticConfig = MISSING
    lead: LeadConfig = MISSING
    imported: ImportedConfig = MISSING
    ensemble: EnsembleConfig = MISSING
    transformer: TransformerConfig = MISSING
    submission: SubmissionConfig = MISSING

    @property
    def seeds_at_once(self) -> int:
        """The most seeds of the run that are trained at the same time."""
        all_at_once = len(self.seeds)
        return min(self.seeds_in_parallel or (1 if self.engine == "processes" else all_at_once), all_at_once)

    @property
    def runs_apart(self) -> bool:
        """Whether seeds run in processes of their own, not in that of the command."""
        return self.engine != "processes" or (self.seeds_in_parallel or 1) > 1

    def check(self) -> None:
        seeds = self.seeds
        if not seeds or len(set(seeds)) < len(seeds) or not 0 <= min(seeds) <= max(seeds) < 2**32:
            raise InputError(
                f"must be different whole numbers from 0 to {2**32 - 1}, as in [1,2,3]", key="seeds", value=seeds
            )


def check_config(config: Config) -> None:
    """Raise InputError for a value of the right type that makes no sense."""
    for key, example in LISTS.items():
        values: Any = reduce(getattr, key.split("."), config)
        if any(isinstance(value, list | dict) for value in values or ()):  # which OmegaConf accepts
            raise InputError(f"must be a list of single values, as in {key}={example}", key=key, value=values)
    check_numbers(asdict(config))
    check_bounds(config)


# Keys that choose a file of settings, and the suite. Only the command line and sweeps set them: the chosen file is a layer of its own.
CHOICES = ("suite", "method", "variant", "architecture", "preset")

# Keys that say where the vectors or the transformer are that a run starts from.
SOURCES = ("embeddings.path", "transformer.path", "transformer.tokenizer", "static.path")
# Keys that say where files are. What the files hold is compared by content (`mtl.runs.folder`).
LOCATIONS = (
    *(
        "data_dir",
        "embeddings_dir",
        "cache_dir",
        "run_dir",
        "runs_dir",
        "embeddings.cache",
        "imported.predictions",
        "ensemble.runs",
        "distill.run",
        "distill.texts",
    ),
    *SOURCES,
)
# Keys that do not change the results: locations, how and where seeds run, whether weights are kept, and keys whose effects, the
# precision that is used and the labels in a file, are compared themselves (`mtl.runs.folder`).
INDIFFERENT = (
    *LOCATIONS,
    *(
        "seeds_in_parallel",
        "engine",
        "resources.gpu",
        "resources.memory",
        "transformer.keep",
        "floor.keep",
        "trainer.force_precision",
        "imported.labels_sha256",
    ),
)

# Keys that hold lists, with an example of each.
LISTS = {
    "seeds": "[1,2,3]",
    "tasks": "[cbd,dyk]",
    "floor.word_ngrams": "[1,2]",
    "floor.char_ngrams": "[2,5]",
    "floor.vectorizers": "[counts-1-2,tfidf-1-3]",
    "imported.predictions": "[seed-1.zip,seed-2.zip]",
    "imported.notes": "[asked twice]",
    "ensemble.runs": "[runs/a,runs/b]",
    "distill.texts": "[novels.txt.gz]",
}
# Keys that hold one value for each task id.
BY_TASK = ("floor.train_rows", "imported.labels", "imported.rows")
