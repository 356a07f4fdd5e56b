import gzip
import os
import zipfile
from pathlib import Path

import pytest
from input_errors import raises_input_error, refused

from mtl.base.untrusted import check_form, inside, is_inside, is_web_address
from mtl.base.untrusted_lines import open_lines
from mtl.base.untrusted_yaml import read_yaml


def test_paths_and_links_inside_a_folder_and_web_addresses(tmp_path: Path) -> None:
    assert all(map(is_inside, ["", "a", "a/b.tsv", "..a", "a.."]))
    assert not any(map(is_inside, ["..", "../a", "a/../../b", "/a", "\\a", "a\\..\\b", "C:a", "C:\\a", "a\0b"]))
    assert is_web_address("https://example.org/a.zip") and is_web_address("http://127.0.0.1:80/a.zip")
    assert not is_web_address("file:///etc/passwd") and not is_web_address("example.org/a.zip")
    (tmp_path / "data/sub").mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    links = {"out": "../mine", "sub/file": "../../mine/x", "loop": "loop", "within": "sub/y"}
    for name, target in {**links, "absolute": tmp_path / "mine"}.items():
        (tmp_path / "data" / name).symlink_to(target)
    (tmp_path / "named").symlink_to("data")
    for folder in (tmp_path / "data", tmp_path / "named"):
        for name in ("within", "sub/absent", "loop", "loop/x"):
            assert inside(folder, name) == folder / name
        for name, file in (("out", "out"), ("out/x", "x"), ("sub/file", "file"), ("absolute/deep/x", "x")):
            refused(inside, folder, name, file=file)


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
    (tmp_path / "d").write_bytes(b"BZh9 is no bzip2")
    with raises_input_error(file="d"), open_lines(tmp_path / "d") as lines:
        list(lines)


def test_a_check_names_the_first_wrong_key() -> None:
    content = {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": "z"}, "c": {"x": "q"}}
    refused(check_form, "x.yaml", content, dict[str, dict[str, int]], "; mend it", file="x.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "url: https://x.org/${oc.env:HOME}.zip\n",
        "tasks:\n  a:\n    labels: [x, 'y ${name}']\n",
        "a:\n  ${b}: 1\n",
        "'': ${oc.env:HOME}\n",
    ],
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
        *(
            b"a: 0b_\n",
            b'a: !!int ""\n',
            b"a: !!float x\n",
            b"a: !!bool x\n",
            b"a: !!timestamp x\n",
        ),  # which YAML cannot build
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
