import pytest
import torch

from mtl.device import device_of
from mtl.errors import InputError


def test_without_an_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    assert device_of("auto").type == device_of("cpu").type == "cpu"
    for name in ("gpu", "cuda", "mps", "warp"):
        with pytest.raises(InputError, match=f"device={name}: torch finds no such device; use auto or cpu"):
            device_of(name, "device")


def test_with_an_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    assert [device_of(name).type for name in ("auto", "cpu", "gpu", "cuda")] == ["cuda", "cpu", "cuda", "cuda"]
    for name in ("mps", "warp"):
        with pytest.raises(InputError, match=f"{name}: torch finds no such device; use auto or cpu or gpu or cuda"):
            device_of(name)
