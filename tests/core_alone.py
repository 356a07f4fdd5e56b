"""Which tests a copy of the core without the wings runs (tests/test_architecture.py)."""

from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
WINGS = sorted(file.parent.name for file in (TESTS.parent / "mtl").glob("*/wing.py"))
# The documents, the table of packages and the installation are about all of mtl; what these packages do follows from no wing.
LEFT_OUT = ["test_docs.py", "test_makefile.py", "test_architecture.py", "model", "stats", "training", "methods/lstm"]
LEFT_OUT += ["methods/transformer", "embedders/elmo", "embedders/vector_files"]
BESIDE_WINGS = ["api", "base/settings"]  # tests that look at names and entries of all of mtl: they run in both
MARKERS = ("slow", "ray", "browser", "wings")  # of tests that the copy does not run


@cache
def is_of_copy_alone(module: Path) -> bool:
    apart = [TESTS / name for name in (*WINGS, *LEFT_OUT, *BESIDE_WINGS)]
    return bool(WINGS) and module.is_relative_to(TESTS) and not any(module.is_relative_to(path) for path in apart)


def is_run_by_copy_alone(item: pytest.Item) -> bool:
    """Whether the copy runs this test, and the wings do not matter to it."""
    return is_of_copy_alone(item.path) and not any(item.get_closest_marker(name) for name in MARKERS)
