from dataclasses import dataclass
from typing import Any

import pytest
from omegaconf import MISSING

from mtl.base.errors import InputError
from mtl.settings.bounds import typed_settings


@dataclass
class Sizes:
    width: int = MISSING
    share: float = 0.5
    name: str | None = None
    whole: bool = False


def test_types_and_defaults() -> None:
    assert typed_settings(Sizes, {"width": "3", "share": "1e-4"}) == Sizes(3, 1e-4, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"width": 1, "heigth": 2}, "unknown key 'of.heigth'; known keys: of.name, of.share, of.whole, of.width$"),
        ({"withd": 1}, r"unknown key 'of.withd'; did you mean of.width\?$"),
        ({"width": "wide"}, "of.width=wide: must be a whole number$"),
        ({"share": "half"}, "of.share=half: must be a number$"),
        ({"whole": "perhaps"}, "of.whole=perhaps: must be true or false$"),
        ({"whole": 0.5}, "of.whole=0.5: must be true or false$"),
        ({"share": 2}, "of.width: has no value"),
    ],
)
def test_bad_settings(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        typed_settings(Sizes, given, "of.")
