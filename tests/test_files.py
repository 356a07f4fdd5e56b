import hashlib
import resource
from pathlib import Path
from types import SimpleNamespace

import pytest

from mtl.errors import InputError
from mtl.files import (
    OTHER_FILES,
    allow_open_files,
    check_space,
    git_blob_id,
    listed,
    new_folder,
    read_json,
    replacing,
    sha256,
    write_json,
    write_text,
)


def test_old_file_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_text(path, "ołówek\r\n")
    assert path.read_bytes() == "ołówek\r\n".encode()
    assert sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(RuntimeError), replacing(path) as partial:
        partial.write_text("half", encoding="utf-8")
        raise RuntimeError
    assert path.read_bytes() == "ołówek\r\n".encode()
    assert list(path.parent.iterdir()) == [path]


def test_an_error_names_the_path_and_not_the_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(IsADirectoryError) as caught:
        write_text(tmp_path / "taken", "text")
    assert caught.value.filename == str(tmp_path / "taken")
    with pytest.raises(NotADirectoryError) as unmade, new_folder(tmp_path / "file" / "new"):
        pass
    assert ".partial" not in str(unmade.value.filename)


def test_two_machines_may_write_one_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getpid", lambda: 7)  # on both
    with replacing(tmp_path / "file") as one:
        one.write_text("one", encoding="utf-8")
        with replacing(tmp_path / "file") as other:
            other.write_text("other", encoding="utf-8")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "one"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_json_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"ó": [1.5, None]})
    assert read_json(path) == {"ó": [1.5, None]}
    assert path.read_text(encoding="utf-8").startswith('{\n  "ó": [')
    with pytest.raises(InputError, match=r"none/b.json: no such file; is .*none a run folder\?"):
        read_json(tmp_path / "none/b.json")
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="a.json: not JSON: .*; restore it, or remove the run's folder"):
        read_json(path)


def test_full_disk_error_gives_the_size_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=2_500_000))
    check_space(tmp_path, 2_500_000, "x")
    with pytest.raises(
        InputError, match=r"needs 7\.5 GB of disk space, but 3 MB are free; free some space, or set a=1"
    ):
        check_space(tmp_path, 7_500_000_000, "set a=1")


def test_json(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"ś": 1.5})
    assert read_json(tmp_path / "x.json") == {"ś": 1.5}
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.json: not JSON"):
        read_json(tmp_path / "x.json")
    with pytest.raises(InputError, match=r"y\.json: no such file; is .* a run folder\?"):
        read_json(tmp_path / "y.json")


def test_the_id_of_a_git_blob(tmp_path: Path) -> None:
    """The ids that `git hash-object` prints."""
    path = tmp_path / "file"
    for content, expected in (
        (b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        (b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"),
    ):
        path.write_bytes(content)
        assert git_blob_id(path) == expected


@pytest.mark.parametrize(
    ("limit", "highest", "set_to"),
    [
        (1024, 4096, (1000 + OTHER_FILES, 4096)),
        (1024, resource.RLIM_INFINITY, (1000 + OTHER_FILES, resource.RLIM_INFINITY)),
        (4096, 4096, None),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None),
    ],
)
def test_the_limit_of_open_files_is_raised(
    limit: int, highest: int, set_to: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list[tuple[int, int]]()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, highest))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: calls.append(limits))
    allow_open_files(1000)
    assert calls == ([] if set_to is None else [set_to])


def test_too_many_runs_for_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (512, 1024))
    with pytest.raises(
        InputError, match=r"1000 runs at once need 1256 open files, and this system allows a process 1024; .*--only"
    ):
        allow_open_files(1000)


@pytest.mark.parametrize(("most", "expected"), [(3, "a, b, c"), (4, "a, b, c"), (2, "a, b, and 1 more")])
def test_of_many_names_the_first_are_listed(most: int, expected: str) -> None:
    assert listed(["a", "b", "c"], most) == expected
