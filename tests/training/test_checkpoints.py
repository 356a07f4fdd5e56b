from pathlib import Path
from typing import Literal

import pytest
import torch
from input_errors import refused
from torch import nn

from mtl.training.checkpoints import (
    DONE_FILE,
    STATE_FILE,
    WEIGHTS_FILES,
    load_finished,
    load_weights,
    read_weights,
    set_weights,
    weights_of_part,
)


def saved(path: Path, network: nn.Module, without: str = "-") -> Path:
    weights = {name: value for name, value in network.state_dict().items() if not name.startswith(without)}
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"state_dict": weights, "epoch": 3}, path)
    return path


def network(seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.Linear(3, 1))


def test_weights_that_a_checkpoint_leaves_out_stay_as_they_are(tmp_path: Path) -> None:
    kept, loaded = network(2), network(1)
    load_weights(loaded, saved(tmp_path / "best.ckpt", kept, without="0."))
    assert torch.equal(loaded[0].weight, network(1)[0].weight)
    assert torch.equal(loaded[2].weight, kept[2].weight) and torch.equal(loaded[2].bias, kept[2].bias)


@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_a_finished_stage_is_loaded_without_its_resume_state(
    tmp_path: Path, checkpoint: Literal["best", "last"]
) -> None:
    kept, loaded = network(2), network(1)
    saved(tmp_path / WEIGHTS_FILES[checkpoint], kept)
    (tmp_path / STATE_FILE).write_bytes(b"state")
    assert not load_finished(loaded, tmp_path, checkpoint)
    assert (tmp_path / STATE_FILE).exists() and loaded.training
    assert torch.equal(loaded[0].weight, network(1)[0].weight)
    (tmp_path / DONE_FILE).write_text("{}", encoding="utf-8")
    assert load_finished(loaded, tmp_path, checkpoint)
    assert not (tmp_path / STATE_FILE).exists() and not loaded.training
    assert torch.equal(loaded[0].weight, kept[0].weight)


def test_a_missing_or_damaged_checkpoint_is_one_line(tmp_path: Path) -> None:
    path = saved(tmp_path / "best.ckpt", network(1))
    assert set(read_weights(path)) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    whole = path.read_bytes()
    for content in (b"", whole[:100], b"not a checkpoint"):
        path.write_bytes(content)
        refused(lambda: read_weights(path), file="best.ckpt")
    for value in ({"weights": {}}, [1]):
        torch.save(value, path)
        refused(lambda: read_weights(path), file="best.ckpt")
    refused(lambda: read_weights(tmp_path / "none.ckpt"), file="none.ckpt")


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(1).as_strided((10**6, 10**6), (0, 0)),
        torch.zeros(3).expand(2, 3),
        torch.zeros(2, 2).to_sparse(),
        torch.zeros(2, 2, device="meta"),
    ],
    ids=["without strides", "repeated", "sparse", "without numbers"],
)
def test_a_tensor_must_have_its_numbers_in_the_file(tmp_path: Path, tensor: torch.Tensor) -> None:
    """A few bytes can describe a tensor that no memory holds. A list that holds itself is searched once."""
    listed: list[object] = [tensor]
    listed.append(listed)
    for value in ({"w": tensor}, {"w": torch.zeros(1), "others": {"all": listed}}):
        torch.save({"state_dict": value}, tmp_path / "best.ckpt")
        refused(lambda: read_weights(tmp_path / "best.ckpt"), file="best.ckpt")


@pytest.mark.parametrize("content", [None, b"", b"damaged"])
def test_a_finished_stage_without_its_weights_says_what_to_delete(tmp_path: Path, content: bytes | None) -> None:
    (tmp_path / DONE_FILE).write_text("{}", encoding="utf-8")
    if content is not None:
        (tmp_path / "final.ckpt").write_bytes(content)
    refused(lambda: load_finished(network(1), tmp_path, "last"), file="final.ckpt")


def test_weights_of_a_part() -> None:
    weights = {"encoder.lstm.w": torch.zeros(1), "heads.encoder.w": torch.ones(1), "encoder.mix": torch.ones(2)}
    assert set(weights_of_part(weights, "encoder.")) == {"lstm.w", "mix"}
    assert weights_of_part(weights, "heads.")["encoder.w"] is weights["heads.encoder.w"]


def test_weights_of_another_network_are_one_line(tmp_path: Path) -> None:
    path, loaded = saved(tmp_path / "best.ckpt", network(1), without="2.bias"), network(2)
    refused(lambda: set_weights(loaded, read_weights(path), path), file="best.ckpt")
    set_weights(loaded, network(1).state_dict(), path)
    assert torch.equal(loaded[2].bias, network(1)[2].bias)
    other = saved(tmp_path / "other.ckpt", nn.Sequential(nn.Linear(2, 4)))
    refused(lambda: load_weights(loaded, other), file="other.ckpt")
