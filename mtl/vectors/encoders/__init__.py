"""Sentence encoders: one registry entry for each kind."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.wings import lazy
from mtl.vectors.encoders.encoder import SentenceEncoder

# By name, what opens an encoder with these settings, by dotted keys. Raises InputError.
ENCODERS: dict[str, Callable[[Mapping[str, Any]], SentenceEncoder]] = {
    "average": lazy("mtl.vectors.encoders.average:open_average"),
    "transformer": lazy("mtl.vectors.encoders.transformer:open_transformer"),
    "sentence_transformer": lazy("mtl.vectors.encoders.sentence_transformer:SentenceTransformerEncoder"),
}
open_run = lazy("mtl.vectors.encoders.run:open_run")


def open_encoder(name: str, settings: Mapping[str, Any]) -> SentenceEncoder:
    """The encoder with this name: a finished run's folder, or a key of ENCODERS. Raises InputError for an unknown name or key, and a bad value."""
    if name in ENCODERS:
        return ENCODERS[name](settings)
    if not Path(name).is_dir():
        kinds = " or ".join([*ENCODERS, "the folder of a finished run"])
        raise InputError(f"no such folder; an encoder is {kinds}", path=name)
    return open_run(name, settings)
