"""A pretrained transformer as an encoder, without a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.settings.schema import TrainerConfig
from mtl.base.typed import AT_LEAST_ONE, typed
from mtl.methods.transformer.entry import short_name
from mtl.methods.transformer.pretrained import open_pretrained
from mtl.methods.transformer.trained import TransformerEncoder
from mtl.vectors.encoders.encoder import FLOAT, Description, ModelEncoder, check_language


@dataclass
class TransformerSettings:
    """The settings of a transformer as an encoder.

    Attributes:
        path: a folder, or a name on the Hugging Face Hub.
        tokenizer: the same for the tokenizer; None: that of `path`.
        language: the language of its texts, as in "pl", for descriptions; None: not said.
        pooling: mean or max of the tokens' vectors.
        max_length: tokens of a text.
        device: where to compute.
    """

    path: str | None = None
    tokenizer: str | None = None
    language: str | None = None
    pooling: Literal["max", "mean"] = "mean"
    max_length: Annotated[int, AT_LEAST_ONE] = 256
    device: str = "cpu"

    def check(self) -> None:
        """Raise InputError for a value that makes no sense, and without a path."""
        if self.path is None:
            message = "has no value; name a folder with a transformer, or one on the Hugging Face Hub"
            raise InputError(message, key="path")
        if self.language is not None:
            check_language(self.language)


def open_transformer(name: str, values: Mapping[str, Any]) -> ModelEncoder:
    """The last layer of the transformer that `path` names, pooled over a text's tokens, in float32.

    Raises InputError for an unknown key, a bad value, and a transformer that cannot be opened.
    """
    settings = typed(TransformerSettings, values)
    device = device_of(settings.device, "device")
    assert settings.path is not None
    pretrained = open_pretrained(settings.path, settings.tokenizer)
    trainer = typed(TrainerConfig, {"accelerator": settings.device, "precision": "32-true"})
    encoder = TransformerEncoder(pretrained, settings.max_length, trainer, device, lambda: pretrained.body)
    changes = [settings.pooling] if settings.pooling != encoder.pooling else []
    short = short_name(settings.path)
    description = Description(
        name="-".join(["transformer", short, *changes]),
        title=", ".join(["Transformer", short, *changes]),
        family="transformer",
        dim=encoder.dim,
        language=settings.language or "",
        parameters=encoder.parameters,
        parameters_without_embeddings=encoder.parameters_without_embeddings,
        memory=FLOAT * encoder.parameters,
        max_length=encoder.length,
        settings=f"pooling {settings.pooling}",
    )
    return ModelEncoder(encoder, settings.pooling, description)
