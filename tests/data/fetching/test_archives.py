"""Unpacking of good and of malicious archives."""

import gzip
import os
import stat
import zipfile
from pathlib import Path

import pytest
from input_errors import refused
from mutations import message_of, mutated_bytes

from mtl.data.fetching import archives as module
from mtl.data.fetching.archives import gunzip, read_zip, unpack

CONTENT = bytes(range(256)) * 2000
OTHER = bytes(reversed(range(256))) * 2000
NAMES = ["train.tsv", "dev.tsv", "test_features.tsv"]


def zipped(path: Path, members: list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def assert_rejected(archive: Path, folder: Path) -> None:
    """Unpacking fails with a one-line message that names the archive, and writes nothing."""
    refused(unpack, archive, folder, NAMES, file=archive.name)
    assert not folder.exists() or list(folder.iterdir()) == []


def test_requested_members_are_unpacked_from_any_folder_of_the_archive(tmp_path: Path) -> None:
    junk = [("__MACOSX/klej/._train.tsv", b"junk"), ("__MACOSX/train.tsv", b"junk"), ("klej/._dev.tsv", b"junk")]
    wanted = [("klej/", b""), ("klej/train.tsv", b"train"), ("test_features.tsv", b"test"), ("klej/README", b"no")]
    archive = zipped(tmp_path / "a.zip", [*junk, *wanted])
    folder = tmp_path / "out" / "task"
    folder.mkdir(parents=True)
    (folder / "train.tsv").write_bytes(b"older and longer")
    unpack(archive, folder, NAMES)
    unpacked = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert unpacked == {"train.tsv": b"train", "test_features.tsv": b"test"}


def test_paths_outside_the_archive_links_and_names_that_stand_twice_are_rejected(tmp_path: Path) -> None:
    for name in ("../evil", "../train.tsv", "a/../../train.tsv", "/train.tsv", "..\\t.tsv", "C:\\t"):
        assert_rejected(zipped(tmp_path / "a.zip", [("train.tsv", b"train"), (name, b"evil")]), tmp_path / "out")
    for kind in (stat.S_IFLNK, stat.S_IFIFO):
        member = zipfile.ZipInfo("train.tsv")
        member.external_attr = (kind | 0o777) << 16
        assert_rejected(zipped(tmp_path / "a.zip", [(member, b"/etc/passwd")]), tmp_path / "out")
    assert_rejected(zipped(tmp_path / "a.zip", [("a/train.tsv", b"1"), ("b/train.tsv", b"2")]), tmp_path / "out")


def change(archive: Path, *edits: tuple[int, bytes]) -> Path:
    """The archive with other bytes at these offsets from the last entry of its list of members."""
    data = bytearray(archive.read_bytes())
    last = data.rindex(b"PK\x01\x02")
    for offset, content in edits:
        data[last + offset : last + offset + len(content)] = content
    archive.write_bytes(data)
    return archive


@pytest.mark.parametrize(("place", "content"), [(8, b"\1"), (10, b"a"), (24, b"\xe7\3\0\0"), (24, b"\xe9\3\0\0")])
def test_members_that_cannot_be_unpacked(tmp_path: Path, place: int, content: bytes) -> None:
    """An encrypted one, an unknown compression, and wrong lengths."""
    archive = zipped(tmp_path / "a.zip", [("dev.tsv", b"dev"), ("train.tsv", bytes(1000))])
    assert_rejected(change(archive, (place, content)), tmp_path / "out")


def test_zip_bomb_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = zipped(tmp_path / "a.zip", [("train.tsv", bytes(600)), ("dev.tsv", bytes(600)), ("no", bytes(5000))])
    monkeypatch.setattr(module, "UNPACKED_LIMIT", 1199)
    assert_rejected(archive, tmp_path / "out")
    monkeypatch.setattr(module, "UNPACKED_LIMIT", 1200)
    unpack(archive, tmp_path / "out", NAMES)


def test_what_is_no_zip_or_has_no_requested_member_is_rejected(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    for content in (b"", b"<html>not here</html>", CONTENT):
        archive.write_bytes(content)
        assert_rejected(archive, tmp_path / "out")
    assert_rejected(tmp_path / "none.zip", tmp_path / "out")
    assert_rejected(zipped(archive, [("other.tsv", b"")]), tmp_path / "out")
    zipped(archive, [("train.tsv", CONTENT)])
    archive.write_bytes(archive.read_bytes()[:-30])
    assert_rejected(archive, tmp_path / "out")


def test_gunzip_unpacks_all_members(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "a.gz"
    archive.write_bytes(gzip.compress(CONTENT) + gzip.compress(OTHER))
    gunzip(archive, tmp_path / "out" / "a.bin")
    assert (tmp_path / "out" / "a.bin").read_bytes() == CONTENT + OTHER
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.bin"]
    assert capfd.readouterr() == ("", "")


COMPLETE = gzip.compress(os.urandom(5000))
DAMAGED = {
    "empty": b"",
    "text": b"no gzip at all",
    "truncated": COMPLETE[:-4],
    "wrong checksum": COMPLETE[:-8] + b"\0" * 8,
    "corrupt": COMPLETE[:10] + b"\xff" + COMPLETE[11:],
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_gunzip_rejects_an_incomplete_gzip_file(tmp_path: Path, content: bytes) -> None:
    archive, path = tmp_path / "a.gz", tmp_path / "out" / "a.bin"
    archive.write_bytes(content)
    path.parent.mkdir()
    path.write_bytes(b"older")
    refused(lambda: gunzip(archive, path), file="a.gz")
    assert path.read_bytes() == b"older"
    assert list(path.parent.iterdir()) == [path]


def test_gunzip_without_an_archive_or_disk_space_and_of_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "a.gz"
    refused(lambda: gunzip(archive, tmp_path / "a.bin"), file="a.gz")
    archive.write_bytes(gzip.compress(bytes(2**23)))
    refused(lambda: gunzip(archive, tmp_path / "out" / "a.bin"), file="a.gz")
    assert list((tmp_path / "out").iterdir()) == []
    archive.write_bytes(COMPLETE)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    refused(lambda: gunzip(archive, tmp_path / "a.bin"), file="TMP")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_damage_of_a_zip_is_one_line_and_no_file_remains(method: int, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("train.tsv", CONTENT[:3000])
        archive.writestr("README", b"x")
        archive.writestr("dev.tsv", b"whole")
    for number, (what, content) in enumerate(mutated_bytes(path.read_bytes(), 100)):
        path.write_bytes(content)
        out = tmp_path / f"out{number}"
        if message_of(lambda out=out: unpack(path, out, NAMES), what):
            assert not out.exists() or list(out.iterdir()) == [], what
        message_of(lambda: read_zip(path, NAMES.__contains__, 10**6), what)


def test_no_more_is_unpacked_than_a_member_declares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = zipped(tmp_path / "a.zip", [("train.tsv", bytes(10**7))])
    data = bytearray(archive.read_bytes())
    for start in (data.index(b"PK\x03\x04") + 22, data.rindex(b"PK\x01\x02") + 24):
        data[start : start + 4] = (100).to_bytes(4, "little")
    archive.write_bytes(data)
    refused(lambda: read_zip(archive, NAMES.__contains__, 10**6), file="a.zip")
