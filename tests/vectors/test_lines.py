"""The lines of large text files, in blocks."""

import io
from pathlib import Path

import pytest
from input_errors import raises_input_error
from mtl.vectors.lines import line_blocks

from mtl.data.files import read_lines
from mtl.vectors import lines as module

CONTENT = "\ufeffa\r\nb\x0b\u2028c\n\nd".encode()


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
    monkeypatch.setattr(module, "LINE_LIMIT", 5)
    assert list(line_blocks(io.BytesIO(b"1234\n12345"), "x", 1))[-1] == (["12345"], 5)
    with raises_input_error(file="x", line=2):
        list(line_blocks(io.BytesIO(b"1234\n12345\n"), "x", 1))
