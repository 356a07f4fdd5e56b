"""The network of a transformer before training, and its learning rates."""

from pathlib import Path

import pytest
import torch
from default_settings import section
from tiny_transformers import write_bert

from mtl.base.settings.schema import TrainerConfig, TransformerConfig
from mtl.methods.transformer.network import TransformerNetwork, body_input, fine_tuning, parameter_groups
from mtl.methods.transformer.opening import open_pretrained
from mtl.methods.transformer.pretrained import Pretrained
from mtl.model.network import Batch
from mtl.tasks.task import Task

TASKS = [Task(id=id, kind="labels", text=["x"], target="y", labels=["a", "b"], metric="accuracy") for id in ("t", "u")]


@pytest.fixture
def pretrained(tmp_path: Path) -> Pretrained:
    return open_pretrained(str(write_bert(tmp_path, ["en dag"])))


def made(pretrained: Pretrained, precision: str, device: str) -> TransformerNetwork:
    trainer = TrainerConfig("auto", precision, force_precision=True)
    given = (1, trainer, torch.device(device), section(TransformerConfig))
    return TransformerNetwork(pretrained, TASKS, {"t": 2, "u": 2}, *given).eval()


def test_plain_attention_gives_the_same_outputs_and_tasks_begin_with_one_body(pretrained: Pretrained) -> None:
    plain = made(pretrained, "bf16-mixed", "cpu")
    others = [made(pretrained, "32-true", "cpu"), made(pretrained, "bf16-mixed", "cuda")]
    assert plain.body.config._attn_implementation == "eager"
    assert [other.body.config._attn_implementation for other in others] == ["sdpa", "sdpa"]
    tokens, lengths = torch.tensor([[[2, 0], [5, 0], [6, 1], [3, 1]]] * 2), torch.tensor([4, 2])
    given = body_input(pretrained, tokens, lengths)
    for model, other in zip(plain.models, others[0].models, strict=True):
        torch.testing.assert_close(model(**given).logits, other(**given).logits)
    network = made(pretrained, "32-true", "cpu")
    first, second = network.models
    assert first.base_model is second.base_model
    assert first.classifier is not second.classifier
    assert torch.equal(first.classifier.weight, second.classifier.weight)


@pytest.mark.parametrize(("number_loss", "predicted"), [("raw", 0.5), ("scaled", 3.0)])
def test_numbers_are_raw_or_scaled_everywhere(pretrained: Pretrained, number_loss: str, predicted: float) -> None:
    task = Task(id="n", kind="number", text=["x"], target="y", range=[1, 5], metric="spearman")
    settings = section(TransformerConfig, number_loss=number_loss)
    trainer = TrainerConfig("cpu", "32-true")
    network = TransformerNetwork(pretrained, [task], {"n": 1}, 1, trainer, torch.device("cpu"), settings)
    batch = Batch("n", torch.arange(1), torch.tensor([4.0]))
    assert network.predict(batch, torch.tensor([[0.5]])).tolist() == [predicted]
    right = torch.tensor([[4.0 if number_loss == "raw" else 0.75]])
    assert float(network.head_targets["n"].loss(right, batch.targets, None)) == 0.0


@pytest.mark.parametrize(("warmup", "total"), [(100, 400), (0.06, 50), (0, 7), (10, 4), (4, 4)])
def test_the_schedule_is_that_of_transformers(warmup: float, total: int) -> None:
    from transformers import get_linear_schedule_with_warmup

    factor = fine_tuning(section(TransformerConfig, warmup=warmup), total).factor
    steps = {100: 100, 0.06: 3, 0: 0, 10: 10, 4: 4}[warmup]
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 1.0)
    theirs = get_linear_schedule_with_warmup(optimizer, steps, total)
    for step in range(total):
        assert factor(step) == pytest.approx(theirs.get_last_lr()[0], abs=1e-12), step
        optimizer.step()
        theirs.step()


def test_vectors_have_no_weight_decay(pretrained: Pretrained) -> None:
    network = made(pretrained, "32-true", "cpu")
    groups = parameter_groups(network, 0.1)
    decays = {id(weight): group["weight_decay"] for group in groups for weight in group["params"]}
    names = {"bert.embeddings.LayerNorm.weight": 0.0, "bert.pooler.dense.weight": 0.1, "classifier.bias": 0.0}
    assert {name: decays[id(network.models[0].get_parameter(name))] for name in names} == names
    assert len(decays) == len(list(network.parameters()))
