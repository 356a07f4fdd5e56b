from collections.abc import Sequence

import numpy as np
import pytest
import torch

from mtl.model.heads import AttentionHead


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()


def head_of(spans: Sequence[int] = ()) -> AttentionHead:
    torch.manual_seed(0)
    return AttentionHead(6, outputs=3, hidden_size=8, dropout=0.5, attention_size=5, spans=spans).double().eval()


LENGTHS = torch.tensor([4, 1, 7, 2, 5, 3])  # first sentences, then second sentences
SPANS = torch.tensor([[[1, 3], [0, 1]], [[0, 1], [2, 5]], [[4, 7], [0, 3]]])


@pytest.mark.parametrize("sides", [[], [0, 1]])
@torch.no_grad()
def test_against_plain_loops(sides: list[int]) -> None:
    """Spans are read above the attention."""
    head, states = head_of(sides), torch.randn(6, 7, 6, dtype=torch.float64)
    spans = SPANS if sides else None
    outputs = head.read(states, LENGTHS, None, spans)
    for row in range(3):
        u, v = (states[i, : LENGTHS[i]].numpy() for i in (row, row + 3))
        vectors, marked = [], []
        for (words, partner), (start, stop) in zip(((u, v), (v, u)), SPANS[row].tolist(), strict=True):
            read = np.stack([softmax(np.array([word @ o for o in partner])) @ partner for word in words])
            both = torch.from_numpy(np.concatenate([words, read], axis=1))[None]
            modelled = torch.nn.LSTM.forward(head.lstm, both)[0][0]  # torch's own recurrence
            vectors.append(modelled.max(dim=0).values)
            marked.append(modelled[start:stop].max(dim=0).values[None])
        expected = head.head(torch.stack(vectors), None, marked if sides else ())[0]
        torch.testing.assert_close(outputs[row], expected, atol=1e-12, rtol=0)
    for row, length in enumerate(LENGTHS):  # padding has no weight
        states[row, length:] = 1e6
    torch.testing.assert_close(head.read(states, LENGTHS, None, spans), outputs, atol=1e-12, rtol=0)
