"""Training a network with Lightning: losses, validation by the tasks' metrics, optimizers, learning rates, clipping of gradients."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torchmetrics
from torch import Tensor, nn

from mtl.base.errors import DivergedError
from mtl.base.memory import peak_memory
from mtl.model.network import Batch, TaskNetwork
from mtl.tasks.metrics import score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task
from mtl.training.batches import codes_in_order
from mtl.training.trainer import ValidatedModule


@dataclass(frozen=True)
class Optimization:
    """How a stage changes the weights."""

    optimizer: Callable[[nn.Module], torch.optim.Optimizer]  # makes the optimizer of a network's trained weights
    factor: Callable[[int], float]  # the factor of all its learning rates at a step; steps are counted from 0


def falling_adam(learning_rate: float, final_learning_rate: float, total_steps: int) -> Optimization:
    """Adam with AMSGrad (jiant), its learning rate falling linearly over `total_steps` steps."""
    last = final_learning_rate / learning_rate

    def optimizer(network: nn.Module) -> torch.optim.Optimizer:
        parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        return Adam(parameters, learning_rate, amsgrad=True, fused=fused(parameters))

    def factor(step: int) -> float:
        return 1 + (last - 1) * min(1.0, step / total_steps)

    return Optimization(optimizer, factor)


def fused(parameters: list[nn.Parameter]) -> bool:
    """Whether the optimizer of these weights is a fused one: on a GPU it would undo the loss scaling of 16-mixed after gradients are clipped."""
    return parameters[0].device.type == "cpu"


class Adam(torch.optim.Adam):
    """`torch.optim.Adam` that also takes sparse gradients, as tables of word vectors have (`embeddings.sparse`). It updates only the rows that they
    have; the moments of other rows do not change, as in `torch.optim.SparseAdam`, which has no AMSGrad."""

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step. The closure computes the loss and the gradients, and returns the loss."""
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
    for gradient in dense:
        gradient.mul_(factor)


class TaskScore(torchmetrics.Metric):
    """A task's metric × 100 over its whole dev split, collected batch by batch and computed by `mtl.tasks.metrics`."""

    full_state_update = False

    def __init__(self, task: Task, dev: ScoredRows, answers: Sequence[str], texts: Sequence[str] = ()) -> None:
        """The answers and texts are those of `mtl.tasks.target_kind.HeadTargets`."""
        super().__init__(sync_on_compute=False)
        self.task, self.dev, self.answers, self.texts = task, dev, answers, texts
        self.codes: list[Tensor]
        self.rows: list[Tensor]
        self.finite: list[Tensor]
        for name in ("codes", "rows", "finite"):
            self.add_state(name, [], dist_reduce_fx="cat")

    def update(self, codes: Tensor, rows: Tensor, finite: Tensor) -> None:
        """Add a batch: the predicted codes, the indices of their dev rows, (rows,) or (rows, codes), and whether all outputs are finite, ()."""
        self.codes.append(codes)
        self.rows.append(rows)
        self.finite.append(finite[None])

    def compute(self) -> float:
        """The metric × 100. Raises DivergedError if any output was not finite."""
        if not torch.cat(self.finite).all():
            raise DivergedError("the outputs for dev rows are not finite")
        codes = codes_in_order(list(zip(self.rows, self.codes, strict=True)))
        predictions = target_kind(self.task).head.decode(codes, self.answers, self.texts)
        return score(self.task, predictions, self.dev)


class MultitaskModule(ValidatedModule):
    """Trains a network on batches of one task each (KLEJ, section 4.1). It logs `dev/{task}`, a task's metric × 100 over its validation split, and
    `dev/average`, their plain mean. A row of its curve has the step, seconds, the train loss (none before the first step) and the dev scores."""

    def __init__(
        self, network: TaskNetwork, scores: Mapping[str, TaskScore], optimization: Optimization, parts: int = 1
    ) -> None:
        """The scores are by task id. More `parts` of a batch take less memory and, without dropout, give the same step up to rounding."""
        super().__init__()
        self.network, self.scores = network, dict(scores)
        self.optimization, self.parts = optimization, parts
        # The parts of a step's batch after its first one, with their share in the loss.
        self._later_parts: list[tuple[Batch, Tensor]] = []

    def forward(self, batch: Batch) -> Tensor:
        """The outputs of the task's head, (inputs, outputs)."""
        return self.network(batch)

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        return batch.to(device, non_blocking=True)

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        parts = batch.parts(self.parts)
        if len(parts) == 1:
            loss = self.network.loss(batch)
        else:
            # Lightning's own accumulation would give each part the same weight, and so more to each row of a smaller part.
            weight = self.network.loss_weight(batch)
            (first, share), *self._later_parts = [(part, self.network.loss_weight(part) / weight) for part in parts]
            loss = self.network.loss(first) * share
        self.losses.append((f"task {batch.task}, ", loss.detach()))
        return loss

    def backward(self, loss: Tensor, *args: Any, **kwargs: Any) -> None:
        """Add the gradients of a step's loss, part by part, so that the memory of one part is enough."""
        loss.backward(*args, **kwargs)
        precision = self.trainer.precision_plugin
        for part, share in self._later_parts:
            with precision.train_step_context():
                loss = self.network.loss(part) * share
            task, before = self.losses.pop()
            self.losses.append((task, before + loss.detach()))
            precision.pre_backward(loss, self).backward(*args, **kwargs)
        self._later_parts = []

    def record(self) -> dict[str, Any]:
        """The record of a training that has ended: seconds, peak_memory (bytes), curve."""
        return {"seconds": self.curve[-1]["seconds"], "peak_memory": peak_memory(), "curve": self.curve}

    def on_validation_epoch_start(self) -> None:
        """Raises DivergedError as `check_losses`."""
        if self.global_step:
            self.check_losses(self.global_step)
        for metric in self.scores.values():
            metric.reset()

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        outputs = self.network(batch)
        self.scores[batch.task].update(self.network.predict(batch, outputs), batch.rows, outputs.isfinite().all())

    def on_validation_epoch_end(self) -> None:
        """Raises DivergedError if the outputs for a dev row are not finite."""
        scores = {}
        for id, metric in self.scores.items():
            try:
                scores[f"dev/{id}"] = float(metric.compute())
            except DivergedError as error:
                raise DivergedError(f"task {id}, step {self.global_step}: {error}") from None
        scores["dev/average"] = sum(scores.values()) / len(scores)
        row = {"step": float(self.global_step), "seconds": self.seconds, **scores}
        if self.global_step:
            row["train/loss"] = self.mean_loss
        self.curve.append(row)
        self.log_dict({name: value for name, value in row.items() if name not in ("step", "seconds")}, batch_size=1)

    def configure_optimizers(self) -> Any:
        """The optimizer that the method gives, its learning rates changing at every step."""
        optimizer = self.optimization.optimizer(self.network)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, self.optimization.factor)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def optimizer_step(self, epoch: int, batch_idx: int, optimizer: Any, optimizer_closure: Any = None) -> None:
        """Change the weights, and free the gradients. Lightning would keep them until the next step's outputs are computed."""
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)
        optimizer.zero_grad()

    def configure_gradient_clipping(
        self, optimizer: Any, gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None
    ) -> None:
        """Clip the norm of all gradients. Lightning's method refuses sparse ones, and fused optimizers in mixed precision, on a CPU too."""
        if gradient_clip_val:
            trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            clip_gradients(trained, gradient_clip_val)
