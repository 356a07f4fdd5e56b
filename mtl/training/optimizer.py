"""How a stage changes the weights: optimizer and learning rates, Adam for large tables of word vectors, clipping of gradients."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Optimization:
    """How a stage changes the weights.

    optimizer: makes the optimizer of a network's trained weights. factor: of all its learning rates at a step; steps are counted from 0.
    """

    optimizer: Callable[[nn.Module], torch.optim.Optimizer]
    factor: Callable[[int], float]


def falling_adam(
    learning_rate: float, final_learning_rate: float, total_steps: int, warmup_steps: int = 0
) -> Optimization:
    """Adam with AMSGrad (jiant), its learning rate falling linearly over `total_steps` steps.

    warmup_steps: the first steps, in which it is multiplied with a factor that rises linearly to 1.
    """
    last = final_learning_rate / learning_rate

    def optimizer(network: nn.Module) -> torch.optim.Optimizer:
        parameters = trained_parameters(network)
        return Adam(parameters, learning_rate, amsgrad=True, fused=fused(parameters))

    def factor(step: int) -> float:
        warmed = min(1.0, (step + 1) / (warmup_steps + 1))
        return warmed * (1 + (last - 1) * min(1.0, step / total_steps))

    return Optimization(optimizer, factor)


def trained_parameters(network: nn.Module) -> list[nn.Parameter]:
    """The weights that are not fixed."""
    return [parameter for parameter in network.parameters() if parameter.requires_grad]


def fused(parameters: list[nn.Parameter]) -> bool:
    """Whether the optimizer of these weights is a fused one: on a CPU alone.

    On a GPU it would undo the loss scaling of 16-mixed after the gradients are clipped.
    """
    return parameters[0].device.type == "cpu"


class Adam(torch.optim.Adam):
    """Adam that updates only the rows that a sparse gradient has; dense gradients are updated as by `torch.optim.Adam`.

    A table of word vectors has a sparse gradient if its embedder says so (`embeddings.sparse`). The moments of a row without a
    gradient do not change, as in `torch.optim.SparseAdam`, which has no AMSGrad.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step. closure: computes the loss and the gradients, and returns the loss."""
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
    """Scale all gradients so that the norm of all of them together is at most `limit`; a sparse gradient is summed by rows first."""
    parameters = [parameter for parameter in parameters if parameter.grad is not None]
    sparse = [parameter for parameter in parameters if parameter.grad is not None and parameter.grad.is_sparse]
    if not sparse:
        nn.utils.clip_grad_norm_(parameters, limit)
        return
    for parameter in sparse:
        assert parameter.grad is not None
        parameter.grad = parameter.grad.coalesce()
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    dense = [gradient.values() if gradient.is_sparse else gradient for gradient in gradients]
    norm = nn.utils.get_total_norm(dense)
    factor = (limit / (norm + 1e-6)).clamp(max=1.0)
    torch._foreach_mul_(dense, factor)
