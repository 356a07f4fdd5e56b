import pytest
import torch

from mtl.device import check_precision, device_of, exact_arithmetic
from mtl.embedders.elmo import ELMo
from mtl.errors import InputError

CPU = torch.device("cpu")


def flags() -> list[object]:
    cudnn = torch.backends.cudnn
    operations = (cudnn.rnn, cudnn.conv, torch.backends.cuda.matmul)
    return [*(operation.fp32_precision for operation in operations), cudnn.deterministic]


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


def test_16_mixed_needs_a_gpu() -> None:
    with pytest.raises(
        InputError, match="^trainer.precision=16-mixed: needs a GPU; on a CPU set trainer.precision=bf16"
    ):
        check_precision("16-mixed", CPU)
    for precision, device in (("bf16-mixed", "cpu"), ("32-true", "cpu"), ("16-mixed", "cuda")):
        check_precision(precision, torch.device(device))


def test_exact_arithmetic_is_set_and_restored() -> None:
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


def test_elmo_computes_with_exact_arithmetic(elmo_files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    elmo, seen = ELMo(*elmo_files), []
    vectors = elmo._token_vectors
    monkeypatch.setattr(elmo, "_token_vectors", lambda words: (seen.append(flags()), vectors(words))[1])
    elmo.layers([["a", "b"]])
    assert seen == [["ieee", "ieee", "ieee", True]]
