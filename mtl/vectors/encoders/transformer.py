"""A pretrained transformer as an encoder, without a run."""

from collections.abc import Mapping
from typing import Any

from mtl.base.device import device_of
from mtl.base.settings.schema import TrainerConfig
from mtl.base.typed import typed
from mtl.methods.transformer.entry import short_name
from mtl.methods.transformer.opening import open_pretrained
from mtl.methods.transformer.trained import TransformerEncoder
from mtl.vectors.encoders.encoder import MAX_LENGTH, ModelEncoder, PretrainedSettings


def open_transformer(values: Mapping[str, Any]) -> ModelEncoder:
    """The mean of the last layer of the transformer that `path` names, in float32. Raises InputError for one that cannot be opened."""
    settings = typed(PretrainedSettings, values)
    device = device_of(settings.device, "device")
    pretrained = open_pretrained(settings.path)
    trainer = typed(TrainerConfig, {"accelerator": settings.device, "precision": "32-true"})
    model = TransformerEncoder(pretrained, MAX_LENGTH, trainer, device, lambda: pretrained.body)
    return ModelEncoder(
        model,
        "mean",
        name=f"transformer-{short_name(settings.path)}",
        title=f"Transformer, {short_name(settings.path)}",
        family="transformer",
        language=settings.language or "",
        max_length=model.length,
        settings="pooling mean",
    )
