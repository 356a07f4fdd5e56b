import hashlib
from pathlib import Path

import pytest

from mtl.files import replacing, sha256, write_text


def test_the_old_file_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_text(path, "ołówek\r\n")
    assert path.read_bytes() == "ołówek\r\n".encode()
    assert sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(RuntimeError), replacing(path) as partial:
        partial.write_text("half", encoding="utf-8")
        raise RuntimeError
    assert path.read_bytes() == "ołówek\r\n".encode()
    assert list(path.parent.iterdir()) == [path]
