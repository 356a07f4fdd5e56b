"""Codes of languages."""

import pytest

from mtl.base.errors import InputError
from mtl.vectors.encoders.encoder import check_language


@pytest.mark.parametrize("code", ["pl", "sv", "no", "yue", "hsb"])
def test_codes(code: str) -> None:
    check_language(code)


@pytest.mark.parametrize("code", ["xx", "PL", "pl-PL", "polish", "", "a b"])
def test_other_words(code: str) -> None:
    with pytest.raises(InputError, match=f"language={code}: no such language; give its code in ISO 639"):
        check_language(code)
