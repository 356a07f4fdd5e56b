"""The network of a transformer before training."""

from pathlib import Path

import pytest
import torch
from default_settings import section
from tiny_transformers import write_bert

from mtl.methods.transformer.network import TransformerNetwork, body_input, new_network
from mtl.methods.transformer.pretrained import Pretrained, open_pretrained
from mtl.model.network import Batch
from mtl.settings.schema import TrainerConfig, TransformerConfig
from mtl.tasks.task import Task

TASKS = [Task(id=id, kind="labels", text=["x"], target="y", labels=["a", "b"], metric="accuracy") for id in ("t", "u")]


@pytest.fixture
def pretrained(tmp_path: Path) -> Pretrained:
    return open_pretrained(str(write_bert(tmp_path, ["en dag"])))


def made(pretrained: Pretrained, precision: str, device: str) -> TransformerNetwork:
    trainer = TrainerConfig("auto", precision, force_precision=True)
    return new_network(
        pretrained, TASKS, {"t": 2, "u": 2}, 1, trainer, torch.device(device), section(TransformerConfig)
    ).eval()


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


@pytest.mark.parametrize(("number_loss", "predicted"), [("raw", 0.5), ("scaled", 3.0)])
def test_numbers_are_raw_or_scaled_in_the_loss_and_in_predictions(
    pretrained: Pretrained, number_loss: str, predicted: float
) -> None:
    task = Task(id="n", kind="number", text=["x"], target="y", range=[1, 5], metric="spearman")
    settings = section(TransformerConfig, number_loss=number_loss)
    trainer = TrainerConfig("cpu", "32-true")
    network = new_network(pretrained, [task], {"n": 1}, 1, trainer, torch.device("cpu"), settings)
    batch = Batch("n", torch.arange(1), torch.tensor([4.0]))
    for each in (network, network.for_task(task)):
        assert each.predict(batch, torch.tensor([[0.5]])).tolist() == [predicted]
        right = torch.tensor([[4.0 if number_loss == "raw" else 0.75]])
        assert float(each.kinds["n"].loss(right, batch.targets, None)) == 0.0
