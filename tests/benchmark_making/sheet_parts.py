"""Documentation sheets for tests: complete ones, and what is found in changed ones."""

from pathlib import Path

from mtl.benchmark_making.audits.sheets.form import ORDER, Sheet, is_obligatory, write_sheet


def complete(**values: str | list[str]) -> str:
    """A sheet with a value in each obligatory field. values: others, by the letters of a field's name ("Language" for "Language*").

    A value is a line or a list of lines.
    """
    given = {field_name(name): [value] if isinstance(value, str) else value for name, value in values.items()}
    obligatory = {name: [f"text {place}"] for place, name in enumerate(ORDER) if is_obligatory(name)}
    return write_sheet({**obligatory, **given})


def field_name(letters: str) -> str:
    """The template's field whose name begins with these words, joined by underscores."""
    return next(name for name in ORDER if name.startswith(letters.replace("_", " ")))


def line_of(sheet: str, beginning: str) -> int:
    """The number of the first line that begins so."""
    return next(number for number, line in enumerate(sheet.split("\n"), 1) if line.startswith(beginning))


def values_of(sheet: Sheet, name: str) -> list[str]:
    """The lines of a field's value."""
    return [value for entry in sheet.entries if entry.name == name for _, value in entry.values]


def write(folder: Path, text: str | bytes, name: str = "kansla_documentation_sheet.tsv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
