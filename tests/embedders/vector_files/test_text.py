"""Text in GloVe's format, plain and packed: the vectors equal those of a parser that numpy reads the numbers for."""

import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from input_errors import refused
from vector_words import PACKED, assert_rejected, zipped

from mtl.embedders.vector_files.vector_file import VectorFile

DIM = 5
# As in glove.840B.300d.txt: words with spaces, words that differ in case, the same word twice, a word of replacement characters.
# The last one is not UTF-8.
WORDS = [",", "the", "The", "THE", ". . .", "at name@domain.com", "at", "the", "��", "näive", "\xa0", "\x85"]
ENCODED = [*(word.encode() for word in WORDS), b"caf\xe9 \xff"]


def glove(rows: int = len(ENCODED), dim: int = DIM) -> bytes:
    """The words of ENCODED and then further ones, each with its vector; after 200 words, the vectors repeat."""
    numbers = np.random.default_rng(7).normal(size=(200, dim)).round(5)
    vectors = [b" ".join(b"%g" % number for number in row) for row in numbers]
    words = [*ENCODED, *(f"w{row}".encode() for row in range(len(ENCODED), rows))][:rows]
    return b"".join(b"%s %s\n" % (word, vectors[row % 200]) for row, word in enumerate(words))


def parsed(content: bytes, dim: int = DIM) -> dict[bytes, np.ndarray]:
    """By word, the vector of its first line. A word is what stands before the last `dim` cells."""
    table: dict[bytes, np.ndarray] = {}
    for line in content.splitlines():
        cells = line.split(b" ")
        table.setdefault(b" ".join(cells[:-dim]), np.loadtxt([b" ".join(cells[-dim:]).decode()], dtype=np.float32))
    return table


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("header", [b"", b"13 5\n"])
def test_glove_s_format(tmp_path: Path, packing: str, header: bytes) -> None:
    (tmp_path / "v").write_bytes(PACKED[packing](header + glove().replace(b"\n", b"\n\n", 2)))  # with blank lines
    table = parsed(glove())
    known = [word.decode("utf-8", "surrogateescape") for word in table]
    words = [*known, "AT", "tHe", ".", "name@domain.com", "caf\u00e9", ""]
    expected = np.array([*table.values(), *np.zeros((6, DIM))], dtype=np.float32)
    file = VectorFile(tmp_path / "v")
    for read in (file.read_once(words), file.read(words)):
        np.testing.assert_array_equal(read.vectors, expected)
        assert read.in_file.tolist() == [True] * len(known) + [False] * 6 and not read.from_ngrams.any()
    blocks = list(file.blocks(3 * DIM * 4))
    assert [word.encode("utf-8", "surrogateescape") for block, _ in blocks for word in block] == ENCODED
    assert file.shape == (len(ENCODED), DIM)


def test_a_zip_is_read_without_its_content_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.embedders.vector_files.text.tempfile", None)  # must not be used
    peaks = []
    for rows in (2_000, 20_000):
        (tmp_path / "v.zip").write_bytes(zipped(glove(rows, 100)))
        VectorFile(tmp_path / "v.zip").read_once(["the"])  # a first call for what is allocated only once
        tracemalloc.start()
        VectorFile(tmp_path / "v.zip").read_once(["the", "w1999"])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    with zipfile.ZipFile(tmp_path / "v.zip") as archive:
        assert archive.getinfo("vectors.txt").file_size > 15_000_000
    assert max(peaks) < 8_000_000 and peaks[1] < peaks[0] + 2_000_000


@pytest.mark.parametrize("further", [["glove.6B.50d.txt"], ["a", "b", "c", "d"]])
def test_a_zip_of_several_files(tmp_path: Path, further: list[str]) -> None:
    (tmp_path / "v.zip").write_bytes(zipped(glove(), *further))
    refused(lambda: VectorFile(tmp_path / "v.zip").read_once(["the"]), file="v.zip")


def test_zips_that_cannot_be_read(tmp_path: Path) -> None:
    good, path = zipped(glove(2000)), tmp_path / "v.zip"
    member = good.index(b"PK\x01\x02")  # in the list of members
    encrypted = bytearray(good)
    encrypted[6] |= 1  # the flags of the member, here and in the list
    encrypted[member + 8] |= 1
    wrong = bytearray(good)
    wrong[300] ^= 255
    wrong_sum = bytearray(good)
    wrong_sum[14] ^= 255
    wrong_sum[member + 16] ^= 255
    packed = [zipped(glove(), compression=method) for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)]
    cut = [good[:length] for length in (4, len(good) // 2, len(good) - 1)]
    for bad in (*packed, bytes(encrypted), b"PK\x05\x06" + bytes(18), bytes(wrong), bytes(wrong_sum), *cut):
        path.write_bytes(bad)
        assert_rejected(path)
    assert [file.name for file in tmp_path.iterdir()] == ["v.zip"]


def test_a_bad_line_after_empty_ones(tmp_path: Path) -> None:
    for packing in ("plain", "gzip"):
        (tmp_path / "v").write_bytes(PACKED[packing](b"a 1.0 2.0\n\n\nkot x 2.0\n"))
        for read in (VectorFile(tmp_path / "v").read_once, VectorFile(tmp_path / "v").read):
            refused(read, ["kot"], file="v", line=4)


def test_no_space_to_unpack_a_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v.vec.gz").write_bytes(PACKED["gzip"](glove()))
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: Path("/dev/full").open("wb", 0))  # noqa: SIM115
    refused(lambda: VectorFile(tmp_path / "v.vec.gz").read(["kot"]), file="v.vec.gz")
