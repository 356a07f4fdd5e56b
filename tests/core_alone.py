"""Which tests a copy of the core without the wings runs (tests/test_architecture.py)."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
WINGS = sorted(file.parent.name for file in (TESTS.parent / "mtl").glob("*/wing.py"))
# The documents, the table of packages and the installation are about all of mtl; what these packages do follows from no wing.
LEFT_OUT = ["test_docs.py", "test_makefile.py", "test_architecture.py", "model", "stats", "training", "methods/lstm"]
LEFT_OUT += ["methods/transformer", "embedders/elmo", "embedders/vector_files"]
BESIDE_WINGS = ["api", "base/settings"]  # tests that look at names and entries of all of mtl: they run in both
MARKERS = ("slow", "ray", "browser", "wings")  # of tests that the copy does not run


def is_run_by_copy_alone(item: pytest.Item) -> bool:
    """Whether the copy runs this test, and the wings do not matter to it."""
    apart = [TESTS / name for name in (*WINGS, *LEFT_OUT, *BESIDE_WINGS)]
    is_there = item.path.is_relative_to(TESTS) and not any(item.path.is_relative_to(path) for path in apart)
    return bool(WINGS) and is_there and not any(item.get_closest_marker(name) for name in MARKERS)
