"""The Lightning module: a shared encoder and one head a task, trained jointly or one task at a time."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mtl.errors import DivergedError
from mtl.memory import peak_memory
from mtl.model.attention import AttentionHead
from mtl.model.encoder import Encoder
from mtl.model.heads import Head
from mtl.progress import progress
from mtl.tasks.metrics import score
from mtl.tasks.suite import Task
from mtl.training.batches import Batch, BatchDataset, SortedSampler


class Multitask(pl.LightningModule):
    """Trains an encoder and heads on batches of one task each (KLEJ, section 4.1).

    Without an encoder it trains heads alone, on batches that bring what an encoder made of their texts.
    It logs `dev/{task}`, a task's metric × 100 over its whole validation split, and `dev/average`, their plain mean.
    Training that diverges ends at the next validation with DivergedError, before anything of it is kept.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        heads: "Heads",
        encoder: Encoder | None,
        learning_rate: float,
        final_learning_rate: float,
        total_steps: int,
    ) -> None:
        """total_steps: over which the learning rate falls linearly from the first value to the last."""
        super().__init__()
        self.tasks = {task.id: task for task in tasks}
        self.heads = heads
        self.encoder = encoder
        self.learning_rate = learning_rate
        self.final_learning_rate = final_learning_rate
        self.total_steps = total_steps
        # A row for each validation: step, seconds, train loss (none before the first step), dev scores.
        self.curve: list[dict[str, float]] = []
        self._begun = 0.0
        self._losses: list[tuple[str, Tensor]] = []  # of the steps since the last validation, with their task
        self._seen: dict[str, list[tuple[Tensor, Tensor, Tensor]]] = {}  # predictions, gold, whether outputs are finite

    def outputs(self, batch: Batch) -> Tensor:
        """What the task's head says of a batch: (rows, outputs)."""
        head = self.heads[batch.task]
        if batch.vectors is not None:
            vector_outputs: Tensor = head(batch.vectors)
            return vector_outputs
        assert batch.tokens is not None and batch.lengths is not None
        states = batch.tokens if self.encoder is None else self.encoder.outputs(batch.tokens, batch.lengths)
        return head.read(states, batch.lengths)

    @torch.no_grad()
    def predict_rows(self, batches: BatchDataset, sampler: SortedSampler) -> np.ndarray:
        """Predictions for all rows of one task in their order, (rows,): label indices or numbers. Without dropout."""
        self.eval()
        predictions = np.empty(sum(len(rows) for _, rows in sampler))
        for task, rows in progress(sampler.batches, "predicting", "batches"):
            batch = batches[(task, rows)].to(self.device)
            predictions[rows] = predict(self.tasks[task], self.outputs(batch)).cpu().numpy()
        return predictions

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        return batch.to(device, non_blocking=True)

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        loss = loss_of(self.tasks[batch.task], self.outputs(batch), batch.targets)
        self._losses.append((batch.task, loss.detach()))
        return loss

    def on_fit_start(self) -> None:
        # The time before a resumption counts.
        self._begun = time.monotonic() - (self.curve[-1]["seconds"] if self.curve else 0.0)

    def record(self) -> dict[str, Any]:
        """What is worth keeping of a training that has ended: seconds, peak_memory (bytes), curve."""
        return {"seconds": self.curve[-1]["seconds"], "peak_memory": peak_memory(), "curve": self.curve}

    def on_validation_epoch_start(self) -> None:
        """Raises DivergedError: a GPU is waited for here, not in every step."""
        self._check_training()
        self._seen = {id: [] for id in self.tasks}

    def _check_training(self) -> None:
        """Raise DivergedError, which names the task and the step, where a loss or a weight is not finite."""
        if not self._losses:
            return
        losses = torch.stack([loss for _, loss in self._losses])
        if (wrong := (~losses.isfinite()).nonzero()[:, 0].tolist()) != []:
            step = self.global_step - len(self._losses) + wrong[0] + 1
            raise DivergedError(f"task {self._losses[wrong[0]][0]}, step {step}: the loss is {float(losses[wrong[0]])}")
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        if not torch.stack([parameter.isfinite().all() for parameter in trained]).all():
            raise DivergedError(f"task {self._losses[-1][0]}, step {self.global_step}: weights are not finite")

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        outputs = self.outputs(batch)
        self._seen[batch.task].append(
            (predict(self.tasks[batch.task], outputs), batch.targets, outputs.isfinite().all())
        )

    def on_validation_epoch_end(self) -> None:
        """Raises DivergedError where the outputs for a dev row are not finite."""
        scores = {}
        for id, parts in self._seen.items():
            predictions, gold, finite = zip(*parts, strict=True)
            if not torch.stack(finite).all():
                raise DivergedError(f"task {id}, step {self.global_step}: the outputs for dev rows are not finite")
            scores[f"dev/{id}"] = score(self.tasks[id], torch.cat(predictions).cpu(), torch.cat(gold).cpu())
        scores["dev/average"] = sum(scores.values()) / len(scores)
        row = {"step": float(self.global_step), "seconds": time.monotonic() - self._begun, **scores}
        if self._losses:
            row["train/loss"] = float(torch.stack([loss for _, loss in self._losses]).mean())
            self._losses = []
        self.curve.append(row)
        self.log_dict({name: value for name, value in row.items() if name not in ("step", "seconds")}, batch_size=1)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["curve"] = self.curve

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.curve = checkpoint["curve"]

    def configure_optimizers(self) -> Any:
        """Adam with AMSGrad (jiant), its learning rate falling linearly at every step."""
        parameters = [parameter for parameter in self.parameters() if parameter.requires_grad]
        # Not on a GPU: a fused optimizer would undo the loss scaling of 16-mixed after the gradients are clipped.
        fused = parameters[0].device.type == "cpu"
        optimizer = torch.optim.Adam(parameters, self.learning_rate, amsgrad=True, fused=fused)
        last = self.final_learning_rate / self.learning_rate

        def factor(step: int) -> float:
            return 1 + (last - 1) * min(1.0, step / self.total_steps)

        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip the norm of all gradients together, as Lightning does.

        Lightning's own refuses a fused optimizer in mixed precision, also where no loss is scaled, as on a CPU.
        """
        if gradient_clip_val:
            trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            nn.utils.clip_grad_norm_(trained, gradient_clip_val)


class Heads(nn.Module):
    """A head for each task, by the task's id."""

    def __init__(
        self, tasks: Sequence[Task], dim: int, hidden_size: int, dropout: float, attention_size: int | None = None
    ) -> None:
        """dim: of an encoder output. attention_size: None: pair tasks have no attention between their sentences."""
        super().__init__()
        self.dim = dim
        self.tasks = [task.id for task in tasks]
        # A module's name may hold no dot, a task's id may: the heads stand in the tasks' order.
        self.layers = nn.ModuleList(
            AttentionHead(dim, task.outputs, hidden_size, dropout, attention_size)
            if task.is_pair and attention_size is not None
            else Head(dim, task.outputs, task.is_pair, hidden_size, dropout)
            for task in tasks
        )

    def __getitem__(self, task: str) -> Head | AttentionHead:
        head = self.layers[self.tasks.index(task)]
        assert isinstance(head, Head | AttentionHead)
        return head


def loss_of(task: Task, outputs: Tensor, targets: Tensor) -> Tensor:
    """The mean loss of a batch: cross-entropy, or the squared error of targets scaled to 0 … 1.

    outputs: (rows, outputs). targets: (rows,), label indices or numbers in the task's range.
    """
    if not task.is_regression:
        return F.cross_entropy(outputs, targets.long())
    low, high = task.bounds
    return F.mse_loss(outputs[:, 0], (targets - low) / (high - low))


def predict(task: Task, outputs: Tensor) -> Tensor:
    """Predictions (rows,) of what a head says (rows, outputs): label indices, or numbers clipped to the task's range."""
    if not task.is_regression:
        return outputs.argmax(dim=1)
    low, high = task.bounds
    return (low + (high - low) * outputs[:, 0].float()).clamp(low, high)
