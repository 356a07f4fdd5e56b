"""What a configuration's values may be, beyond their types."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mtl.errors import InputError

if TYPE_CHECKING:
    from mtl.config.load import Config, EmbeddingsConfig

# Keys of each kind of embeddings, beside name and dropout, and whether they need a value.
EMBEDDINGS = {
    "random": {"dim": True, "trainable": True, "min_count": True, "init_std": True},
    "fasttext": {"path": False, "dim": False, "trainable": True, "min_count": True},
    "elmo": {"path": False, "precision": True, "exact": True, "cache": True},
}

METHODS = ("lstm", "random", "constant", "overlap", "svm", "tree", "forest")
FORMER_NAMES = {"majority": "constant"}  # of methods; they still name the same method

# Keys of methods other than the LSTM, or what they begin with.
FLOOR_KEYS = (
    "suite",
    "data_dir",
    "cache_dir",
    "run_dir",
    "runs_dir",
    "tasks",
    "seeds",
    "seeds_in_parallel",
    "max_length",
    "held_out",
    "trainer.threads",
    "submission.",
    "floor.",
)

POSITIVE = [
    "seeds_in_parallel",
    "max_length",
    "encoder.hidden_size",
    "encoder.num_layers",
    "head.hidden_size",
    "head.attention_size",
    "pretrain.max_steps",
    "pretrain.validate_every",
    "pretrain.patience",
    "pretrain.batch_size",
    "pretrain.learning_rate",
    "pretrain.gradient_clip",
    "finetune.max_epochs",
    "finetune.patience",
    "finetune.batch_size",
    "finetune.learning_rate",
    "finetune.gradient_clip",
    "floor.min_count",
    "floor.max_features",
]
SHARES = ("embeddings.dropout", "encoder.dropout", "head.dropout")  # at least 0, less than 1
CHOICES = {
    "submission.header": ("task", "target"),
    "pretrain.checkpoint": ("best", "last"),
    "trainer.accelerator": ("auto", "cpu", "gpu", "cuda", "mps"),
    "embeddings.precision": (None, "float16", "float32"),
    "trainer.precision": ("32-true", "16-mixed", "bf16-mixed"),
}


def check_keys(method: str, given: Iterable[str]) -> None:
    """Raise InputError for a method that there is not, and for a given key that the method does not read."""
    if method not in METHODS:
        raise InputError(f"method={method}: must be one of {', '.join(METHODS)}")
    for key in given:
        if method == "lstm" and key.startswith("floor."):
            raise InputError(f"{key}: method lstm does not read it; set method=, or drop it")
        if method != "lstm" and not key.startswith(FLOOR_KEYS):
            raise InputError(f"{key}: method {method} does not read it; drop it")


def check(config: "Config", values: dict[str, Any]) -> None:
    """Raise InputError for a value of the right type that makes no sense.

    values: the same configuration by dotted keys.
    """
    if missing := [key for key, value in values.items() if value == "???"]:
        raise InputError(f"{missing[0]}: has no value")
    for key in POSITIVE:
        if not values[key] > 0:
            raise InputError(f"{key}={values[key]}: must be greater than 0")
    for key in SHARES:
        if not 0 <= values[key] < 1:
            raise InputError(f"{key}={values[key]}: must be at least 0 and less than 1")
    for key in ("pretrain", "finetune"):
        final, first = values[f"{key}.final_learning_rate"], values[f"{key}.learning_rate"]
        if not 0 <= final <= first:
            raise InputError(f"{key}.final_learning_rate={final}: must lie between 0 and {key}.learning_rate={first}")
    for key, choices in CHOICES.items():
        if values[key] not in choices:
            raise InputError(f"{key}={values[key]}: must be one of {', '.join(filter(None, choices))}")
    for key in ("embeddings.dim", "embeddings.min_count", "trainer.threads"):
        if values[key] is not None and values[key] < 1:
            raise InputError(f"{key}={values[key]}: must be at least 1")
    if config.embeddings.init_std is not None and not config.embeddings.init_std > 0:
        raise InputError(f"embeddings.init_std={config.embeddings.init_std}: must be greater than 0")
    if config.finetune.encoder_dropout and config.finetune.train_encoder:
        raise InputError(
            "finetune.encoder_dropout=True: is for a frozen encoder; finetune.train_encoder=True trains it"
        )
    if not 0 < config.held_out < 1:
        raise InputError(f"held_out={config.held_out}: must lie between 0 and 1")
    if (
        not config.seeds
        or len(set(config.seeds)) < len(config.seeds)
        or not 0 <= min(config.seeds) <= max(config.seeds) < 2**32
    ):
        raise InputError(f"seeds={config.seeds}: must be different whole numbers from 0 to {2**32 - 1}, as in [1,2,3]")
    for key in ("word_ngrams", "char_ngrams"):
        span = getattr(config.floor, key)
        if len(span) != 2 or not 1 <= span[0] <= span[1]:
            raise InputError(f"floor.{key}={span}: must be [shortest, longest]")
    for key, tried in config.floor.grid.items():
        if not isinstance(tried, list) or not tried:
            raise InputError(f"floor.grid.{key}={tried}: must be a list of values to try, as in [0.1,1]")
    _check_embeddings(config.embeddings)


def _check_embeddings(config: "EmbeddingsConfig") -> None:
    """Raise InputError for a kind that there is not, or a key that its kind does not have or lacks."""
    keys = EMBEDDINGS.get(config.name)
    if keys is None:
        raise InputError(f"embeddings.name={config.name}: must be one of {', '.join(EMBEDDINGS)}")
    for key, value in vars(config).items():
        if key in ("name", "dropout"):
            continue
        if key not in keys and value is not None:
            kinds = " or ".join(kind for kind, theirs in EMBEDDINGS.items() if key in theirs)
            raise InputError(
                f"embeddings.{key}={value}: {config.name} embeddings have no {key}; set embeddings={kinds}"
            )
        if keys.get(key) and value is None:
            raise InputError(f"embeddings.{key}: {config.name} embeddings need a value")
