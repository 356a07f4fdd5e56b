import numpy as np
import pytest
import torch

from mtl.model.heads import AttentionHead


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()


@pytest.fixture
def head() -> AttentionHead:
    torch.manual_seed(0)
    return AttentionHead(dim=6, outputs=3, hidden_size=8, dropout=0.5, attention_size=5).double().eval()


LENGTHS = torch.tensor([4, 1, 7, 2, 5, 3])  # first sentences, then second sentences


@torch.no_grad()
def test_against_plain_loops(head: AttentionHead) -> None:
    states = torch.randn(6, 7, 6, dtype=torch.float64)
    outputs = head.read(states, LENGTHS)
    for row in range(3):
        u, v = (states[i, : LENGTHS[i]].numpy() for i in (row, row + 3))
        vectors = []
        for own, other in ((u, v), (v, u)):
            read = np.stack([softmax(np.array([word @ o for o in other])) @ other for word in own])
            both = torch.from_numpy(np.concatenate([own, read], axis=1))[None]
            modelled = torch.nn.LSTM.forward(head.lstm, both)[0][0]  # torch's own recurrence
            vectors.append(modelled.max(dim=0).values)
        expected = head.head(torch.stack(vectors))[0]
        torch.testing.assert_close(outputs[row], expected, atol=1e-12, rtol=0)


@torch.no_grad()
def test_spans_are_read_above_the_attention() -> None:
    torch.manual_seed(0)
    head = AttentionHead(6, outputs=3, hidden_size=8, dropout=0.5, attention_size=5, spans=[0, 1]).double().eval()
    states = torch.randn(6, 7, 6, dtype=torch.float64)
    spans = torch.tensor([[[1, 3], [0, 1]], [[0, 1], [2, 5]], [[4, 7], [0, 3]]])
    outputs = head.read(states, LENGTHS, spans=spans)
    for row in range(3):
        u, v = (states[i, : LENGTHS[i]].numpy() for i in (row, row + 3))
        vectors, marked = [], []
        for (own, other), (start, stop) in zip(((u, v), (v, u)), spans[row].tolist(), strict=True):
            read = np.stack([softmax(np.array([word @ o for o in other])) @ other for word in own])
            both = torch.from_numpy(np.concatenate([own, read], axis=1))[None]
            modelled = torch.nn.LSTM.forward(head.lstm, both)[0][0]  # torch's own recurrence
            vectors.append(modelled.max(dim=0).values)
            marked.append(modelled[start:stop].max(dim=0).values[None])
        expected = head.head(torch.stack(vectors), None, marked)[0]
        torch.testing.assert_close(outputs[row], expected, atol=1e-12, rtol=0)
    spoilt = states.clone()
    for row, length in enumerate(LENGTHS):
        spoilt[row, length:] = 1e6
    torch.testing.assert_close(head.read(spoilt, LENGTHS, spans=spans), outputs, atol=1e-12, rtol=0)


@torch.no_grad()
def test_padding_has_no_weight(head: AttentionHead) -> None:
    states = torch.randn(6, 7, 6, dtype=torch.float64)
    spoilt = states.clone()
    for row, length in enumerate(LENGTHS):
        spoilt[row, length:] = 1e6
    torch.testing.assert_close(head.read(spoilt, LENGTHS), head.read(states, LENGTHS), atol=1e-12, rtol=0)


@torch.no_grad()
def test_output_of_a_pair_does_not_depend_on_the_batch(head: AttentionHead) -> None:
    states = torch.randn(6, 7, 6, dtype=torch.float64)
    together = head.read(states, LENGTHS)
    for row in range(3):
        alone = head.read(states[[row, row + 3], : int(LENGTHS[[row, row + 3]].max())], LENGTHS[[row, row + 3]])
        torch.testing.assert_close(alone[0], together[row], atol=1e-12, rtol=0)


def test_gradients_reach_all_parameters_and_are_finite(head: AttentionHead) -> None:
    states = torch.randn(6, 7, 6, dtype=torch.float64, requires_grad=True)
    head.train().read(states, LENGTHS).sum().backward()
    assert states.grad is not None and torch.isfinite(states.grad).all()
    assert (states.grad[1, 1:] == 0).all()  # past the end
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in head.parameters())
