"""The registry entries of sentence encoders. They import what computes only when an encoder is opened."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.lazy import lazy
from mtl.encoders.encoder import Choices, EncoderKind

CENTRE = (False, True)


def _run_choices() -> Choices:
    from mtl.model.encoder import POOLINGS

    return Choices({"pooling": tuple(POOLINGS), "centre": CENTRE}, _fit_run)


def _fit_run(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Only centring reads the run's data."""
    return settings if settings.get("centre") else _without(settings, "data_dir")


def _average_choices() -> Choices:
    from mtl.encoders.average import POOLINGS

    return Choices({"pooling": tuple(POOLINGS), "centre": CENTRE}, _fit_average)


def _fit_average(settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Only centring and weights read texts, and only a mean has weights. Raises InputError for centring without texts."""
    from mtl.encoders.average import NEEDS_TEXTS

    if settings.get("centre") and not (settings.get("texts") or settings.get("suite")):
        raise InputError(NEEDS_TEXTS)
    weighted = settings.get("weighting", "none") != "none"
    if weighted and settings.get("pooling") == "max":
        return None
    return settings if weighted or settings.get("centre") else _without(settings, "texts")


def _transformer_choices() -> Choices:
    from mtl.model.encoder import POOLINGS

    return Choices({"pooling": tuple(sorted(POOLINGS, reverse=True))})


def _without(settings: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {other: value for other, value in settings.items() if other != key}


RUN = EncoderKind(
    name="the folder of a finished run",
    takes=lambda name: Path(name).is_dir(),
    open=lazy("mtl.encoders.run:open_run"),
    choices=_run_choices,
)
AVERAGE = EncoderKind(
    name="average",
    takes=lambda name: name == "average",
    open=lazy("mtl.encoders.average:open_average"),
    choices=_average_choices,
)
TRANSFORMER = EncoderKind(
    name="transformer",
    takes=lambda name: name == "transformer",
    open=lazy("mtl.encoders.transformer:open_transformer"),
    choices=_transformer_choices,
)
