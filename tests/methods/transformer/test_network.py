"""The network of a transformer before training."""

from pathlib import Path

import pytest
import torch
from tiny_transformers import write_bert

from mtl.config.schema import TrainerConfig
from mtl.methods.transformer.network import TransformerNetwork, body_input, new_network
from mtl.methods.transformer.pretrained import Pretrained, open_pretrained
from mtl.tasks.task import Task

TASKS = [Task(id=id, kind="labels", text=["x"], target="y", labels=["a", "b"], metric="accuracy") for id in ("t", "u")]


@pytest.fixture
def pretrained(tmp_path: Path) -> Pretrained:
    return open_pretrained(str(write_bert(tmp_path, ["en dag"])))


def made(pretrained: Pretrained, precision: str, device: str) -> TransformerNetwork:
    trainer = TrainerConfig("auto", precision, force_precision=True)
    return new_network(pretrained, TASKS, {"t": 2, "u": 2}, 1, trainer, torch.device(device)).eval()


def test_plain_attention_in_bfloat16_on_a_cpu_gives_the_same_outputs(pretrained: Pretrained) -> None:
    plain = made(pretrained, "bf16-mixed", "cpu")
    others = [made(pretrained, "32-true", "cpu"), made(pretrained, "bf16-mixed", "cuda")]
    assert plain.body.config._attn_implementation == "eager"
    assert [other.body.config._attn_implementation for other in others] == ["sdpa", "sdpa"]
    tokens, lengths = torch.tensor([[[2, 0], [5, 0], [6, 1], [3, 1]]] * 2), torch.tensor([4, 2])
    given = body_input(tokens, lengths, pretrained.padding, pretrained.has_types)
    for model, other in zip(plain.models, others[0].models, strict=True):
        torch.testing.assert_close(model(**given).logits, other(**given).logits)


def test_tasks_share_the_body_and_begin_with_the_same_head(pretrained: Pretrained) -> None:
    network = made(pretrained, "32-true", "cpu")
    first, second = network.models
    assert first.base_model is second.base_model
    assert first.classifier is not second.classifier
    assert torch.equal(first.classifier.weight, second.classifier.weight)
