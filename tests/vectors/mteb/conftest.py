from pathlib import Path

import pytest

from mtl.vectors.mteb.benchmark import Benchmark, find_benchmark, load_benchmark


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Within a test, mteb and datasets do not read the hub, and write only below its folder."""
    import datasets

    monkeypatch.setenv("MTEB_CACHE", str(tmp_path / "mteb"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture(scope="session")
def benchmark() -> Benchmark:
    return load_benchmark(find_benchmark("pl-mteb"))
