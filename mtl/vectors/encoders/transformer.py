"""A pretrained transformer as an encoder, without a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.settings.schema import TrainerConfig
from mtl.base.typed import typed
from mtl.methods.transformer.entry import short_name
from mtl.methods.transformer.pretrained import open_pretrained
from mtl.methods.transformer.trained import TransformerEncoder
from mtl.vectors.encoders.encoder import MAX_LENGTH, ModelEncoder, check_language


@dataclass
class TransformerSettings:
    """The settings of a transformer as an encoder."""

    path: str = ""  # a folder, or a name on the Hugging Face Hub
    language: str | None = None  # the language of its texts, as in "pl", for descriptions; None: not said
    device: str = "cpu"  # where to compute

    def check(self) -> None:
        check_language(self.language)
        if not self.path:
            message = "has no value; name a folder with a transformer, or one on the Hugging Face Hub"
            raise InputError(message, key="path")


def open_transformer(name: str, values: Mapping[str, Any]) -> ModelEncoder:
    """The mean of the last layer of the transformer that `path` names over a text's tokens, in float32. Raises InputError
    for an unknown key, a bad value, and a transformer that cannot be opened."""
    settings = typed(TransformerSettings, values)
    device = device_of(settings.device, "device")
    pretrained = open_pretrained(settings.path)
    trainer = typed(TrainerConfig, {"accelerator": settings.device, "precision": "32-true"})
    encoder = TransformerEncoder(pretrained, MAX_LENGTH, trainer, device, lambda: pretrained.body)
    return ModelEncoder(
        encoder,
        "mean",
        name=f"transformer-{short_name(settings.path)}",
        title=f"Transformer, {short_name(settings.path)}",
        family="transformer",
        language=settings.language or "",
        max_length=encoder.length,
        settings="pooling mean",
    )
