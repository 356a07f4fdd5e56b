import platform
from importlib.metadata import version

import pytest
import torch

import mtl
from mtl.base.device import describe_device, exact_arithmetic
from mtl.base.version import versions


def test_versions_are_the_installed_ones() -> None:
    found = versions()
    assert found["mtl"] == mtl.__version__ and found["python"] == platform.python_version()
    assert found["torch"] == version("torch") and found["scikit-learn"] == version("scikit-learn")


def test_machine_names_the_cpu() -> None:
    named = describe_device(torch.device("cpu"))
    assert named.startswith("CPU: ") and named.endswith(" threads") and f", {torch.get_num_threads()} of " in named
    assert len(named) > len("CPU: , 1 of 1 threads")
    assert describe_device(torch.device("mps")) == "GPU: mps"


def test_machine_names_the_gpu_and_its_float32_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Card")
    with exact_arithmetic():
        assert describe_device(torch.device("cuda")) == "GPU: Card, float32 ieee"
