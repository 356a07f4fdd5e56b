"""What vectors were trained on: a file beside them."""

from pathlib import Path

from mtl.files import write_text


def note_source(path: Path, source: str) -> None:
    """Write what identifies the texts of the vectors that are moved to `path` next.

    Vectors that are there already have another source. They are removed first, so that at no moment vectors have a note of others.
    """
    if path.is_file():
        path.unlink()
    write_text(_note(path), f"{source}\n")


def noted_source(path: Path) -> str | None:
    """What identifies the texts that the vectors at `path` were trained on, if it was noted."""
    note = _note(path)
    return note.read_text(encoding="utf-8").strip() if note.is_file() else None


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.source")
