"""Transformers with a head for each task, and how fine-tuning changes their weights: AdamW, warm-up and linear decay."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mtl.base.errors import InputError
from mtl.base.settings.schema import TrainerConfig, TransformerConfig
from mtl.methods.transformer.pretrained import Pretrained
from mtl.model.encoder import past_end
from mtl.model.network import Batch, TaskNetwork
from mtl.tasks.task import Task
from mtl.training.optimizers import Optimization, fused
from mtl.training.precision import choose_attention

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class TransformerNetwork(TaskNetwork):
    """One model for sequence classification for each task. The models of several tasks share one body."""

    def __init__(
        self,
        pretrained: Pretrained,
        tasks: Sequence[Task],
        outputs: Mapping[str, int],
        seed: int,
        trainer: TrainerConfig,
        device: torch.device,
        settings: TransformerConfig,
    ) -> None:
        """The network before training, on the CPU; `device` is where it will compute, and `outputs` are those of heads for one input, by task id."""
        super().__init__(tasks)
        self.pretrained, self.tasks = pretrained, [task.id for task in tasks]
        models: list[Any] = []
        for task in tasks:
            torch.manual_seed(seed)  # a task's head does not depend on the other tasks
            model = pretrained.classifier(outputs[task.id])
            if models:
                setattr(model, model.base_model_prefix, models[0].base_model)
            choose_attention(model, trainer, device)
            models.append(model)
        if settings.gradient_checkpointing:
            if not models[0].supports_gradient_checkpointing:
                message = f"{pretrained.name} cannot do it; drop the key"
                raise InputError(message, key="transformer.gradient_checkpointing")
            for model in models:
                model.gradient_checkpointing_enable({"use_reentrant": False})
        self.models = nn.ModuleList(models)
        if settings.number_loss == "raw":
            self.head_targets = {id: targets.unscaled() for id, targets in self.head_targets.items()}

    @property
    def body(self) -> Any:
        """The model without a head that all tasks share."""
        return self.models[0].base_model

    def forward(self, batch: Batch) -> Tensor:
        """The outputs of the task's head for a batch: (inputs, outputs), float32."""
        assert batch.tokens is not None and batch.lengths is not None
        model = self.models[self.tasks.index(batch.task)]
        outputs: Tensor = model(**body_input(self.pretrained, batch.tokens, batch.lengths)).logits
        return outputs.float()


def body_input(pretrained: Pretrained, tokens: Tensor, lengths: Tensor) -> dict[str, Tensor]:
    """What a body reads of tokens (inputs, time, 2), as `InputReader.sequences` gives them, and lengths (inputs,)."""
    outside = past_end(tokens, lengths)
    ids = tokens[..., 0].long().masked_fill(outside, pretrained.padding)
    types = {"token_type_ids": tokens[..., 1].long()} if pretrained.has_types else {}
    return {"input_ids": ids, "attention_mask": (~outside).long(), **types}


def fine_tuning(settings: TransformerConfig, total_steps: int) -> Optimization:
    """AdamW with the learning rates of these settings over so many steps (KLEJ, section 4.2)."""
    warmup = warmup_steps(settings, total_steps)

    def optimizer(network: nn.Module) -> torch.optim.Optimizer:
        groups = parameter_groups(network, settings.weight_decay)
        weights = [weight for group in groups for weight in group["params"]]
        return torch.optim.AdamW(groups, settings.learning_rate, BETAS, EPSILON, fused=fused(weights))

    def factor(step: int) -> float:
        if step < warmup:
            return step / warmup
        return 1 - min(1.0, (step - warmup) / max(1, total_steps - warmup))

    return Optimization(optimizer, factor)


def warmup_steps(settings: TransformerConfig, total_steps: int) -> int:
    """The number of steps in which the rate rises: `transformer.warmup`, which may be a share of all steps."""
    return math.ceil(settings.warmup * total_steps) if settings.warmup < 1 else int(settings.warmup)


def parameter_groups(network: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """The weights as two groups: matrices, and biases and layer norms, which are vectors and have no weight decay, as usual for BERT."""
    matrices = [weight for weight in network.parameters() if weight.ndim > 1]
    vectors = [weight for weight in network.parameters() if weight.ndim <= 1]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
