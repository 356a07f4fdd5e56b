from pathlib import Path

import pytest
import torch

from mtl.base.device import bfloat16_instructions, describe_device, device_of, exact_arithmetic, multiplies_bfloat16
from mtl.base.errors import InputError
from mtl.embedders.elmo.model import ELMo

CPU = torch.device("cpu")


def flags() -> list[object]:
    cudnn = torch.backends.cudnn
    operations = (cudnn.rnn, cudnn.conv, torch.backends.cuda.matmul)
    return [*(operation.fp32_precision for operation in operations), cudnn.deterministic]


@pytest.mark.parametrize(
    ("accelerator", "devices", "names"),
    [
        (None, {"auto": "cpu", "cpu": "cpu"}, "auto or cpu"),
        ("mps", {"auto": "cpu", "cpu": "cpu", "gpu": "mps", "mps": "mps"}, "auto or cpu or gpu or mps"),
        ("cuda", {"auto": "cuda", "cpu": "cpu", "gpu": "cuda", "cuda": "cuda"}, "auto or cpu or gpu or cuda"),
    ],
)
def test_devices_by_the_accelerator_that_is_there(
    accelerator: str | None, devices: dict[str, str], names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: accelerator is not None)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device(accelerator or "cpu"))
    assert {name: device_of(name).type for name in devices} == devices
    for name in {"gpu", "cuda", "mps", "warp"} - devices.keys():
        with pytest.raises(InputError, match=f"device={name}: torch finds no such device; use {names}$"):
            device_of(name, "device")


@pytest.mark.parametrize(
    ("information", "instructions"),
    [
        ("model name\t: A\nflags\t\t: fpu avx512f avx512_bf16 amx_bf16 amx_tile\n", ("amx_bf16", "avx512_bf16")),
        ("model name\t: A\nflags\t\t: fpu avx512f avx512_bf16\n", ("avx512_bf16",)),
        ("model name\t: A\nflags\t\t: fpu avx2 avx512f amx_tile\n", ()),
        ("Features\t: fp asimd sve bf16 i8mm\n", ("bf16",)),
        ("Features\t: fp asimd\n", ()),
        (None, ()),
    ],
)
def test_the_bfloat16_instructions_of_a_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, information: str | None, instructions: tuple[str, ...]
) -> None:
    path = tmp_path / "cpuinfo"
    if information is not None:
        path.write_text(information, encoding="utf-8")
    monkeypatch.setattr("mtl.base.device.CPU_INFORMATION", path)
    assert bfloat16_instructions.__wrapped__() == instructions


def test_which_devices_multiply_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    assert multiplies_bfloat16(torch.device("cuda"))
    for has_onednn in (True, False):
        for found in (("avx512_bf16",), ()):
            monkeypatch.setattr("mtl.base.device.bfloat16_instructions", lambda found=found: found)
            monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda has_onednn=has_onednn: has_onednn)
            assert multiplies_bfloat16(CPU) == (has_onednn and found != ())


def test_exact_arithmetic_is_set_by_elmo_too_and_restored(
    elmo_files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = flags()
    with exact_arithmetic():
        assert flags() == ["ieee", "ieee", "ieee", True]
        with exact_arithmetic():
            pass
        assert flags() == ["ieee", "ieee", "ieee", True]
    assert flags() == before
    with pytest.raises(ValueError, match="x"), exact_arithmetic():
        raise ValueError("x")
    assert flags() == before
    elmo, seen = ELMo(*elmo_files), []
    vectors = elmo.token_vectors
    monkeypatch.setattr(elmo, "token_vectors", lambda words: (seen.append(flags()), vectors(words))[1])
    elmo.layers([["a", "b"]])
    assert seen == [["ieee", "ieee", "ieee", True]]


def test_description_names_the_cpu_or_the_gpu_with_its_float32_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    named = describe_device(torch.device("cpu"))
    assert named.startswith("CPU: ") and named.endswith(" threads") and f", {torch.get_num_threads()} of " in named
    assert len(named) > len("CPU: , 1 of 1 threads")
    assert describe_device(torch.device("mps")) == "GPU: mps"
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Card")
    with exact_arithmetic():
        assert describe_device(torch.device("cuda")) == "GPU: Card, float32 ieee"
