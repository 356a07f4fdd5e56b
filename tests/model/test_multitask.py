import torch

from mtl.model.multitask import Heads, Multitask, loss_of, predict
from mtl.tasks.suite import Task
from mtl.training.batches import Batch

LABELS = Task(id="a.b", text=["x"], target="y", labels=["n", "p"], metric="accuracy")
NUMBERS = Task(id="r", text=["x", "z"], target="y", range=[1, 5], metric="spearman")


def test_targets_are_scaled_and_predictions_scaled_back_and_clipped() -> None:
    outputs = torch.tensor([[0.0], [0.25], [1.0], [-3.0], [7.0]])
    assert predict(NUMBERS, outputs).tolist() == [1, 2, 5, 1, 5]
    assert loss_of(NUMBERS, outputs[:3], torch.tensor([1.0, 2.0, 5.0])) == 0
    assert loss_of(NUMBERS, outputs[:1], torch.tensor([3.0])) == 0.25
    assert predict(LABELS, torch.tensor([[0.0, 1.0], [2.0, 1.0]])).tolist() == [1, 0]


def test_a_metric_is_computed_once_over_the_whole_split() -> None:
    heads = Heads([LABELS, NUMBERS], 4, 8, 0.0)
    module = Multitask([LABELS, NUMBERS], heads, None, 1e-3, 1e-4, 10).eval()
    module.log_dict = lambda values, **_: logged.update(values)  # type: ignore[method-assign]
    logged: dict[str, float] = {}
    torch.manual_seed(0)
    batches = [Batch("a.b", torch.randint(0, 2, (n,)).float(), vectors=torch.randn(n, 4)) for n in (7, 2)]
    batches += [Batch("r", torch.randint(1, 6, (n,)).float(), vectors=torch.randn(2 * n, 4)) for n in (9, 3)]
    module.on_validation_epoch_start()
    with torch.no_grad():
        for batch in batches:
            module.validation_step(batch, 0)
        hits = torch.cat([(heads["a.b"](b.vectors).argmax(1) == b.targets).float() for b in batches[:2]])
    module.on_validation_epoch_end()
    assert abs(logged["dev/a.b"] - 100 * float(hits.mean())) < 1e-4
    assert abs(logged["dev/average"] - (logged["dev/a.b"] + logged["dev/r"]) / 2) < 1e-9


def test_the_learning_rate_falls_linearly() -> None:
    module = Multitask([LABELS], Heads([LABELS], 4, 8, 0.0), None, 1e-4, 1e-5, 10)
    made = module.configure_optimizers()
    optimizer, scheduler = made["optimizer"], made["lr_scheduler"]["scheduler"]
    assert optimizer.defaults["amsgrad"]
    rates = []
    for _ in range(13):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert rates[0] == 1e-4
    torch.testing.assert_close(torch.tensor(rates[5]), torch.tensor(5.5e-5))
    torch.testing.assert_close(torch.tensor(rates[10:]), torch.full((3,), 1e-5))
