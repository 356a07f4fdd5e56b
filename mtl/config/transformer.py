"""The section `transformer` of the configuration."""

from dataclasses import dataclass

from mtl.config.checks import check_choice, check_least, check_positive
from mtl.errors import InputError


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
