"""The vectors of texts and of marked words: the outputs of a transformer's last layer, pooled over their tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mtl.data.dataset import Split
from mtl.data.spans import tokens_of
from mtl.embedders.sequences import ArraySequences
from mtl.errors import InputError
from mtl.methods.transformer.inputs import encodable
from mtl.methods.transformer.network import body_input
from mtl.methods.transformer.pretrained import Pretrained, tokenizing
from mtl.model.encoder import POOLINGS, batches_by_length
from mtl.progress import Progress
from mtl.tasks.task import Task

FAR = -(10**9)  # where tokens are that stand for no character

Mark = tuple[int, int, int]
"""A marked span: the number of its text, and its start and stop in characters."""


def encode_texts(
    body: Any, pretrained: Pretrained, sequences: ArraySequences, pooling: str, title: str = "encoding texts"
) -> Tensor:
    """The vectors of all sequences, float32 on the CPU, (texts, dim), without dropout.

    body: on the device to compute on. pretrained: says what the body reads. pooling: a name in `mtl.model.encoder.POOLINGS`; over all
    tokens of a text, also those that the tokenizer puts around it, as in sentence-transformers.
    """
    vectors = torch.empty(len(sequences.lengths), pretrained.dim)
    for places, states, lengths in _outputs(body, pretrained, sequences, title):
        vectors[places] = POOLINGS[pooling](states, lengths).cpu()
    return vectors


def encode_marks(
    body: Any,
    pretrained: Pretrained,
    sequences: ArraySequences,
    texts: Sequence[str],
    marks: Sequence[Mark],
    pooling: str,
) -> Tensor:
    """The vectors of marked spans, each in its text, float32 on the CPU, (marks, dim).

    sequences: of the texts, each read alone. A span that has no token, because its text is cut before it, has the vector of the token
    that is nearest to it. Raises InputError for a tokenizer that does not say which characters a token has.
    """
    by_text: dict[int, list[int]] = {}
    for number, mark in enumerate(marks):
        by_text.setdefault(mark[0], []).append(number)
    chosen = np.array(sorted(by_text), dtype=np.int64)
    lengths = sequences.lengths.numpy()[chosen]
    marked = ArraySequences(sequences.rows, sequences.starts[chosen], lengths)
    vectors = torch.empty(len(marks), pretrained.dim)
    for places, states, _ in _outputs(body, pretrained, marked, "encoding marked words"):
        for place, outputs in zip(places.tolist(), states, strict=True):
            numbers = by_text[int(chosen[place])]
            characters = token_characters(pretrained, texts[int(chosen[place])], int(lengths[place]))
            tokens, _ = tokens_of(np.array([marks[number][1:] for number in numbers]), characters)
            for number, (start, stop) in zip(numbers, tokens.tolist(), strict=True):
                vectors[number] = POOLINGS[pooling](outputs[None, start:stop], torch.tensor([stop - start]))[0].cpu()
    return vectors


def token_characters(pretrained: Pretrained, text: str, length: int) -> np.ndarray:
    """The characters of each token of a text that is cut to so many tokens, half-open, int64 (tokens, 2)."""
    tokenizer = pretrained.tokenizer
    if not tokenizer.is_fast:
        raise InputError(
            f"{pretrained.name}: its tokenizer does not say which characters a token has, which marked words need; leave their tasks"
            " out with tasks="
        )
    with tokenizing(pretrained.name):
        read = tokenizer(encodable(text), truncation=True, max_length=length, return_offsets_mapping=True)
    characters = np.array(read["offset_mapping"], dtype=np.int64).reshape(-1, 2)
    characters[characters[:, 0] == characters[:, 1]] = FAR
    return characters


def marks_of(task: Task, split: Split) -> list[list[Mark]]:
    """The marked spans of each row of a split, in the order of `Task.marked`; no row has any if the task has none."""
    if split.spans is None:
        return []
    sides = [side for side, _ in task.marked]
    return [
        [(texts[side], start, stop) for side, (start, stop) in zip(sides, spans, strict=True)]
        for texts, spans in zip(split.texts.tolist(), split.spans.tolist(), strict=True)
    ]


def with_marks(task: Task, split: Split, numbers: dict[Mark, int]) -> Split:
    """The split with the numbers of its spans' vectors. numbers: of each span's vector."""
    if split.spans is None:
        return split
    found = [[numbers[mark] for mark in marks] for marks in marks_of(task, split)]
    return replace(split, marked=np.array(found, dtype=np.int64).reshape(-1, len(task.marked)))


@torch.no_grad()
def _outputs(
    body: Any, pretrained: Pretrained, sequences: ArraySequences, title: str
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Batches of sequences of similar length: their numbers, outputs float32 (batch, time, dim), lengths (batch,)."""
    body.eval()
    device = next(body.parameters()).device
    with Progress(title, len(sequences.lengths), "texts") as shown:
        for places in batches_by_length(sequences.lengths):
            tokens, lengths = sequences.gather(places)
            given = body_input(tokens.to(device), lengths, pretrained.padding, pretrained.has_types)
            yield places, body(**given).last_hidden_state.float(), lengths
            shown.advance(len(places))
