"""Texts that mtl writes, whole, as files in `golden`. After a change, `pytest --write-messages` writes them anew, and their difference is read."""

from pathlib import Path

from input_errors import MESSAGES

FOLDER = Path(__file__).parent / "golden"


def check_golden(name: str, text: str) -> None:
    """The text must be that of the golden file with this name."""
    path = FOLDER / name
    if MESSAGES.write:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()
