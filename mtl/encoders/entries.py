"""The registry entries of sentence encoders. They import what computes only when an encoder is opened."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtl.encoders.kind import EncoderKind, SentenceEncoder

CENTRE = (False, True)


def _open_run(name: str, settings: Mapping[str, Any]) -> SentenceEncoder:
    from mtl.encoders.run import open_run

    return open_run(name, settings)


def _run_choices() -> Mapping[str, tuple[Any, ...]]:
    from mtl.model.encoder import POOLINGS

    return {"pooling": tuple(POOLINGS), "centre": CENTRE}


def _open_average(name: str, settings: Mapping[str, Any]) -> SentenceEncoder:
    from mtl.encoders.average import open_average

    return open_average(name, settings)


def _average_choices() -> Mapping[str, tuple[Any, ...]]:
    from mtl.encoders.average_settings import POOLINGS

    return {"pooling": tuple(POOLINGS), "centre": CENTRE}


RUN = EncoderKind(
    name="the folder of a finished run",
    takes=lambda name: Path(name).is_dir(),
    open=_open_run,
    choices=_run_choices,
)
AVERAGE = EncoderKind(
    name="average",
    takes=lambda name: name == "average",
    open=_open_average,
    choices=_average_choices,
)
