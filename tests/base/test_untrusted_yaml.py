import os
from pathlib import Path

import pytest
from input_errors import raises_input_error

from mtl.base.untrusted_yaml import read_yaml


@pytest.mark.parametrize(
    "text",
    ["url: https://x.org/${oc.env:HOME}.zip\n", "tasks:\n  a:\n    labels: [x, 'y ${name}']\n", "a:\n  ${b}: 1\n"],
)
def test_interpolation_is_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    with raises_input_error(file="x.yaml") as caught:
        read_yaml(tmp_path / "x.yaml")
    assert os.environ["HOME"] not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        *(b"a: [", b"- a\n", b'"5"', b"5", b"\xff\xfe\x00", b"a: !!python/object/apply:os.getcwd []\n"),
        *(b"a: 0b_\n", b'a: !!int ""\n', b"a: !!float x\n"),  # which YAML cannot build
    ],
)
def test_a_file_that_is_no_yaml_mapping_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    with raises_input_error(file="x.yaml") as caught:
        read_yaml(path)
    assert "\n" not in str(caught.value)


def test_numbers_with_exponents(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("rates: [1e-4, 1.0e-3]\n", encoding="utf-8")
    assert read_yaml(path) == {"rates": [0.0001, 0.001]}
