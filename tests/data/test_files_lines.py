from pathlib import Path

import pytest
from input_errors import raises_input_error, refused

from mtl.data import files as module
from mtl.data.files import read_lines, split_lines

CONTENT = "\ufeffa\r\nb\x0b\u2028c\n\nd".encode()


def test_lines_end_with_a_line_feed_only(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(CONTENT)
    assert read_lines(path) == split_lines(CONTENT, "x") == ["a", "b\x0b\u2028c", "", "d"]
    assert split_lines(b"", "x") == []
    assert split_lines(b"\n", "x") == [""]


def test_files_that_cannot_be_read_or_that_no_memory_may_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path / "none", tmp_path):
        with raises_input_error():
            read_lines(path)
    monkeypatch.setattr(module, "FILE_LIMIT", 5)
    path = tmp_path / "x"
    path.write_bytes(b"123456")
    refused(lambda: read_lines(path), file="x")
