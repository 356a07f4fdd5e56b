"""Sentence encoders: one registry entry for each kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.wings import lazy
from mtl.vectors.encoders.encoder import EncoderKind, SentenceEncoder

ENCODERS = {
    "average": EncoderKind(
        lazy("mtl.vectors.encoders.average:open_average"), {"pooling": ("mean", "max", "both"), "centre": (False, True)}
    ),
    "transformer": EncoderKind(lazy("mtl.vectors.encoders.transformer:open_transformer"), {"pooling": ("mean", "max")}),
    "sentence_transformer": EncoderKind(lazy("mtl.vectors.encoders.sentence_transformer:open_sentence_transformer")),
}
RUN = EncoderKind(lazy("mtl.vectors.encoders.run:open_run"), {"pooling": ("max", "mean"), "centre": (False, True)})


def encoder_kind(name: str) -> EncoderKind:
    """The kind that opens the encoder with this name: that of ENCODERS, or a run's folder. Raises InputError for an unknown name."""
    if name in ENCODERS:
        return ENCODERS[name]
    if Path(name).is_dir():
        return RUN
    kinds = " or ".join([*ENCODERS, "the folder of a finished run"])
    raise InputError(f"no such folder; an encoder is {kinds}", path=name)


def open_encoder(name: str, settings: Mapping[str, Any]) -> SentenceEncoder:
    """The encoder with this name. Raises InputError for an unknown name or key, a bad value, and files that are missing.

    Args:
        name: a finished run's folder, or a key of ENCODERS.
        settings: by dotted keys, as in {"embeddings.path": "vectors.bin"}.
    """
    return encoder_kind(name).open(name, settings)
