"""Transformers with a head for each task, as a network that is trained on batches of one task."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mtl.config.schema import TrainerConfig
from mtl.config.transformer import TransformerConfig
from mtl.errors import InputError
from mtl.methods.transformer.pretrained import Pretrained
from mtl.model.batch import Batch
from mtl.model.encoder import past_end
from mtl.model.network import TaskNetwork
from mtl.tasks.task import Task
from mtl.training.precision import choose_attention


class TransformerNetwork(TaskNetwork):
    """One model for sequence classification for each task. The models of several tasks share one body."""

    def __init__(
        self, tasks: Sequence[Task], models: Sequence[Any], padding: int, has_types: bool, number_loss: str
    ) -> None:
        """padding: the token past an input's end. has_types: whether the body reads token types. number_loss: `transformer.number_loss`."""
        super().__init__(tasks)
        self.tasks = [task.id for task in tasks]
        self.models = nn.ModuleList(models)
        self.padding = padding
        self.has_types = has_types
        self.number_loss = number_loss
        if number_loss == "raw":
            for kind in self.kinds.values():
                kind.unscale()

    @property
    def body(self) -> Any:
        """The model without a head that all tasks share."""
        return self.models[0].base_model

    def forward(self, batch: Batch) -> Tensor:
        """The outputs of the task's head for a batch: (inputs, outputs), float32."""
        assert batch.tokens is not None and batch.lengths is not None
        model = self.models[self.tasks.index(batch.task)]
        given = body_input(batch.tokens, batch.lengths, self.padding, self.has_types)
        outputs: Tensor = model(**given).logits
        return outputs.float()

    def for_task(self, task: Task) -> "TransformerNetwork":
        """A network for one of the tasks, with a copy of the body and of the task's head."""
        model = copy.deepcopy(self.models[self.tasks.index(task.id)])
        return TransformerNetwork([task], [model], self.padding, self.has_types, self.number_loss)


def body_input(tokens: Tensor, lengths: Tensor, padding: int, has_types: bool) -> dict[str, Tensor]:
    """What a body reads. tokens: (inputs, time, 2), as `InputReader.sequences` gives them. lengths: (inputs,)."""
    outside = past_end(tokens, lengths)
    given = {
        "input_ids": tokens[..., 0].long().masked_fill(outside, padding),
        "attention_mask": (~outside).long(),
    }
    return {**given, "token_type_ids": tokens[..., 1].long()} if has_types else given


def new_network(
    pretrained: Pretrained,
    tasks: Sequence[Task],
    outputs: Mapping[str, int],
    seed: int,
    trainer: TrainerConfig,
    device: torch.device,
    settings: TransformerConfig,
) -> TransformerNetwork:
    """The network before training, on the CPU: one body for all these tasks. The heads are the same for the same seed.

    outputs: by task id, outputs of its head for one input. trainer, device: in which precision it will compute, and where.
    """
    models: list[Any] = []
    for task in tasks:
        torch.manual_seed(seed)
        model = pretrained.classifier(outputs[task.id])
        if models:
            setattr(model, model.base_model_prefix, models[0].base_model)
        choose_attention(model, trainer, device)
        models.append(model)
    if settings.gradient_checkpointing:
        if not models[0].supports_gradient_checkpointing:
            raise InputError(f"transformer.gradient_checkpointing: {pretrained.name} cannot do it; drop the key")
        for model in models:
            model.gradient_checkpointing_enable({"use_reentrant": False})
    return TransformerNetwork(tasks, models, pretrained.padding, pretrained.has_types, settings.number_loss)
