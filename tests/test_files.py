import hashlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from mtl.errors import InputError
from mtl.files import check_space, replacing, sha256, write_text


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


def test_no_room_says_how_much_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=2_500_000))
    check_space(tmp_path, 2_500_000, "x")
    with pytest.raises(InputError, match=r"7\.5 GB are needed and 3 MB free; make room, or set a=1"):
        check_space(tmp_path, 7_500_000_000, "set a=1")
