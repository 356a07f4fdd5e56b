"""Without the folders of the wings, the core passes its own quick tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WINGS = sorted(file.parent.name for file in (ROOT / "mtl").glob("*/wing.py"))
# A copy must not find the wings of an editable installation.
SITE = """\
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not finder.__module__.startswith("__editable__")]
"""


@pytest.mark.slow
@pytest.mark.skipif(not WINGS, reason="this is such a copy")
def test_the_core_passes_its_tests_without_the_wings(tmp_path: Path) -> None:
    for name in ("mtl", "tests", "configs", "embeddings", "docs", "tools", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", *WINGS))
    for name in ("pyproject.toml", "setup.cfg", "Makefile", "README.md", "mkdocs.yml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    absent = subprocess.run(
        [sys.executable, "-c", f"import mtl.{WINGS[0]}"], cwd=tmp_path, env=environment(tmp_path), capture_output=True
    )
    assert absent.returncode == 1
    # The documents, the table of packages and the installation are about all of mtl.
    left_out = [f"--ignore=tests/{name}.py" for name in ("test_docs", "test_makefile", "test_architecture")]
    command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *left_out]
    command += ["-m", "not slow and not ray and not browser and not wings"]
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:]


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(folder)}
