"""Fine-tuning does what a plain loop in torch does."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from command_line import job
from kinds_suite import write_kinds_suite
from small_suite import locations, rows
from tiny_transformers import write_bert
from torch.nn import functional

from mtl.base.errors import InputError
from mtl.jobs.inputs import prepare
from mtl.methods.coded import Coded
from mtl.methods.transformer.finetune import FineTuned, fine_tune, read_predictions, write_codes
from mtl.methods.transformer.network import TransformerNetwork
from mtl.model.network import Batch
from mtl.tasks.task import Task
from mtl.training.batches import BatchDataset, Schedule
from mtl.training.module import MultitaskModule

RATE, WARMUP, CLIP = 3e-3, 2, 0.5


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """Without dropout, so that no random numbers have to be the same."""
    return write_bert(tmp_path / "bert", [text for text, _, _ in rows(60)], dropout=0.0)


def prepared(bert: Path, folder: Path, *settings: str) -> FineTuned:
    chosen = [f"transformer.path={bert}", f"transformer.learning_rate={RATE}", f"transformer.warmup={WARMUP}"]
    chosen += [f"transformer.gradient_clip={CLIP}", "transformer.epochs=2", "trainer.threads=1", "method=transformer"]
    made = prepare(job([*locations(folder), *chosen, *settings]), None)[1]
    assert isinstance(made, FineTuned)
    return made


def train(method: FineTuned, network: TransformerNetwork, folder: Path) -> None:
    settings = method.config.transformer
    fine_tune(method.config, method.data, method.sequences, network, 1, folder, "a stage", settings.epochs)


def plain_loop(bert: Path, state: dict[str, Any], method: FineTuned, task: str, decay: float) -> Any:
    """The weights after a plain loop with the same rows in each batch."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_linear_schedule_with_warmup

    tokenizer = AutoTokenizer.from_pretrained(bert)
    declared = next(of for of in method.texts.tasks if of.id == task)
    outputs = len(declared.labels or [0])
    model = AutoModelForSequenceClassification.from_pretrained(bert, num_labels=outputs, dtype=torch.float32)
    model.load_state_dict({name.removeprefix("models.0."): value for name, value in state.items()})
    split = method.texts.splits[task]["train"]
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
        texts = [[method.texts.texts[number] for number in split.texts[row]] for row in chosen]
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
    network = method.new_network_of([declared], seed=1)
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
    assert read_predictions(place, data, task) is None
    write_codes(place, {task.id: codes})
    found = read_predictions(place, data, task)
    assert found is not None and {name: len(of) for name, of in found.items()} == {
        name: len(of) for name, of in codes.items()
    }
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


def assert_damaged(path: Path, data: Coded, task: Task) -> None:
    said = f"^{path}: is damaged, or of other rows; delete {path.parent}, and run this again$"
    with pytest.raises(InputError, match=said):
        read_predictions(path.parent, data, task)


def test_gradient_checkpointing_changes_nothing(bert: Path, tmp_path: Path) -> None:
    """Its layers are computed again in the backward pass."""
    weights = []
    for key in ("false", "true"):
        method = prepared(bert, tmp_path, f"transformer.gradient_checkpointing={key}")
        task = method.dataset.tasks[0]
        network = method.new_network_of([task], seed=1)
        assert network.models[0].is_gradient_checkpointing is (key == "true")
        train(method, network, tmp_path / key / task.id)
        weights.append(network.state_dict())
    for name, value in weights[0].items():
        torch.testing.assert_close(value, weights[1][name], rtol=0, atol=1e-6, msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["finetune", "joint"])
def test_parts_of_a_step_give_the_step_of_the_whole_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str
) -> None:
    """Its gradients are those of the mean loss over the rows of the step: with a last batch that is smaller, and with choices among
    2 to 4 candidates, of which a batch has few."""
    (tmp_path / "kinds").mkdir()
    suite = write_kinds_suite(tmp_path / "kinds")
    texts = [path.read_text(encoding="utf-8") for path in sorted(suite.parent.rglob("train.jsonl"))]
    bert = write_bert(tmp_path / "bert", texts, dropout=0.0)
    places = [f"suite={suite}", f"data_dir={suite.parent / 'data'}", f"run_dir={tmp_path / 'run'}"]
    settings = ["transformer.accumulate=8", "transformer.batch_size=16", f"variant={variant}"]
    settings += [
        "transformer.epochs=1",
        *(["transformer.joint_epochs=1"] if variant == "joint" else []),
        "transformer.gradient_clip=1e9",
        "trainer.threads=1",
    ]
    made = prepare(job([*places, "method=transformer", f"transformer.path={bert}", *settings]), None)[1]
    assert isinstance(made, FineTuned)
    steps: list[tuple[str, list[int]]] = []
    compared: list[float] = []
    loss, clip = TransformerNetwork.loss, MultitaskModule.configure_gradient_clipping

    def noted(network: TransformerNetwork, batch: Batch) -> torch.Tensor:
        assert len(batch.rows) <= 2 and batch.tokens is not None and batch.lengths is not None
        assert batch.tokens.shape[1] == batch.lengths.max()
        steps.append((batch.task, batch.rows.tolist()))
        return loss(network, batch)

    def compare(module: MultitaskModule, *arguments: Any, **options: Any) -> None:
        network = module.network
        found = [weight.grad.clone() for weight in network.parameters() if weight.grad is not None]
        (task,) = {task for task, _ in steps}
        rows = np.array([row for _, part in steps for row in part])
        steps.clear()
        split = made.data.train(next(of for of in made.dataset.tasks if of.id == task), made.config.loss, 1)
        network.zero_grad()
        loss(network, BatchDataset({task: split}, made.sequences)[(task, rows)]).backward()
        whole = [weight.grad for weight in network.parameters() if weight.grad is not None]
        scale = max(float(gradient.abs().max()) for gradient in whole)
        assert scale > 2e-5  # a hundred times the first part of the tolerance
        for one, other in zip(found, whole, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=2e-7 + 1e-4 * scale)
        compared.append(len(rows))
        clip(module, *arguments, **options)

    monkeypatch.setattr(TransformerNetwork, "loss", noted)
    monkeypatch.setattr(MultitaskModule, "configure_gradient_clipping", compare)
    for _ in made.predictions(1, tmp_path / "run/seed-1"):
        pass
    assert len(set(compared)) > 2  # rows of a step
