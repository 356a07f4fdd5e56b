"""What Lightning trains: a network on several tasks, validated by the tasks' metrics."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torchmetrics
from torch import Tensor

from mtl.base.errors import DivergedError
from mtl.model.network import Batch, TaskNetwork
from mtl.tasks.metrics import score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task
from mtl.training.batches import codes_in_order
from mtl.training.optimizers import Optimization, clip_gradients
from mtl.training.trainer import ValidatedModule


class TaskScore(torchmetrics.Metric):
    """A task's metric × 100 over its whole dev split, collected batch by batch. `answers` and `texts` are those of `HeadTargets`."""

    full_state_update = False

    def __init__(self, task: Task, dev: ScoredRows, answers: Sequence[str], texts: Sequence[str] = ()) -> None:
        super().__init__(sync_on_compute=False)
        self.task, self.dev, self.answers, self.texts = task, dev, answers, texts
        self.codes: list[Tensor]
        self.rows: list[Tensor]
        self.finite: list[Tensor]
        for name in ("codes", "rows", "finite"):
            self.add_state(name, [], dist_reduce_fx="cat")

    def update(self, codes: Tensor, rows: Tensor, finite: Tensor) -> None:
        """Add a batch: predicted codes, (rows,) or (rows, codes), the numbers of their dev rows, (rows,), and whether all outputs are finite, ()."""
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
    """Trains a network on batches of one task each (KLEJ, section 4.1). It logs `dev/{task}`, a task's metric × 100 over its dev split, and
    `dev/average`, their plain mean. More `parts` of a batch take less memory and, without dropout, give the same step up to rounding."""

    def __init__(
        self, network: TaskNetwork, scores: Mapping[str, TaskScore], optimization: Optimization, parts: int = 1
    ) -> None:
        super().__init__()
        self.network, self.scores = network, dict(scores)
        self.optimization, self.parts = optimization, parts
        # The parts of a step's batch after its first one, each with its share in the loss: `training_step` leaves them to `backward`.
        self._later_parts: list[tuple[Batch, Tensor]] = []

    def forward(self, batch: Batch) -> Tensor:
        """The outputs of the task's head, (inputs, outputs)."""
        return self.network(batch)

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        return batch.to(device, non_blocking=True)

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """The loss of a step, or that of the first part of its batch."""
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
            task, earlier_loss = self.losses.pop()
            self.losses.append((task, earlier_loss + loss.detach()))
            precision.pre_backward(loss, self).backward(*args, **kwargs)
        self._later_parts = []

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
        """The optimizer, and the factor of its learning rates, which changes at every step."""
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
