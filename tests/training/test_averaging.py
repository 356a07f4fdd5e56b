"""The mean of a stage's weights stands in place of the weights in validations and in what is saved, not in training."""

from pathlib import Path

import pytest
import torch
from stage_parts import CPU, assert_same_weights, module, stage

from mtl.model.network import Batch
from mtl.training.averaging import SAMPLES, AveragedWeights
from mtl.training.module import MultitaskModule
from mtl.training.stage import fit


class Noting(MultitaskModule):
    """Notes the weights after each step, and those of each validation."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.steps: list[torch.Tensor] = []
        self.validated: list[torch.Tensor] = []

    def _weights(self) -> torch.Tensor:
        return torch.cat([weight.detach().flatten().clone() for weight in self.network.parameters()])

    def on_train_batch_end(self, outputs: object, batch: Batch, batch_idx: int) -> None:
        self.steps.append(self._weights())

    def on_validation_epoch_end(self) -> None:
        self.validated.append(self._weights())
        super().on_validation_epoch_end()


def test_the_mean_validates_and_is_saved_and_training_goes_on_from_the_weights(tmp_path: Path) -> None:
    plain, averaged = module(kind=Noting), module(kind=Noting)
    assert isinstance(plain, Noting) and isinstance(averaged, Noting)
    fit(plain, stage(tmp_path / "plain/stage", checkpoint="last"), CPU)
    fit(averaged, stage(tmp_path / "averaged/stage", checkpoint="last", average=0.4), CPU)
    assert all(map(torch.equal, plain.steps, averaged.steps))
    for number, weights in enumerate(averaged.validated, start=1):
        last = plain.steps[24 : 4 * number]  # of 40 steps, the last 16
        expected = torch.stack(last).mean(dim=0) if last else plain.steps[4 * number - 1]
        torch.testing.assert_close(weights, expected)
    assert torch.equal(averaged._weights(), averaged.validated[-1])
    saved = torch.load(tmp_path / "averaged/stage/final.ckpt", weights_only=True)["state_dict"]
    assert all(torch.equal(saved[name], value) for name, value in averaged.network.state_dict().items())


def test_the_mean_of_one_step_is_its_weights(tmp_path: Path) -> None:
    plain, averaged = module(), module()
    fit(plain, stage(tmp_path / "plain/stage", checkpoint="last"), CPU)
    fit(averaged, stage(tmp_path / "averaged/stage", checkpoint="last", average=0.01), CPU)
    assert_same_weights(plain, averaged)


def test_weights_that_are_fixed_are_not_averaged(tmp_path: Path) -> None:
    trained = module()
    fixed, other, *_ = trained.network.parameters()
    fixed.requires_grad_(False)
    before, others = fixed.clone(), other.clone()
    fit(trained, stage(tmp_path / "stage", checkpoint="last", average=0.5), CPU)
    assert torch.equal(fixed, before) and not torch.equal(other, others)


@pytest.mark.parametrize(("share", "total"), [(0.25, 6000), (0.25, 40), (0.3, 777), (0.001, 10), (0.99, 51)])
def test_a_mean_has_few_steps_and_the_last_one(share: float, total: int) -> None:
    averaged = AveragedWeights(share, total)
    steps = range(averaged.first, total + 1, averaged.every)
    assert steps[-1] == total and 1 <= len(steps) <= SAMPLES
    assert steps[0] > total - max(1, round(share * total))
