"""Sentence encoders: one registry entry for each kind."""

from collections.abc import Mapping
from typing import Any

from mtl.base.errors import InputError
from mtl.encoders.encoder import EncoderKind, SentenceEncoder
from mtl.encoders.entries import AVERAGE, RUN, TRANSFORMER

# In the order in which a name is looked up.
ENCODERS: dict[str, EncoderKind] = {"average": AVERAGE, "transformer": TRANSFORMER, "run": RUN}


def open_encoder(name: str, settings: Mapping[str, Any]) -> SentenceEncoder:
    """The encoder with this name: a finished run's folder, `average` or `transformer`.

    settings: by dotted keys, as in {"embeddings.path": "vectors.bin"}. Raises InputError for an unknown name or key, a bad value, and
    files that are missing.
    """
    return encoder_kind(name).open(name, settings)


def encoder_kind(name: str) -> EncoderKind:
    """The kind that opens the encoder with this name. Raises InputError for an unknown name."""
    for kind in ENCODERS.values():
        if kind.takes(name):
            return kind
    raise InputError(f"{name}: no such folder; an encoder is {' or '.join(kind.name for kind in ENCODERS.values())}")
