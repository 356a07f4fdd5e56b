"""How weights change: Adam with dense and sparse gradients, its learning rate, and the clipping of gradients."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Optimization:
    """How a stage changes the weights."""

    optimizer: Callable[[nn.Module], torch.optim.Optimizer]  # makes the optimizer of a network's trained weights
    factor: Callable[[int], float]  # the factor of all its learning rates at a step; steps are counted from 0


def falling_adam(learning_rate: float, final_learning_rate: float, total_steps: int) -> Optimization:
    """Adam with AMSGrad, as in jiant. Its learning rate falls linearly over `total_steps` steps."""
    last_factor = final_learning_rate / learning_rate

    def optimizer(network: nn.Module) -> torch.optim.Optimizer:
        parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        return Adam(parameters, learning_rate, amsgrad=True, fused=fused(parameters))

    def factor(step: int) -> float:
        return 1 + (last_factor - 1) * min(1.0, step / total_steps)

    return Optimization(optimizer, factor)


def fused(parameters: list[nn.Parameter]) -> bool:
    """Whether the optimizer of these weights is a fused one: on a GPU it would undo the loss scaling of 16-mixed after gradients are clipped."""
    return parameters[0].device.type == "cpu"


class Adam(torch.optim.Adam):
    """`torch.optim.Adam` that also takes sparse gradients, as tables of word vectors have (`embeddings.sparse`). It updates only the rows that they
    have; the moments of other rows do not change, as in `torch.optim.SparseAdam`, which has no AMSGrad."""

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the weights once, and return the loss. The closure, if there is one, computes the loss and the gradients, and returns the loss."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and parameter.grad.is_sparse:
                    self._update_rows(parameter, group)
                    parameter.grad = None  # torch's Adam refuses a sparse gradient
        super().step()
        return loss

    def _update_rows(self, table: Tensor, group: dict[str, Any]) -> None:
        """Change the rows of a table that its sparse gradient has. `group` is the table's group of parameters."""
        assert table.grad is not None
        gradient = table.grad.coalesce()
        rows, values = gradient.indices()[0], gradient.values()
        state = self.state[table]
        if not state:
            names = ("exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else []))
            state["step"] = torch.tensor(0.0)
            state.update({name: torch.zeros_like(table) for name in names})
        state["step"] += 1
        steps, (beta1, beta2) = float(state["step"]), group["betas"]
        mean = state["exp_avg"][rows].lerp_(values, 1 - beta1)
        square = state["exp_avg_sq"][rows].mul_(beta2).addcmul_(values, values, value=1 - beta2)
        state["exp_avg"][rows], state["exp_avg_sq"][rows] = mean, square
        if group["amsgrad"]:
            square = torch.maximum(square, state["max_exp_avg_sq"][rows])
            state["max_exp_avg_sq"][rows] = square
        deviation = (square / (1 - beta2**steps)).sqrt_().add_(group["eps"])
        table.index_add_(0, rows, mean / deviation, alpha=-float(group["lr"]) / (1 - beta1**steps))


def clip_gradients(parameters: Iterable[nn.Parameter], limit: float) -> None:
    """Scale all gradients so that the norm of all of them together is at most `limit`. A sparse gradient is summed by rows first."""
    trained = [parameter for parameter in parameters if parameter.grad is not None]
    if not any(parameter.grad is not None and parameter.grad.is_sparse for parameter in trained):
        nn.utils.clip_grad_norm_(trained, limit)  # on a GPU, one operation for all
        return
    values = []
    for parameter in trained:
        assert parameter.grad is not None
        if parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()
        values.append(parameter.grad.values() if parameter.grad.is_sparse else parameter.grad)
    factor = (limit / (nn.utils.get_total_norm(values) + 1e-6)).clamp(max=1.0)
    for gradient_values in values:
        gradient_values.mul_(factor)
