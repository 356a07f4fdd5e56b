import gzip
import os
import zipfile
from pathlib import Path

import pytest
from input_errors import raises_input_error

from mtl.base.errors import InputError
from mtl.base.untrusted import is_inside, is_web_address, open_lines, read_yaml
from mtl.embedders import embedder_kind
from mtl.settings.layers import read_config


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("url: https://example.org/${oc.env:HOME}.zip\n", "url"),
        ("tasks:\n  a:\n    labels: [x, 'y ${name}']\n", "tasks.a.labels.1"),
        ("a:\n  ${b}: 1\n", "a.${b}"),
    ],
)
def test_interpolation_is_rejected(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}: {key}: holds '${{'") and os.environ["HOME"] not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"a: [", b"- a\n", b'"5"', b"5", b"\xff\xfe\x00", b"a: !!python/object/apply:os.getcwd []\n"]
)
def test_file_that_is_no_yaml_mapping_is_rejected(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    with raises_input_error(file="x.yaml") as caught:
        read_yaml(path)
    assert "\n" not in str(caught.value)


def test_numbers_with_exponents(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("rates: [1e-4, 1.0e-3]\n", encoding="utf-8")
    assert read_yaml(path) == {"rates": [0.0001, 0.001]}


def test_interpolation_in_a_run_s_configuration_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("data_dir: ${oc.env:HOME}\n", encoding="utf-8")
    with raises_input_error(file="config.yaml", key="data_dir"):
        read_config(tmp_path / "config.yaml", lambda name: embedder_kind(name).options)


def test_is_inside() -> None:
    assert all(map(is_inside, ["", "a", "a/b.tsv", "..a", "a.."]))
    assert not any(map(is_inside, ["..", "../a", "a/../../b", "/a", "\\a", "a\\..\\b", "C:a", "C:\\a", "a\0b"]))


def test_web_addresses() -> None:
    assert is_web_address("https://example.org/a.zip") and is_web_address("http://127.0.0.1:80/a.zip")
    assert not is_web_address("file:///etc/passwd") and not is_web_address("example.org/a.zip")


@pytest.mark.parametrize("value", ["0b_", '!!int ""', "!!float x"])
def test_values_that_yaml_cannot_build_are_one_line(tmp_path: Path, value: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(f"a: {value}\n", encoding="utf-8")
    with raises_input_error(file="odd.yaml", line=1):
        read_yaml(path)


def test_lines_of_plain_gzipped_and_zipped_files(tmp_path: Path) -> None:
    content = b"one\n\ntwo\r\nlast"
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "b").write_bytes(gzip.compress(content))
    with zipfile.ZipFile(tmp_path / "c", "w") as archive:
        archive.mkdir("folder")
        archive.writestr("folder/a", content)
    for name, packing in (("a", None), ("b", "gzip"), ("c", "zip")):
        with open_lines(tmp_path / name) as lines:
            assert lines.packing == packing
            assert list(lines) == [b"one\n", b"\n", b"two\r\n", b"last"] and lines.offset == len(content)
    with raises_input_error(file="a", line=1), open_lines(tmp_path / "a", 3) as lines:
        list(lines)
