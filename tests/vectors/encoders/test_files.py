"""Files of vectors, and the command that writes them."""

import io
from pathlib import Path

import numpy as np
import pytest
from input_errors import raises_input_error

from mtl.api.cli import main
from mtl.base.untrusted_lines import LINE_LIMIT
from mtl.data.files import read_lines
from mtl.vectors.encoders import open_encoder
from mtl.vectors.encoders.files import encode_file

SETTINGS = {"embeddings": "random", "embeddings.dim": 6, "language": "sv"}
ARGUMENTS = [f"{key}={value}" for key, value in SETTINGS.items()]
CONTENT = "\ufeffa\r\nb\x0b\u2028c\n\nd".encode()
LINES = ["solen skiner", "", "regnet faller, jag sover", "źdźbło", "solen skiner"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.vectors.encoders.files.BLOCK", 2)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(LINES).encode())
    return path


def test_a_vector_for_each_line(source: Path, tmp_path: Path) -> None:
    encoder = open_encoder("average", SETTINGS)
    expected = encoder.encode(LINES)
    encode_file(encoder, source, tmp_path / "v.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), expected, strict=True)  # float32, too
    (tmp_path / "none.txt").write_bytes(b"")
    encode_file(encoder, tmp_path / "none.txt", tmp_path / "none.npy")
    assert np.load(tmp_path / "none.npy").shape == (0, 6)


def test_standard_input(source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(source.read_bytes())))
    out, command = source.with_name("v.npy"), ["encode", "average", "-", *ARGUMENTS, "--out"]
    assert main([*command, str(out)]) == 0
    np.testing.assert_array_equal(np.load(out), open_encoder("average", SETTINGS).encode(LINES))
    monkeypatch.setattr("sys.stdin", None)
    assert main([*command, str(out.with_name("w.npy"))]) == 2
    assert "standard input is closed" in capsys.readouterr().err.splitlines()[-1]
    assert {path.name for path in out.parent.iterdir()} == {"texts.txt", "v.npy"}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("texts.txt --out v.txt", "v.txt: the name must end in .npy"),
        ("texts.txt --out latin.txt/v.npy", "latin.txt/v.npy: latin.txt is a file; name"),
        ("none.txt --out v.npy", "none.txt: cannot be read: No such file"),
        ("latin.txt --out v.npy", "latin.txt:4: not UTF-8 (byte 0xe5)"),
        ("texts.txt pooling --out v.npy", "'pooling' is not key=value"),
        ("texts.txt --device=warp --out v.npy", "device=warp: torch finds no such"),
    ],
)
def test_bad_input_is_one_line(
    words: str, complaint: str, source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(source.parent)
    Path("latin.txt").write_bytes("a\nb\nc\ngrått\n".encode("latin-1"))
    assert main(["encode", "average", *words.split(), *ARGUMENTS]) == 2
    assert capsys.readouterr().err.strip().startswith(f"mtl: error: {complaint}")
    assert not list(source.parent.glob("v.*")) and not list(source.parent.glob(".v*"))


def test_lines_end_with_line_feeds_alone_and_are_limited(tmp_path: Path) -> None:
    encoder, path, out = open_encoder("average", SETTINGS), tmp_path / "x", tmp_path / "v.npy"
    for content in (CONTENT, b"a\n\xef\xbb\xbfb\n"):  # a mark that is not at the start belongs to a text
        path.write_bytes(content)
        encode_file(encoder, path, out)
        np.testing.assert_array_equal(np.load(out), encoder.encode(read_lines(path)))
    for content, line in ((b"a\nb\n\xff\n", 3), (b"a\nb\n" + b"x" * (LINE_LIMIT + 1), 3)):
        path.write_bytes(content)
        with raises_input_error(file="x", line=line):
            encode_file(encoder, path, out)
