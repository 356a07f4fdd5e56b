"""The settings of a pre-training: the values of a file in configs/pretrain, which the values of the command replace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from mtl.base.errors import InputError, locating
from mtl.base.settings.layers import find_yaml, shipped
from mtl.base.typed import PART, SHARE, check_known, typed
from mtl.base.untrusted_yaml import read_yaml

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # the first entries of the vocabulary, with ids from 0
LARGEST = 2**31 - 1
COUNT = Meta(ge=1, le=LARGEST)
AMOUNT = Meta(ge=0, le=LARGEST)


@dataclass
class PretrainingSettings:
    """The settings of a pre-training. A file in configs/pretrain must set those that have no default."""

    vocab_size: Annotated[int, Meta(ge=len(SPECIAL_TOKENS) + 1, le=LARGEST)]  # the most entries of the vocabulary
    max_length: Annotated[int, Meta(ge=8, le=LARGEST)]  # tokens of a segment, and of the finished model's inputs
    num_layers: Annotated[int, COUNT]  # the number of layers
    hidden_size: Annotated[int, COUNT]  # the size of a token's vector
    num_heads: Annotated[int, COUNT]  # attention heads of a layer
    batch_size: Annotated[int, COUNT]  # segments in a step
    max_steps: Annotated[int, COUNT]  # the number of steps
    learning_rate: Annotated[float, AMOUNT]  # the highest learning rate of AdamW, which has β₁ 0.9
    vocabulary: Literal["wordpiece", "bpe"] = "wordpiece"  # wordpiece: the longest subword that fits; bpe: merges
    documents: Literal["line", "block"] = "line"  # a document of a file: a line, or all lines up to an empty one
    min_tokens: Annotated[int, AMOUNT] = 0  # the least tokens of a document; shorter ones are dropped
    held_out: Annotated[float, PART] = 0.01  # share of the segments that measure perplexity, at most 1,000 of them
    initial_deviation: Annotated[float, PART] = 0.02  # standard deviation of the random weights at the beginning
    positions: Literal["random", "sinusoids"] = "random"  # the vectors of positions at the beginning; all are trained
    dropout: Annotated[float, SHARE] = 0.1  # dropout on the attention, and after each part of a layer
    accumulate: Annotated[int, COUNT] = 1  # in how many parts a batch is computed: more take less memory
    warmup: Annotated[float, AMOUNT] = 0.1  # steps in which the learning rate rises; below 1: the share of all steps
    beta2: Annotated[float, PART] = 0.999  # AdamW's β₂
    epsilon: Annotated[float, PART] = 1e-6  # AdamW's ε
    weight_decay: Annotated[float, AMOUNT] = 0.01  # weight decay of AdamW; biases and normalisation layers have none
    precision: Literal["32-true", "bf16-mixed"] = "32-true"  # bf16-mixed: products in bfloat16, if the device has it
    validate_every: Annotated[int, COUNT] = 500  # steps between validations and checkpoints
    seed: Annotated[int, AMOUNT] = 1  # seed of the random weights, the order and the masks
    threads: Annotated[int, AMOUNT] = 0  # number of CPU threads; 0: one for each core

    def check(self) -> None:
        if self.hidden_size % self.num_heads:
            raise InputError(f"must divide hidden_size={self.hidden_size}", key="num_heads", value=self.num_heads)
        if self.batch_size % self.accumulate:
            raise InputError(f"must divide batch_size={self.batch_size}", key="accumulate", value=self.accumulate)
        if self.warmup >= self.max_steps:
            message = f"must be a share of the training, below 1, or fewer steps than max_steps={self.max_steps}"
            raise InputError(message, key="warmup", value=f"{self.warmup:g}")

    @property
    def chunk(self) -> int:
        """The number of tokens of a segment without the special token at each end."""
        return self.max_length - 2


def read_settings(config: str, changes: Mapping[str, Any]) -> PretrainingSettings:
    """The settings of a file in configs/pretrain, or a path, with changes. Raises InputError for a bad key or value."""
    path = find_yaml("config", config, shipped("configs") / "pretrain")
    content = {str(key): value for key, value in read_yaml(path).items()}
    with locating(path=path):
        check_known(content, set(PretrainingSettings.__dataclass_fields__))
    return typed(PretrainingSettings, {**content, **changes})
