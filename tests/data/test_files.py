import gzip
import os
import random
from pathlib import Path

from input_errors import refused

from mtl.data.files import text_lines


def test_gzipped_text_files_that_are_plain_damaged_or_endless(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("ett två\n\ntre\n", encoding="utf-8-sig")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"fyra\n"))
    lines = list(text_lines([tmp_path / "a.txt", tmp_path / "b.gz"], "x"))
    assert lines == ["ett två", "", "tre", "fyra"]
    (tmp_path / "c.txt").write_bytes(b"ok\n\xff\n")
    refused(lambda: list(text_lines([tmp_path / "c.txt"], "x")), file="c.txt", line=2)
    refused(lambda: list(text_lines([tmp_path / "none"], "x")), file="none")
    (tmp_path / "d.gz").write_bytes(gzip.compress(b"fyra\n" * 1000)[:-9])
    refused(lambda: list(text_lines([tmp_path / "d.gz"], "x")), file="d.gz")
    content = bytearray(gzip.compress(random.Random(0).randbytes(1000).hex().encode()))
    content[500] ^= 255
    (tmp_path / "a.gz").write_bytes(content)
    refused(lambda: list(text_lines([tmp_path / "a.gz"], "x")), file="a.gz")
    os.mkfifo(tmp_path / "b.txt")
    refused(lambda: list(text_lines([tmp_path / "b.txt"], "x")), file="b.txt")
    with gzip.open(tmp_path / "a.gz", "wb", compresslevel=1) as file:
        file.write(b"a" * 20 * 2**20)
    refused(lambda: list(text_lines([tmp_path / "a.gz"], "x")), file="a.gz", line=1)
