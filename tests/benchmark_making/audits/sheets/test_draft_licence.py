from pathlib import Path
from typing import Any

import pytest

from mtl.benchmark_making.audits.sheets.draft import find_license
from mtl.tasks.task import Task

COLUMNS: dict[str, Any] = {"text": ["x"], "target": "y", "metric": "accuracy"}
TABLE = """\
# Data

| task | rows | licence, as published |
|---|---|---|
| one | 10 | CC BY 4.0 |
| `two` | 10 | |

| task | rows |
|---|---|
| three | 10 |
"""


@pytest.mark.parametrize(
    ("readme", "id", "license"),
    [
        (TABLE, "one", "CC BY 4.0"),
        (TABLE, "two", None),
        (TABLE, "three", None),
        (TABLE, "four", None),
        ("Text.\n\n**License:** MIT\n", "one", "MIT"),
        ("- Licence: CC BY-SA 4.0.\n", "one", "CC BY-SA 4.0"),
        ("The licence is not known.\n", "one", None),
    ],
)
def test_readme_of_the_data(tmp_path: Path, readme: str, id: str, license: str | None) -> None:
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    assert find_license(Task(id=id, folder=id, **COLUMNS), tmp_path) == license


def test_the_nearest_source_counts(tmp_path: Path) -> None:
    task = Task(id="one", folder="sub", **COLUMNS)
    assert find_license(task, tmp_path) is None
    (tmp_path / "README.md").write_text("License: far\n", encoding="utf-8")
    assert find_license(task, tmp_path) == "far"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/README.md").write_text("License: near\n", encoding="utf-8")
    assert find_license(task, tmp_path) == "near"
    assert find_license(Task(id="one", folder="sub", license="own", **COLUMNS), tmp_path) == "own"
