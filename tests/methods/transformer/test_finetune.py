"""Fine-tuning does what a plain loop in torch does."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from command_line import job
from input_errors import refused
from small_suite import locations, rows
from tiny_transformers import write_bert
from torch.nn import functional

from mtl.jobs.inputs import prepare
from mtl.methods.coded import Coded
from mtl.methods.transformer.finetune import FineTuned, read_predictions, write_codes
from mtl.methods.transformer.network import TransformerNetwork
from mtl.model.network import Batch
from mtl.tasks.task import Task
from mtl.training.schedule import Schedule

RATE, WARMUP, CLIP = 3e-3, 2, 0.5


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """Without dropout, so that no random numbers have to be the same."""
    return write_bert(tmp_path / "bert", [text for text, _, _ in rows(60)], dropout=0.0)


def prepared(bert: Path, folder: Path, *settings: str) -> FineTuned:
    chosen = [f"transformer.path={bert}", f"transformer.learning_rate={RATE}", f"transformer.warmup={WARMUP}"]
    chosen += [f"transformer.gradient_clip={CLIP}", "transformer.epochs=2", "trainer.threads=1", "method=transformer"]
    return prepare(job([*locations(folder), *chosen, *settings]), None)[1]


def train(method: FineTuned, network: TransformerNetwork, folder: Path) -> None:
    task = next(task for task in method.dataset.tasks if task.id in network.tasks)
    method.fine_tune(network, task, 1, folder)


def plain_loop(bert: Path, state: dict[str, Any], method: FineTuned, task: str, decay: float) -> Any:
    """The weights after a plain loop with the same rows in each batch."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_linear_schedule_with_warmup

    tokenizer = AutoTokenizer.from_pretrained(bert)
    declared = next(of for of in method.text_dataset.tasks if of.id == task)
    outputs = len(declared.labels or [0])
    model = AutoModelForSequenceClassification.from_pretrained(bert, num_labels=outputs, dtype=torch.float32)
    model.load_state_dict({name.removeprefix("models.0."): value for name, value in state.items()})
    split = method.text_dataset.splits[task]["train"]
    size = 32
    batches = -(-len(split) // size)
    schedule = Schedule(
        {task: method.sequences.lengths.numpy()[method.dataset.splits[task]["train"].texts[:, 0]]},
        {task: size},
        2 * batches,
        1,
        pool=1,
    )
    matrices = [weight for weight in model.parameters() if weight.ndim > 1]
    others = [weight for weight in model.parameters() if weight.ndim <= 1]
    groups: Any = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.999), eps=1e-8, foreach=False)
    rates = get_linear_schedule_with_warmup(optimizer, WARMUP, 2 * batches)
    model.train()
    for step in range(2 * batches):
        chosen = schedule.rows(step)[1]
        texts = [[method.text_dataset.texts[number] for number in split.texts[row]] for row in chosen]
        given = tokenizer(
            *(list(column) for column in zip(*texts, strict=True)),
            padding=True,
            return_tensors="pt",
            return_token_type_ids=True,
        )
        logits = model(**given).logits
        targets = torch.from_numpy(split.targets[chosen]).float()
        if declared.range is None:
            loss = functional.cross_entropy(logits, targets.long())
        else:
            loss = ((logits[:, 0] - targets) ** 2).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        rates.step()
        optimizer.zero_grad()
    return model.state_dict()


@pytest.mark.parametrize(("task", "decay"), [("kansla", 0.0), ("samma", 0.1), ("betyg", 0.0)])
def test_the_steps_are_those_of_a_plain_loop(bert: Path, tmp_path: Path, task: str, decay: float) -> None:
    method = prepared(bert, tmp_path, f"transformer.weight_decay={decay}")
    declared = next(of for of in method.dataset.tasks if of.id == task)
    network = method.new_network([declared], seed=1)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    train(method, network, tmp_path / "stage" / task)
    expected = plain_loop(bert, before, method, task, decay)
    moved = 0.0
    for name, value in network.models[0].state_dict().items():
        torch.testing.assert_close(value, expected[name], rtol=0, atol=1e-6, msg=name)
        moved = max(moved, float((value - before[f"models.0.{name}"]).abs().max()))
    assert moved > 1e-3


def test_predictions_that_are_not_those_of_the_rows_are_one_line(bert: Path, tmp_path: Path) -> None:
    data = prepared(bert, tmp_path).data
    task, place = data.dataset.tasks[0], tmp_path / "stage"
    codes = {name: np.zeros(len(split)) for name, split in data.splits[task.id].items() if name != "train"}
    write_codes(place, {task.id: codes})
    found = read_predictions(place, data, task)
    assert {name: len(of) for name, of in found.items()} == {name: len(of) for name, of in codes.items()}
    path = place / "predicted.npz"
    for content in (b"", path.read_bytes()[:200], b"other"):
        path.write_bytes(content)
        assert_damaged(path, data, task)
    first = next(iter(codes))
    for others in ({"none": codes}, {task.id: {first: codes[first]}}, {task.id: {**codes, first: codes[first][1:]}}):
        write_codes(place, others)
        assert_damaged(path, data, task)
    for wrong in (np.full_like(codes[first], 99), np.full_like(codes[first], np.nan), np.full(len(codes[first]), "x")):
        write_codes(place, {task.id: {**codes, first: wrong}})
        assert_damaged(path, data, task)
    with path.open("wb") as file:
        np.save(file, codes[first])
    assert_damaged(path, data, task)
    np.savez_compressed(path, **{f"{task.id}/{name}": of for name, of in codes.items()})  # may unpack to any size
    assert_damaged(path, data, task)


def test_a_disk_without_room_is_one_line(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method = prepared(bert, tmp_path)
    monkeypatch.setattr("mtl.base.files.shutil.disk_usage", lambda folder: type("Usage", (), {"free": 1000}))
    refused(lambda: train(method, method.new_network(method.dataset.tasks[:1], 1), tmp_path / "s"), file="s")


def assert_damaged(path: Path, data: Coded, task: Task) -> None:
    refused(lambda: read_predictions(path.parent, data, task), file=path.name)


def test_gradient_checkpointing_changes_nothing(bert: Path, tmp_path: Path) -> None:
    """Its layers are computed again in the backward pass."""
    weights = []
    for key in ("false", "true"):
        method = prepared(bert, tmp_path, f"transformer.gradient_checkpointing={key}")
        task = method.dataset.tasks[0]
        network = method.new_network([task], seed=1)
        assert network.models[0].is_gradient_checkpointing is (key == "true")
        train(method, network, tmp_path / key / task.id)
        weights.append(network.state_dict())
    for name, value in weights[0].items():
        torch.testing.assert_close(value, weights[1][name], rtol=0, atol=1e-6, msg=name)


def test_a_step_is_computed_in_parts(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That these give the step of the whole batch is shown in tests/training."""
    sizes, loss = list[int](), TransformerNetwork.loss

    def noted(network: TransformerNetwork, batch: Batch) -> torch.Tensor:
        sizes.append(len(batch.rows))
        return loss(network, batch)

    monkeypatch.setattr(TransformerNetwork, "loss", noted)
    method = prepared(bert, tmp_path, "transformer.accumulate=8", "transformer.epochs=1")
    train(method, method.new_network(method.dataset.tasks[:1], seed=1), tmp_path / "stage")
    assert max(sizes) == 4
