"""The configuration of a run, as typed values; configs/baseline.yaml explains each key.

The section `transformer` of the configuration.
"""

import math
import re
from dataclasses import asdict, dataclass, field
from functools import reduce
from typing import Any

from omegaconf import MISSING

from mtl.base.errors import InputError
from mtl.settings.bounds import (
    MOST_LAYERS,
    check_choice,
    check_least,
    check_numbers,
    check_positive,
    check_share,
    check_size,
)


@dataclass
class TransformerConfig:
    """Only the method `transformer` reads this. The defaults are KLEJ's protocol; configs/baseline.yaml explains each key."""

    path: str | None = None
    tokenizer: str | None = None
    keep: bool = False
    epochs: int = 4
    batch_size: int = 32
    accumulate: int = 1
    number_loss: str = "raw"
    learning_rate: float = 2e-5
    final_learning_rate: float = 0.0
    warmup: float = 100
    weight_decay: float = 0.0
    gradient_clip: float = 1.0
    checkpoint: str = "last"
    patience: int | None = None
    layer_decay: float = 1.0
    freeze: int = 0
    gradient_checkpointing: bool = False
    joint: bool = False
    joint_epochs: int = 4

    @property
    def rows_at_once(self) -> int:
        """The most rows with one input each that are computed together."""
        return self.batch_size // self.accumulate

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        check_positive(
            "transformer",
            self,
            ("epochs", "batch_size", "accumulate", "learning_rate", "gradient_clip", "layer_decay", "joint_epochs"),
        )
        check_choice("transformer.checkpoint", self.checkpoint, ("best", "last"))
        check_choice("transformer.number_loss", self.number_loss, ("raw", "scaled"))
        if self.patience is not None:
            check_least("transformer.patience", self.patience)
        for key in ("warmup", "weight_decay", "freeze"):
            if getattr(self, key) < 0:
                raise InputError(f"transformer.{key}={getattr(self, key)}: must be at least 0")
        if self.warmup >= 1 and self.warmup != int(self.warmup):
            raise InputError(f"transformer.warmup={self.warmup}: must be a whole number of steps, or a share below 1")
        if self.layer_decay > 1:
            raise InputError(f"transformer.layer_decay={self.layer_decay}: must be at most 1")
        if self.batch_size % self.accumulate:
            raise InputError(
                f"transformer.accumulate={self.accumulate}: must divide transformer.batch_size={self.batch_size}"
            )
        if not 0 <= self.final_learning_rate <= self.learning_rate:
            raise InputError(
                f"transformer.final_learning_rate={self.final_learning_rate}: must lie between 0 and "
                f"transformer.learning_rate={self.learning_rate}"
            )
        if self.patience is not None and self.checkpoint == "last":
            raise InputError(
                f"transformer.patience={self.patience}: is for transformer.checkpoint=best; with checkpoint=last, all epochs are trained"
            )


PAPER = "paper"  # the name of the default architecture and of the default preset


@dataclass
class EmbedderOptions:
    """The keys that all kinds of embeddings have; each kind adds its own keys (`mtl.embedders.interface.EmbedderKind`)."""

    name: str = MISSING
    dropout: float = MISSING

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        check_share("embeddings.dropout", self.dropout)


@dataclass
class EncoderConfig:
    hidden_size: int = MISSING
    num_layers: int = MISSING
    dropout: float = MISSING
    join_input: bool = False  # older runs do not have this key


@dataclass
class HeadConfig:
    hidden_size: int = MISSING
    attention: bool = MISSING
    attention_size: int = MISSING
    dropout: float = MISSING
    projection: int | None = None  # older runs do not have this key, nor the next ones
    overlap: bool = False
    pair: str = "features"


@dataclass
class OptimizerConfig:
    batch_size: int = MISSING
    learning_rate: float = MISSING
    final_learning_rate: float = MISSING
    gradient_clip: float = MISSING
    patience: int = MISSING

    def check(self, section: str) -> None:
        """Raise InputError for a value that makes no sense. section: the name of this section of the configuration."""
        check_positive(section, self, ("patience", "batch_size", "learning_rate", "gradient_clip"))
        if not 0 <= self.final_learning_rate <= self.learning_rate:
            raise InputError(
                f"{section}.final_learning_rate={self.final_learning_rate}: must lie between 0 and "
                f"{section}.learning_rate={self.learning_rate}"
            )


@dataclass
class PretrainConfig(OptimizerConfig):
    max_steps: int = MISSING
    validate_every: int = MISSING
    checkpoint: str = "best"  # older runs do not have this key, nor the next ones
    warmup_steps: int = 0
    sampling: float = 1.0


@dataclass
class FinetuneConfig(OptimizerConfig):
    max_epochs: int = MISSING
    train_encoder: bool = MISSING
    encoder_dropout: bool = False  # older runs do not have this key, nor the next ones
    token_outputs: str = "float32"
    threshold: str = "argmax"


@dataclass
class LossConfig:
    class_weights: float = 0.0
    choice: str = "candidates"

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        check_choice("loss.choice", self.choice, ("candidates", "pairs"))
        if not 0 <= self.class_weights <= 1:
            raise InputError(f"loss.class_weights={self.class_weights}: must lie between 0 and 1")


@dataclass
class TrainerConfig:
    accelerator: str = MISSING
    precision: str = MISSING
    force_precision: bool = False  # older runs do not have this key
    threads: int | None = None


@dataclass
class FloorConfig:
    """Only floors (`mtl.methods.floors`) read this.

    grid: settings of scikit-learn's estimator, each with the values to try on dev, or None for the estimator's default.
    train_rows: by task id, the most training rows.
    """

    word_ngrams: list[int] = MISSING
    char_ngrams: list[int] = MISSING
    min_count: int = MISSING
    max_features: int = MISSING
    grid: dict[str, Any] = field(default_factory=dict)
    features: str = "pair"  # older runs do not have this key, nor the next ones
    vectorizers: list[str] = field(default_factory=lambda: ["counts-1-2", "counts-1-3", "tfidf-1-2", "tfidf-1-3"])
    separator: str = " [SEP] "
    train_rows: dict[str, int] = field(default_factory=dict)
    choice: str = "candidates"

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        check_positive("floor", self, ("min_count", "max_features"))
        for key in ("word_ngrams", "char_ngrams"):
            span = getattr(self, key)
            if len(span) != 2 or not 1 <= span[0] <= span[1]:
                raise InputError(f"floor.{key}={span}: must be [shortest, longest]")
        for key, tried in self.grid.items():
            if tried is not None and (not isinstance(tried, list) or not tried):
                raise InputError(
                    f"floor.grid.{key}={tried}: must be a list of values to try, as in [0.1,1], or null for the default"
                )
        check_choice("floor.features", self.features, ("pair", "joined"))
        check_choice("floor.choice", self.choice, ("candidates", "pairs"))
        if not self.vectorizers:
            raise InputError("floor.vectorizers=[]: must name one or more, as in [counts-1-2,tfidf-1-3]")
        for name in self.vectorizers:
            found = re.fullmatch(r"(?:counts|tfidf)-([1-9])-([1-9])", name)
            if not found or found[1] > found[2]:
                raise InputError(
                    f"floor.vectorizers: {name!r} must be counts or tfidf with its shortest and longest n-gram, as in tfidf-1-2"
                )
        for task, rows in self.train_rows.items():
            check_least(f"floor.train_rows.{task}", rows)


@dataclass
class WordVectorsConfig:
    """Only the method `word_vectors` reads this."""

    number: str = "cosine"
    algebra: str = "b-a+c"
    exclude_question: bool = True
    ignore_case: bool = False

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        check_choice("word_vectors.number", self.number, ("cosine", "line"))
        check_choice("word_vectors.algebra", self.algebra, ("b-a+c", "a-b+c"))


@dataclass
class LeadConfig:
    """Only the method `lead` reads this."""

    sentences: int | None = None

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        if self.sentences is not None:
            check_least("lead.sentences", self.sentences)


@dataclass
class ResourcesConfig:
    """What each seed asks of the machine that trains it. gpu: the share of a GPU, or a number of them. memory: in GB. None: an equal
    share."""

    gpu: float | None = None
    memory: float | None = None

    @property
    def memory_bytes(self) -> int | None:
        """The memory in bytes."""
        return None if self.memory is None else round(self.memory * 1e9)

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        gpu, memory = self.gpu, self.memory
        if gpu is not None and not (gpu >= 0 and (gpu.is_integer() or (gpu < 1 and gpu == round(gpu, 4)))):
            raise InputError(
                f"resources.gpu={gpu}: must be a share from 0 to 1 with at most four decimals, or a whole number of GPUs"
            )
        if memory is not None and not (memory >= 1e-9 and math.isfinite(memory * 1e9)):
            raise InputError(f"resources.memory={memory}: must be a number of GB, at least 1e-9 (one byte)")


@dataclass
class SubmissionConfig:
    header: str = MISSING
    name: str | None = None  # older runs do not have this key

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        check_choice("submission.header", self.header, ("task", "target"))
        name = self.name
        if name is not None and (not name.strip(" .") or not name.isprintable() or name[0] == "." or len(name) > 100):
            raise InputError(
                f"submission.name={name}: names a file; use 1 to 100 printable characters, the first no dot"
            )


@dataclass
class Config:
    """The whole configuration of a run."""

    suite: str = MISSING
    method: str = MISSING
    embeddings: EmbedderOptions = MISSING
    variant: str = MISSING
    architecture: str = PAPER  # older runs do not have this key, nor the next two
    preset: str = PAPER
    boundary_words: bool = False
    data_dir: str | None = None
    embeddings_dir: str = MISSING
    cache_dir: str = MISSING
    run_dir: str | None = None
    runs_dir: str = MISSING
    tasks: list[str] | None = None
    seeds: list[int] = MISSING
    seeds_in_parallel: int | None = MISSING
    engine: str = "processes"  # older runs do not have this key, nor the next section
    resources: ResourcesConfig = field(default_factory=ResourcesConfig)
    max_length: int = MISSING
    held_out: float = MISSING
    encoder: EncoderConfig = MISSING
    head: HeadConfig = MISSING
    loss: LossConfig = field(default_factory=LossConfig)  # older runs do not have this section
    pretrain: PretrainConfig = MISSING
    finetune: FinetuneConfig = MISSING
    trainer: TrainerConfig = MISSING
    floor: FloorConfig = MISSING
    word_vectors: WordVectorsConfig = field(
        default_factory=WordVectorsConfig
    )  # older runs do not have this section, nor the next two
    lead: LeadConfig = field(default_factory=LeadConfig)
    transformer: TransformerConfig = field(default_factory=TransformerConfig)
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
        """Raise InputError for a value of the right type that makes no sense."""
        for key, example in LISTS.items():
            values: Any = reduce(getattr, key.split("."), self)
            if any(isinstance(value, list | dict) for value in values or ()):  # which OmegaConf accepts
                raise InputError(f"{key}={values}: must be a list of single values, as in {key}={example}")
        check_numbers(asdict(self))
        check_positive("", self, ("max_length",))
        if self.seeds_in_parallel is not None:
            check_least("seeds_in_parallel", self.seeds_in_parallel)
        check_choice("engine", self.engine, ("processes", "ray"))
        self.resources.check()
        check_size("encoder.hidden_size", self.encoder.hidden_size)
        check_size("encoder.num_layers", self.encoder.num_layers, MOST_LAYERS)
        check_size("head.hidden_size", self.head.hidden_size)
        check_size("head.attention_size", self.head.attention_size)
        check_positive("pretrain", self.pretrain, ("max_steps", "validate_every"))
        check_positive("finetune", self.finetune, ("max_epochs",))
        if self.pretrain.warmup_steps < 0:
            raise InputError(f"pretrain.warmup_steps={self.pretrain.warmup_steps}: must be at least 0")
        if not 0 <= self.pretrain.sampling <= 1:
            raise InputError(f"pretrain.sampling={self.pretrain.sampling}: must lie between 0 and 1")
        if self.head.projection is not None:
            check_size("head.projection", self.head.projection)
        check_share("encoder.dropout", self.encoder.dropout)
        check_share("head.dropout", self.head.dropout)
        self.loss.check()
        self.submission.check()
        self.pretrain.check("pretrain")
        self.finetune.check("finetune")
        for key, value, choices in (
            ("pretrain.checkpoint", self.pretrain.checkpoint, ("best", "last")),
            ("head.pair", self.head.pair, ("features", "cosine")),
            ("finetune.token_outputs", self.finetune.token_outputs, ("float32", "float16", "recompute")),
            ("finetune.threshold", self.finetune.threshold, ("argmax", "dev")),
            ("trainer.accelerator", self.trainer.accelerator, ("auto", "cpu", "gpu", "cuda", "mps")),
            ("trainer.precision", self.trainer.precision, ("32-true", "16-mixed", "bf16-mixed")),
        ):
            check_choice(key, value, choices)
        if self.trainer.threads is not None:
            check_least("trainer.threads", self.trainer.threads)
        if self.finetune.encoder_dropout and self.finetune.train_encoder:
            raise InputError(
                "finetune.encoder_dropout=True: is for a frozen encoder; finetune.train_encoder=True trains it"
            )
        if not 0 < self.held_out < 1:
            raise InputError(f"held_out={self.held_out}: must lie between 0 and 1")
        seeds = self.seeds
        if not seeds or len(set(seeds)) < len(seeds) or not 0 <= min(seeds) <= max(seeds) < 2**32:
            raise InputError(f"seeds={seeds}: must be different whole numbers from 0 to {2**32 - 1}, as in [1,2,3]")
        self.floor.check()
        self.word_vectors.check()
        self.lead.check()
        self.transformer.check()
        self.embeddings.check()


# Keys that choose a file of settings, and the suite. Only the command line and sweeps set them: the chosen file is a layer of its own.
CHOICES = ("suite", "method", "variant", "architecture", "preset")

# Keys that say where the vectors or the transformer are that a run starts from.
SOURCES = ("embeddings.path", "transformer.path", "transformer.tokenizer")
# Keys that say where files are. What the files hold is compared by content (`mtl.runs.folder`).
LOCATIONS = (
    *("data_dir", "embeddings_dir", "cache_dir", "run_dir", "runs_dir", "embeddings.cache"),
    *SOURCES,
)
# Keys that do not change the results: locations, how and where seeds run, whether weights are kept, and a key whose effect, the
# precision that is used, is compared itself (`mtl.runs.folder`).
INDIFFERENT = (
    *LOCATIONS,
    *(
        "seeds_in_parallel",
        "engine",
        "resources.gpu",
        "resources.memory",
        "transformer.keep",
        "trainer.force_precision",
    ),
)

# Keys that hold lists, with an example of each.
LISTS = {
    "seeds": "[1,2,3]",
    "tasks": "[cbd,dyk]",
    "floor.word_ngrams": "[1,2]",
    "floor.char_ngrams": "[2,5]",
    "floor.vectorizers": "[counts-1-2,tfidf-1-3]",
}
# Keys that hold one value for each task id.
BY_TASK = ("floor.train_rows",)
