import numpy as np
import pytest
import torch

from mtl.base.errors import DivergedError
from mtl.model.network import Batch, Heads, Network
from mtl.tasks.task import ScoredRows, Task
from mtl.training.module import MultitaskModule, TaskScore
from mtl.training.optimizers import falling_adam

LABELS = Task(id="a.b", kind="labels", text=["x"], target="y", labels=["n", "p"], metric="accuracy")
NUMBERS = Task(id="r", kind="number", text=["x", "z"], target="y", range=[1, 5], metric="spearman")
WORDS = Task(id="w", kind="word", text=["x"], target="y", metric="accuracy")


def module(dev: dict[str, np.ndarray]) -> MultitaskModule:
    """With a dev split of these targets for each task."""
    torch.manual_seed(0)
    tasks = [task for task in (LABELS, NUMBERS) if task.id in dev]
    heads = Heads(tasks, {"a.b": 2, "r": 1}, 4, 8, 0.0)
    scores = {task.id: TaskScore(task, ScoredRows(dev[task.id]), []) for task in tasks}
    return MultitaskModule(Network(tasks, heads, None), scores, falling_adam(1e-4, 1e-5, 10)).eval()


def test_a_metric_is_computed_once_over_the_whole_split() -> None:
    rng = np.random.default_rng(0)
    labels, numbers = rng.integers(0, 2, 9).astype(float), rng.integers(1, 6, 12).astype(float)
    tested = module({"a.b": labels, "r": numbers})
    logged: dict[str, float] = {}
    tested.log_dict = lambda values, **_: logged.update(values)  # type: ignore[method-assign]
    # Each split in two batches, its rows in another order than in the file.
    batches, hits = [], []
    order = torch.from_numpy(rng.permutation(9))
    for rows in (order[:7], order[7:]):
        batches.append(Batch("a.b", rows, torch.from_numpy(labels)[rows].float(), vectors=torch.randn(len(rows), 4)))
        hits.append(tested.network.heads["a.b"](batches[-1].vectors).argmax(1) == batches[-1].targets)
    for rows in torch.from_numpy(rng.permutation(12)).split(9):
        batches.append(Batch("r", rows, torch.from_numpy(numbers)[rows].float(), vectors=torch.randn(2 * len(rows), 4)))
    for _ in range(2):  # the second validation counts nothing of the first
        tested.on_validation_epoch_start()
        with torch.no_grad():
            for batch in batches:
                tested.validation_step(batch, 0)
        tested.on_validation_epoch_end()
        assert logged["dev/a.b"] == pytest.approx(100 * float(torch.cat(hits).float().mean()), abs=1e-4)
        assert logged["dev/average"] == pytest.approx((logged["dev/a.b"] + logged["dev/r"]) / 2, abs=1e-9)


def test_dev_words_that_training_never_saw_count_as_wrong_and_outputs_must_be_finite() -> None:
    dev = ScoredRows(np.array(["hund", "fisk", "katt", "hund"], dtype=object))
    metric = TaskScore(WORDS, dev, ["hund", "katt"])
    metric.update(torch.tensor([1, 0]), torch.tensor([2, 3]), torch.tensor(True))
    metric.update(torch.tensor([0, 0]), torch.tensor([1, 0]), torch.tensor(True))
    assert float(metric.compute()) == 75
    metric.update(torch.tensor([0]), torch.tensor([1]), torch.tensor(False))
    with pytest.raises(DivergedError, match="the outputs for dev rows are not finite"):
        metric.compute()


def test_the_learning_rate_falls_linearly() -> None:
    made = module({"a.b": np.zeros(2)}).configure_optimizers()
    optimizer, scheduler = made["optimizer"], made["lr_scheduler"]["scheduler"]
    assert optimizer.defaults["amsgrad"]
    rates = []
    for _ in range(13):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    torch.testing.assert_close(rates, [1e-4 * (1 - 0.9 * min(step, 10) / 10) for step in range(13)])
