"""Files of vectors, and the command that writes them."""

import io
from pathlib import Path

import numpy as np
import pytest
from input_errors import raises_input_error

from mtl.api.cli import main
from mtl.data.files import read_lines
from mtl.vectors.encoders import open_encoder
from mtl.vectors.encoders.files import encode_file, line_blocks

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


def test_standard_input(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(source.read_bytes())))
    assert main(["encode", "average", "-", *ARGUMENTS, "--out", str(tmp_path / "v.npy")]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), open_encoder("average", SETTINGS).encode(LINES))


def test_a_closed_standard_input_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert main(["encode", "average", "-", *ARGUMENTS, "--out", str(tmp_path / "v.npy")]) == 2
    assert "standard input is closed" in capsys.readouterr().err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("texts.txt --out v.txt", "v.txt: the name must end in .npy"),
        ("texts.txt --out latin.txt/v.npy", "latin.txt/v.npy: latin.txt is a file; name"),
        ("none.txt --out v.npy", "none.txt: no such file"),
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


def test_blocks_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(CONTENT)
    for size in (1, 2, 3, 9):
        blocks = list(line_blocks(io.BytesIO(CONTENT), "x", size))
        assert [line for lines, _ in blocks for line in lines] == read_lines(path)
        assert max(len(lines) for lines, _ in blocks) <= size
        assert sum(read for _, read in blocks) == len(CONTENT)
    blocks = list(line_blocks(io.BytesIO(b"a\n\xef\xbb\xbfb\n"), "x", 1))
    assert blocks[1][0] == ["\ufeffb"]  # no mark: it is not at the start
    with raises_input_error(file="x", line=3):
        list(line_blocks(io.BytesIO(b"a\nb\n\xff\n"), "x", 2))


def test_a_line_that_no_memory_may_hold_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.vectors.encoders.files.LINE_LIMIT", 5)
    assert list(line_blocks(io.BytesIO(b"1234\n12345"), "x", 1))[-1] == (["12345"], 5)
    with raises_input_error(file="x", line=2):
        list(line_blocks(io.BytesIO(b"1234\n12345\n"), "x", 1))
