import platform
from importlib.metadata import version

import mtl
from mtl.base.version import versions


def test_versions_are_the_installed_ones() -> None:
    found = versions()
    assert found["mtl"] == mtl.__version__ and found["python"] == platform.python_version()
    assert found["torch"] == version("torch") and found["scikit-learn"] == version("scikit-learn")
