import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from input_errors import raises_input_error, refused

from mtl.base import folders
from mtl.base.folders import LIST, check_writable, new_folder, write_files

SITE = {"index.html": "one", "systems/a.html": "a", "systems/b.html": "b"}
LEFT = ".site.0123456789abcdef0123456789abcdef.partial"


def content(folder: Path) -> dict[str, str]:
    """The files below a folder, but for the list."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != LIST)
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_a_site_is_written_again_beside_files_of_its_user(tmp_path: Path) -> None:
    site = tmp_path / "a" / "site"
    write_files(site, SITE)
    assert content(site) == SITE and list((tmp_path / "a").iterdir()) == [site]
    (site / "CNAME").write_text("example.org", encoding="utf-8")
    (site / "systems/b.html").unlink()
    shutil.copytree(site, tmp_path / "again")
    write_files(site, {"index.html": "two", "systems/c.html": "\udcff"})
    assert content(site) == {"CNAME": "example.org", "index.html": "two", "systems/c.html": "\\udcff"}
    write_files(site, {"index.html": "two"})
    assert content(site) == {"CNAME": "example.org", "index.html": "two"} and not (site / "systems").exists()
    (tmp_path / "again/systems/thesis.html").write_text("mine", encoding="utf-8")
    write_files(tmp_path / "again", {"index.html": "three"})  # a copy has the list, too
    mine = {"CNAME": "example.org", "systems/thesis.html": "mine"}
    assert content(tmp_path / "again") == {**mine, "index.html": "three"}
    check_writable(tmp_path / "absent")


FOREIGN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no list": (lambda site: (site / LIST).unlink(), "site"),
    "index": (lambda site: (site / "index.html").write_text("mine"), "index.html"),
    "page": (lambda site: (site / "systems/a.html").write_text("mine"), "a.html"),
    "new page": (lambda site: (site / "systems/new.html").write_text("mine"), "new.html"),
    "folder": (lambda site: (site / "systems/new.html").mkdir(), "new.html"),
    "link of a folder": (lambda site: (site / "systems").rename(site / "x").parent.joinpath("systems").symlink_to("x"), "systems"),
    "link": (lambda site: (site / "systems/new.html").symlink_to(site.parent / "mine"), "new.html"),
    "list outside": (lambda site: (site / LIST).write_text('{"files": {"../mine": ["x"]}}'), LIST),
    "no such list": (lambda site: (site / LIST).write_text('{"files": 1}'), LIST),
    "list that is a link": (lambda site: [(site / LIST).unlink(), (site / LIST).symlink_to("/nowhere")], "site"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_mtl_did_not_write_is_neither_removed_nor_replaced(tmp_path: Path, kind: str) -> None:
    site, (change, named) = tmp_path / "site", FOREIGN[kind]
    write_files(site, SITE)
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    change(site)
    was = content(tmp_path)
    refused(lambda: write_files(site, {"index.html": "two", "systems/new.html": "new"}), file=named)
    assert content(tmp_path) == was


def test_an_error_before_files_are_moved_leaves_the_old_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    write_files(site, SITE)
    before = (site / LIST).read_bytes()

    def fail(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mtl.base.folders.flush", fail)
    for folder, files in ((site, {"index.html": "two", "systems/c.html": "c"}), (tmp_path / "new/site", SITE)):
        with pytest.raises(OSError, match="No space"):
            write_files(folder, files)
    assert content(site) == SITE and (site / LIST).read_bytes() == before
    assert list(tmp_path.iterdir()) == [site]


@pytest.mark.parametrize("killed", range(1, 6))
def test_a_killed_process_leaves_nothing_that_the_next_one_does_not_mend(tmp_path: Path, killed: int) -> None:
    site = tmp_path / "site"
    write_files(site, SITE)
    if (child := os.fork()) == 0:
        moves, move = [], shutil.move

        def die(source: Path, target: Path) -> None:
            moves.append(target)
            if len(moves) == killed:
                os._exit(9)
            move(source, target)

        folders.shutil.move = die  # type: ignore[assignment]
        write_files(site, {"index.html": "two", "systems/c.html": "c"})
        os._exit(0)
    os.waitpid(child, 0)
    assert not [name for name in content(site) if "partial" in name]
    for text in ("two", "three"):
        write_files(site, {"index.html": text, "systems/c.html": "c"})
        assert content(site) == {"index.html": text, "systems/c.html": "c"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert set(json.loads((site / LIST).read_bytes())["files"]) == set(content(site))


def test_a_new_folder_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    for name in (LEFT, f"{LEFT}.txt", ".other" + LEFT[5:], ".site" + LEFT):
        (tmp_path / name).mkdir()
    with new_folder(tmp_path / "site") as folder:
        (folder / "file").write_text("", encoding="utf-8")
    assert not (tmp_path / LEFT).exists() and len(list(tmp_path.iterdir())) == 4
    with raises_input_error(file="site"), new_folder(tmp_path / "site"):
        pass


def test_where_only_the_folder_can_be_written_it_is_staged_there(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    monkey = pytest.MonkeyPatch()
    monkey.setattr("os.access", lambda path, mode: path == site)
    write_files(site, SITE)
    monkey.undo()
    assert content(site) == SITE
