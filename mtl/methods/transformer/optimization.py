"""How fine-tuning changes the weights: AdamW, learning rates by layer, fixed layers, warm-up and linear decay."""

import math
import re
from typing import Any

import torch
from torch import nn

from mtl.config.transformer import TransformerConfig
from mtl.errors import InputError
from mtl.methods.transformer.network import TransformerNetwork
from mtl.training.optimizer import Optimization, fused

LAYER = re.compile(r"\.(\d+)\.")  # in the name of a weight, as in encoder.layer.3.output.dense.weight
BETAS = (0.9, 0.999)
EPSILON = 1e-8


def fine_tuning(settings: TransformerConfig, total_steps: int) -> Optimization:
    """AdamW with the learning rates of these settings over so many steps (KLEJ, section 4.2)."""
    warmup = warmup_steps(settings, total_steps)
    last = settings.final_learning_rate / settings.learning_rate

    def optimizer(network: nn.Module) -> torch.optim.Optimizer:
        assert isinstance(network, TransformerNetwork)
        groups = parameter_groups(network, settings)
        together = fused([parameter for group in groups for parameter in group["params"]])
        return torch.optim.AdamW(groups, settings.learning_rate, BETAS, EPSILON, fused=together)

    def factor(step: int) -> float:
        if step < warmup:
            return step / warmup
        done = min(1.0, (step - warmup) / max(1, total_steps - warmup))
        return 1 + (last - 1) * done

    return Optimization(optimizer, factor)


def warmup_steps(settings: TransformerConfig, total_steps: int) -> int:
    """The number of steps in which the rate rises: `transformer.warmup`, which may be a share of all steps."""
    return math.ceil(settings.warmup * total_steps) if settings.warmup < 1 else int(settings.warmup)


def parameter_groups(network: TransformerNetwork, settings: TransformerConfig) -> list[dict[str, Any]]:
    """The trained weights as groups of one learning rate and one weight decay each.

    Biases and layer norms, which are vectors, have no weight decay, as usual for BERT. Of L layers, layer l (from 0) has the factor
    `layer_decay` ** (L - l), embeddings have that of a layer below layer 0, and what stands above the layers has the factor 1.
    """
    layers, groups = int(network.body.config.num_hidden_layers), dict[tuple[int, bool], list[nn.Parameter]]()
    for level, parameter in leveled(network):
        if parameter.requires_grad:
            groups.setdefault((level, parameter.ndim > 1), []).append(parameter)
    return [
        {
            "params": parameters,
            "lr": settings.learning_rate * settings.layer_decay ** (layers - level),
            "weight_decay": settings.weight_decay if matrices else 0.0,
        }
        for (level, matrices), parameters in groups.items()
    ]


def leveled(network: TransformerNetwork) -> list[tuple[int, nn.Parameter]]:
    """Each weight with its level: -1 for the embeddings, l for layer l, the number of layers for what stands above them."""
    body, layers = network.body, int(network.body.config.num_hidden_layers)
    levels = {id(parameter): _level(name, layers) for name, parameter in body.named_parameters()}
    return [(levels.get(id(parameter), layers), parameter) for parameter in network.parameters()]


def _level(name: str, layers: int) -> int:
    """name: of a weight in the body."""
    if "pooler" in name:
        return layers
    found = LAYER.search(f".{name}")
    if found:
        return int(found[1])
    # What follows the layers, such as the last norm of GPT-2, is not part of the embeddings.
    return -1 if "emb" in name.lower() or name.startswith(("wte", "wpe")) else layers


def check_layers(body: Any, settings: TransformerConfig) -> None:
    """Raise InputError for more fixed layers than the body has, and for settings by layer if layers share their weights, as ALBERT's do."""
    layers = int(body.config.num_hidden_layers)
    if settings.freeze > layers:
        raise InputError(f"transformer.freeze={settings.freeze}: the transformer has {layers} layers")
    key = "freeze" if settings.freeze else "layer_decay" if settings.layer_decay < 1 else None
    if key and not set(range(layers)) <= {_level(name, layers) for name, _ in body.named_parameters()}:
        raise InputError(f"transformer.{key}: the layers of this transformer share their weights; drop the key")


def freeze_layers(network: TransformerNetwork, count: int) -> None:
    """Fix the embeddings and the `count` lowest layers; 0: nothing."""
    for level, parameter in leveled(network):
        parameter.requires_grad_(not count or level >= count)
