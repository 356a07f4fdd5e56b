"""A pretrained transformer as an encoder, without a run."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from mtl.base.device import device_of, exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.settings.schema import TrainerConfig
from mtl.base.typed import AT_LEAST_ONE, typed
from mtl.data.text import encode_blocks
from mtl.methods.transformer.entry import short_name
from mtl.methods.transformer.pretrained import open_pretrained
from mtl.methods.transformer.trained import TransformerEncoder
from mtl.vectors.encoders.encoder import FLOAT, Description, check_language


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


def open_transformer(name: str, settings: Mapping[str, Any]) -> "PlainTransformer":
    """The transformer that `path` names. Raises InputError for an unknown key, a bad value, and one that cannot be opened."""
    return PlainTransformer(typed(TransformerSettings, settings))


class PlainTransformer:
    """`mtl.vectors.encoders.encoder.SentenceEncoder` of a transformer's last layer, pooled over a text's tokens, in float32."""

    def __init__(self, settings: TransformerSettings) -> None:
        """Raises InputError for a transformer that cannot be opened."""
        self.settings = settings
        device = device_of(settings.device, "device")
        assert settings.path is not None
        pretrained = open_pretrained(settings.path, settings.tokenizer)
        trainer = typed(TrainerConfig, {"accelerator": settings.device, "precision": "32-true"})
        self.encoder = TransformerEncoder(pretrained, settings.max_length, trainer, device, lambda: pretrained.body)

    @cached_property
    def description(self) -> Description:
        """What the encoder is."""
        encoder, pooling = self.encoder, self.settings.pooling
        changes = [pooling] if pooling != encoder.pooling else []
        name = short_name(str(self.settings.path))
        return Description(
            name="-".join(["transformer", name, *changes]),
            title=", ".join(["Transformer", name, *changes]),
            family="transformer",
            dim=encoder.dim,
            language=self.settings.language or "",
            parameters=encoder.parameters,
            parameters_without_embeddings=encoder.parameters_without_embeddings,
            memory=FLOAT * encoder.parameters,
            max_length=encoder.length,
            settings=f"pooling {pooling}",
        )

    @exact_arithmetic()
    def encode(self, texts: Sequence[str], progress: bool = False) -> np.ndarray:
        """The vectors of these texts, float32 (texts, dim). Raises InputError for a text that is not in a list."""
        encoder, pooling = self.encoder, self.settings.pooling
        return encode_blocks(texts, lambda block: encoder.encode(block, pooling), encoder.dim, progress)

    @property
    def fingerprint(self) -> str:
        """A hash of weights, tokenizer and settings, but of no path."""
        return hashlib.sha256(f"{self.encoder.fingerprint()} {self.settings.pooling}".encode()).hexdigest()

    def versions(self) -> dict[str, str]:
        """Those of mtl and of the libraries that make tokens."""
        return self.encoder.versions()
