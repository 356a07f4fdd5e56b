"""Sections of the configuration with the defaults of configs/baseline.yaml."""

from typing import Any, TypeVar

import yaml

from mtl.base.settings.layers import shipped
from mtl.base.settings.schema import FloorConfig, LossConfig, TransformerConfig

Section = TypeVar("Section", TransformerConfig, LossConfig, FloorConfig)
DEFAULTS = yaml.safe_load((shipped("configs") / "baseline.yaml").read_text(encoding="utf-8"))


def section(kind: type[Section], **changes: Any) -> Section:
    """A section with these values; all others are the defaults."""
    return kind(**(DEFAULTS[kind.__name__.removesuffix("Config").lower()] | changes))
