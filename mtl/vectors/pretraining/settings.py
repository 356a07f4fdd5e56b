"""The settings of a pre-training: the values of a file in configs/pretrain, which the values of the command replace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.settings.layers import find_yaml, shipped
from mtl.base.typed import PART, SHARE, check_known, typed
from mtl.base.untrusted_yaml import read_yaml

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # the first entries of the vocabulary, with ids from 0
BUDGET = {"max_steps", "max_minutes"}  # the settings that limit a training
LARGEST = 2**31 - 1
COUNT = Meta(ge=1, le=LARGEST)
AMOUNT = Meta(ge=0, le=LARGEST)


@dataclass
class PretrainingSettings:
    """The settings of a pre-training. A file in configs/pretrain must set those that have no default.

    Args:
        vocab_size: entries of the vocabulary, with the five special tokens; fewer if the text is small.
        max_length: tokens of a segment, with `[CLS]` and `[SEP]`; the longest input of the finished model.
        num_layers: the number of layers.
        hidden_size: the size of a token's vector.
        num_heads: attention heads of a layer.
        batch_size: segments in a step.
        learning_rate: the highest learning rate of AdamW, which has β₁ 0.9.
        vocabulary: how words are split: wordpiece takes the longest subword that fits; bpe merges characters as learnt.
        documents: what a document of a file is: a line, or a block of lines up to an empty one.
        min_tokens: the least tokens of a document; shorter ones are dropped.
        held_out: share of the segments on which perplexity is measured, at most 1,000 segments.
        initial_deviation: standard deviation of the random weights at the beginning.
        positions: the vectors of positions at the beginning: random, or sinusoids of twice the deviation as amplitude. Both are trained.
        dropout: dropout on the attention, and after each part of a layer.
        max_steps: the most steps; this or max_minutes must be set.
        max_minutes: the most minutes of training and validations.
        accumulate: in how many parts a batch is computed: more take less memory and, without dropout, give the same step up to rounding.
        warmup: steps in which the learning rate rises linearly from 0, before it falls linearly to 0; below 1, a share of the training.
        beta2: AdamW's β₂.
        epsilon: AdamW's ε.
        weight_decay: weight decay of AdamW; biases and normalisation layers have none.
        precision: bf16-mixed: products in bfloat16, weights in float32; on a CPU without such instructions it is float32.
        validate_every: steps between validations and checkpoints.
        seed: seed of the random weights, the order and the masks.
        threads: number of CPU threads; 0: one for each core.
    """

    vocab_size: Annotated[int, Meta(ge=len(SPECIAL_TOKENS) + 1, le=LARGEST)]
    max_length: Annotated[int, Meta(ge=8, le=LARGEST)]
    num_layers: Annotated[int, COUNT]
    hidden_size: Annotated[int, COUNT]
    num_heads: Annotated[int, COUNT]
    batch_size: Annotated[int, COUNT]
    learning_rate: Annotated[float, AMOUNT]
    vocabulary: Literal["wordpiece", "bpe"] = "wordpiece"
    documents: Literal["line", "block"] = "line"
    min_tokens: Annotated[int, AMOUNT] = 0
    held_out: Annotated[float, PART] = 0.01
    initial_deviation: Annotated[float, PART] = 0.02
    positions: Literal["random", "sinusoids"] = "random"
    dropout: Annotated[float, SHARE] = 0.1
    max_steps: Annotated[int, COUNT] | None = None
    max_minutes: Annotated[float, Meta(gt=0, le=LARGEST)] | None = None
    accumulate: Annotated[int, COUNT] = 1
    warmup: Annotated[float, AMOUNT] = 0.1
    beta2: Annotated[float, PART] = 0.999
    epsilon: Annotated[float, PART] = 1e-6
    weight_decay: Annotated[float, AMOUNT] = 0.01
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    validate_every: Annotated[int, COUNT] = 500
    seed: Annotated[int, AMOUNT] = 1
    threads: Annotated[int, AMOUNT] = 0

    def check(self) -> None:
        """Raise InputError for settings that do not fit together."""
        if self.hidden_size % self.num_heads:
            raise InputError(f"must divide hidden_size={self.hidden_size}", key="num_heads", value=self.num_heads)
        if self.batch_size % self.accumulate:
            raise InputError(f"must divide batch_size={self.batch_size}", key="accumulate", value=self.accumulate)
        if self.max_steps is None and self.max_minutes is None:
            raise InputError("set it, or max_minutes: one of them must limit the training", key="max_steps")
        if self.warmup >= 1 and (
            self.max_minutes is not None or self.max_steps is None or self.warmup >= self.max_steps
        ):
            message = "must be a share of the training, below 1; or with max_steps alone, fewer steps than these"
            raise InputError(message, key="warmup", value=f"{self.warmup:g}")

    @property
    def chunk(self) -> int:
        """The number of tokens of a segment without the special token at each end."""
        return self.max_length - 2


def read_settings(config: str, changes: Mapping[str, Any]) -> PretrainingSettings:
    """The settings of a file, with those of `changes` in place of its own. Raises InputError for an unknown key or a bad value.

    Args:
        config: the name of a file in configs/pretrain, or a path.
    """
    path = find_yaml("config", config, shipped("configs") / "pretrain")
    content = {str(key): value for key, value in read_yaml(path).items()}
    try:
        check_known(content, set(PretrainingSettings.__dataclass_fields__))
    except InputError as error:
        raise error.located(path=path) from None
    if BUDGET & set(changes):  # the budget that the command names replaces that of the file
        content = {key: value for key, value in content.items() if key not in BUDGET}
    return typed(PretrainingSettings, {**content, **changes})
