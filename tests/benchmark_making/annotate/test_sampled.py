import json
from pathlib import Path
from typing import Any

import pytest
from annotate_parts import read_key_of, write_forms_of
from input_errors import raises_input_error

from mtl.data.dataset import load_dataset
from mtl.data.sampled import read_key
from mtl.jobs.job import load_job
from mtl.tasks.suite import Suite


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    write_forms_of(tmp_path, task=["kansla", "samma"], rows=4)
    return load_job({"suite": str(tmp_path / "liten.yaml")}).suite


def write(folder: Path, **changes: Any) -> Path:
    """The key with changes of the task kansla."""
    key: Any = read_key_of(folder / "forms")
    key["tasks"]["kansla"] |= changes
    (folder / "key.json").write_text(json.dumps(key), encoding="utf-8")
    return folder / "key.json"


def test_a_key_that_does_not_fit_and_lines_that_are_no_rows(suite: Suite, tmp_path: Path) -> None:
    changes = (
        ({"sha256": "0" * 64}, "tasks.kansla.sha256"),
        ({"split": "test"}, "tasks.kansla.split"),
        ({"lines": []}, None),
    )
    for change, key in changes:
        with raises_input_error(file="key.json", key=key):
            read_key(write(tmp_path, **change), suite, tmp_path / "data")
    path, other = write(tmp_path), tmp_path / "other.json"
    for old, new, key in (('"liten"', '"stor"', "suite"), ('"samma"', '"borta"', "tasks.borta")):
        other.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        with raises_input_error(file="other.json", key=key):
            read_key(other, suite, tmp_path / "data")
    for key_file, folder, file in ((tmp_path / "none.json", "data", "none.json"), (path, "forms", "dev.tsv")):
        with raises_input_error(file=file):
            read_key(key_file, suite, tmp_path / folder)
    for lines in ([2, 2], [999], list[int]()):
        with raises_input_error(key="imported.rows.kansla"):
            load_dataset(suite, [suite.tasks["kansla"]], tmp_path / "data", 0.1, {"kansla": lines})
