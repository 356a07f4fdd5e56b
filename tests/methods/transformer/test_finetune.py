"""Fine-tuning does what a plain loop in torch does."""

from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import job
from small_suite import locations, rows
from tiny_transformers import write_bert
from torch.nn import functional

from mtl.jobs.prepared import prepare
from mtl.methods.transformer.finetune import Batching, FineTuning
from mtl.methods.transformer.method import FineTuned
from mtl.training.batches import Schedule

RATE, WARMUP, CLIP = 3e-3, 2, 0.5


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """Without dropout, so that no random numbers have to be the same."""
    return write_bert(tmp_path / "bert", [text for text, _, _ in rows(60)], dropout=0.0)


def prepared(bert: Path, folder: Path, *settings: str) -> FineTuned:
    chosen = [f"transformer.path={bert}", f"transformer.learning_rate={RATE}", f"transformer.warmup={WARMUP}"]
    chosen += [f"transformer.gradient_clip={CLIP}", "transformer.epochs=2", "trainer.threads=1", "method=transformer"]
    made = prepare(job([*locations(folder), *chosen, *settings]))[1]
    assert isinstance(made, FineTuned)
    return made


def plain_loop(bert: Path, state: dict[str, Any], method: FineTuned, task: str, accumulate: int, decay: float) -> Any:
    """The weights after a plain loop with the same rows in each batch."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_linear_schedule_with_warmup

    tokenizer = AutoTokenizer.from_pretrained(bert)
    declared = next(of for of in method.texts.tasks if of.id == task)
    outputs = len(declared.labels or [0])
    model = AutoModelForSequenceClassification.from_pretrained(bert, num_labels=outputs, dtype=torch.float32)
    model.load_state_dict({name.removeprefix("models.0."): value for name, value in state.items()})
    split = method.texts.splits[task]["train"]
    size = 32 // accumulate
    batches = -(-len(split) // size)
    steps = 2 * -(-batches // accumulate)
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
    rates = get_linear_schedule_with_warmup(optimizer, WARMUP, steps)
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
            low, high = declared.range
            loss = ((logits[:, 0] - (targets - low) / (high - low)) ** 2).mean()
        (loss / accumulate).backward()
        in_epoch = step % batches
        if (in_epoch + 1) % accumulate == 0 or in_epoch == batches - 1:
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            rates.step()
            optimizer.zero_grad()
    return model.state_dict()


@pytest.mark.parametrize(
    ("task", "accumulate", "decay"), [("kansla", 1, 0.0), ("samma", 1, 0.1), ("betyg", 1, 0.0), ("samma", 4, 0.0)]
)
def test_the_steps_are_those_of_a_plain_loop(
    bert: Path, tmp_path: Path, task: str, accumulate: int, decay: float
) -> None:
    settings = [f"transformer.accumulate={accumulate}", f"transformer.weight_decay={decay}"]
    method = prepared(bert, tmp_path, *settings)
    declared = next(of for of in method.dataset.tasks if of.id == task)
    network = method._network([declared], seed=1)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    stage = FineTuning(method.config, method.data, method.sequences, declared, 1, tmp_path / "stage" / task)
    stage.train(network)
    expected = plain_loop(bert, before, method, task, accumulate, decay)
    moved = 0.0
    for name, value in network.models[0].state_dict().items():
        torch.testing.assert_close(value, expected[name], rtol=0, atol=1e-6, msg=name)
        moved = max(moved, float((value - before[f"models.0.{name}"]).abs().max()))
    assert moved > 1e-3


def test_gradient_checkpointing_changes_nothing(bert: Path, tmp_path: Path) -> None:
    """Its layers are computed again in the backward pass."""
    weights = []
    for key in ("false", "true"):
        method = prepared(bert, tmp_path, f"transformer.gradient_checkpointing={key}")
        task = method.dataset.tasks[0]
        network = method._network([task], seed=1)
        assert network.models[0].is_gradient_checkpointing is (key == "true")
        FineTuning(method.config, method.data, method.sequences, task, 1, tmp_path / key / task.id).train(network)
        weights.append(network.state_dict())
    for name, value in weights[0].items():
        torch.testing.assert_close(value, weights[1][name], rtol=0, atol=1e-6, msg=name)


def test_small_data_is_shuffled_freely() -> None:
    """Batches of similar length need many batches to choose from: 60 rows give none, 100,000 rows pools of 32."""
    assert [Batching(32, 1).pool(batches) for batches in (1, 2, 15, 16, 80, 3000)] == [1, 1, 1, 2, 10, 32]
