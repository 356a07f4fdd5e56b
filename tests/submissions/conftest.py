from pathlib import Path

import pytest
from rows_suite import run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite, its data, a run, and the official files."""
    folder = tmp_path_factory.mktemp("made")
    run(folder)
    return folder
