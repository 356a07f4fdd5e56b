"""Files of vectors, and the command that writes them."""

import errno
import io
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from mtl.api.cli import main
from mtl.vectors.encoders import open_encoder
from mtl.vectors.encoders.files import encode_file

SETTINGS = {"embeddings": "random", "embeddings.dim": 6, "language": "sv"}
ARGUMENTS = [f"{key}={value}" for key, value in SETTINGS.items()]
LINES = ["solen skiner", "", "regnet faller, jag sover", "źdźbło", "solen skiner"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.vectors.encoders.files.BLOCK", 2)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(LINES).encode())
    return path


def test_a_full_disk_has_its_own_remedy(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "Error writing bytes to file")

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter.write_table", full)
    with pytest.raises(OSError) as error:
        encode_file(open_encoder("average", SETTINGS), source, tmp_path / "v.parquet")
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(tmp_path / "v.parquet"))


def test_npy_and_parquet(source: Path, tmp_path: Path) -> None:
    encoder = open_encoder("average", SETTINGS)
    expected = encoder.encode(LINES)
    encode_file(encoder, source, tmp_path / "v.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), expected, strict=True)  # float32, too
    encode_file(encoder, source, tmp_path / "v.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "v.parquet").to_pydict()
    assert list(table) == ["text", "vector"] and table["text"] == LINES
    np.testing.assert_array_equal(np.array(table["vector"], dtype=np.float32), expected)
    (tmp_path / "none.txt").write_bytes(b"")
    for name in ("none.npy", "none.parquet"):
        encode_file(encoder, tmp_path / "none.txt", tmp_path / name)
    assert np.load(tmp_path / "none.npy").shape == (0, 6)
    assert len(pyarrow.parquet.read_table(tmp_path / "none.parquet")) == 0


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
        ("texts.txt --out v.txt", "v.txt: the name must end in .npy or .parquet"),
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
