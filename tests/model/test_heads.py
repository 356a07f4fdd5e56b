from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
import torch

from mtl.model.heads import AttentionHead, CosineHead, Head, ProjectingHead


@torch.no_grad()
def test_a_cosine_head_against_numpy_as_it_learns_the_mean_vector() -> None:
    torch.manual_seed(0)
    head, lengths = CosineHead(6).double().eval(), torch.tensor([4, 1, 7, 2])
    head.mean.copy_(torch.linspace(-1, 1, 6))
    states = torch.randn(4, 7, 6, dtype=torch.float64)
    vectors = [text[:length].max(axis=0) for text, length in zip(states.numpy(), lengths.tolist(), strict=True)]
    cosines = centred_cosines(np.stack(vectors), np.linspace(-1, 1, 6))
    np.testing.assert_allclose(head.read(states, lengths)[:, 0].numpy(), cosines, atol=1e-12)
    head.last.weight.fill_(3.0)
    head.last.bias.fill_(-1.0)
    outputs = head(torch.tensor(np.stack(vectors)))[:, 0].numpy()
    np.testing.assert_allclose(outputs, 3 * np.array(cosines) - 1, atol=1e-12)
    torch.manual_seed(0)
    head, batches = CosineHead(5).double(), torch.randn(150, 8, 5, dtype=torch.float64) + 3
    learned = np.zeros(5)
    for step, vectors in enumerate(batches, start=1):
        mean = vectors.numpy().mean(axis=0)
        np.testing.assert_allclose(head(vectors)[:, 0].numpy(), centred_cosines(vectors.numpy(), mean), atol=1e-12)
        share = max(1 / step, 0.01)  # the plain mean of the first hundred steps, then a moving average
        learned = (1 - share) * learned + share * mean
    np.testing.assert_allclose(head.mean.numpy(), learned, rtol=1e-6)
    vectors = head.eval()(batches[0])[:, 0].numpy()
    np.testing.assert_allclose(vectors, centred_cosines(batches[0].numpy(), learned), atol=1e-6)


def centred_cosines(vectors: np.ndarray, mean: np.ndarray) -> list[float]:
    """The cosine of each vector of the first half with its partner in the second half."""
    sides = np.split(vectors - mean, 2)
    return [float(u @ v / np.linalg.norm(u) / np.linalg.norm(v)) for u, v in zip(*sides, strict=True)]


def test_a_cosine_head_trains_the_vectors_that_it_compares() -> None:
    torch.manual_seed(0)
    vectors = torch.randn(6, 4, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        outputs = CosineHead(4)(vectors)
    outputs[0].backward()
    assert outputs.dtype == torch.float32 and outputs.shape == (3, 1)
    assert vectors.grad is not None and vectors.grad.any(dim=1).all()  # the other rows' by the mean


def test_outputs_are_float32_in_mixed_precision() -> None:
    torch.manual_seed(0)
    head, vectors = Head(4, outputs=1, pair=False, hidden_size=8, dropout=0.0), torch.randn(500, 4)
    with torch.autocast("cpu", torch.bfloat16):
        outputs = head(vectors)
    # bfloat16 has 256 numbers from 0.5 to 1 and as many for each power of two below; 500 float32 numbers are all but surely different.
    assert outputs.dtype == torch.float32 and len(outputs.unique()) > 400
    torch.testing.assert_close(outputs, head(vectors), atol=0.05, rtol=0)
    outputs.sum().backward()
    assert all(parameter.grad is not None and parameter.grad.dtype == torch.float32 for parameter in head.parameters())


def mlp(head: Head, vectors: np.ndarray) -> np.ndarray:
    """The head's MLP without dropout, by NumPy: linear, tanh, layer norm, linear."""
    named = [{name: value.detach().numpy() for name, value in layer.named_parameters()} for layer in head.layers]
    first, _, norm, _, last = named
    hidden = np.tanh(vectors @ first["weight"].T + first["bias"])
    centred = hidden - hidden.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    return (scaled * norm["weight"] + norm["bias"]) @ last["weight"].T + last["bias"]


@torch.no_grad()
def test_overlap_is_added_to_the_hidden_layer_against_numpy() -> None:
    torch.manual_seed(0)
    head = Head(4, outputs=3, pair=True, hidden_size=8, dropout=0.5, overlap=2).double().eval()
    vectors, overlap = torch.randn(6, 4, dtype=torch.float64), torch.rand(3, 2, dtype=torch.float64)
    u, v = vectors.numpy()[:3], vectors.numpy()[3:]
    # The layer of the overlap is part of the first layer, whose input are then both.
    first = head.layers[0]
    both = np.concatenate([u, v, np.abs(u - v), u * v, (overlap.numpy() - 0.5) * 4], axis=1)
    expected = Head(4, outputs=3, pair=True, hidden_size=8, dropout=0.5).double()
    expected.load_state_dict({name: value for name, value in head.state_dict().items() if name != "overlap.weight"})
    expected.layers[0].weight = torch.nn.Parameter(torch.cat([first.weight, head.overlap.weight], dim=1))
    np.testing.assert_allclose(head(vectors, overlap).numpy(), mlp(expected, both), atol=1e-12)


# The arguments of the heads of pairs.
PAIR_HEADS = [(Head, {"pair": True}), (ProjectingHead, {"pair": True, "projection": 5})]
PAIR_HEADS += [(AttentionHead, {"attention_size": 3})]


@pytest.mark.parametrize(("kind", "sizes"), PAIR_HEADS)
def test_every_head_of_a_pair_reads_the_overlap(kind: type, sizes: dict[str, int]) -> None:
    torch.manual_seed(0)
    head = kind(dim=6, outputs=2, hidden_size=8, dropout=0.0, overlap=3, **sizes)
    states, lengths = torch.randn(4, 7, 6), torch.tensor([4, 1, 7, 2])
    overlap = torch.rand(2, 3, requires_grad=True)
    head.read(states, lengths, overlap)[0].sum().backward()
    assert overlap.grad is not None and (overlap.grad[0] != 0).all() and (overlap.grad[1] == 0).all()


SPANS = torch.tensor([[[0, 2], [0, 1], [1, 3]], [[0, 1], [1, 4], [0, 2]]])  # of two inputs, in their texts 0, 1 and 1


def span_vectors(states: np.ndarray, sides: list[int]) -> list[np.ndarray]:
    """The maximum over the steps of each span, (inputs, dim) for each span."""
    vectors = []
    for number, side in enumerate(sides):
        texts = states[side * len(SPANS) :]  # of this side, and those of the next one
        spans = zip(texts, SPANS[:, number].tolist(), strict=False)
        vectors.append(np.stack([text[start:stop].max(axis=0) for text, (start, stop) in spans]))
    return vectors


@pytest.mark.parametrize(
    ("pair", "sides"), [(True, [0, 1, 1]), (True, [0, 1]), (True, []), (False, [0, 0]), (False, [0]), (False, [])]
)
@pytest.mark.parametrize("projection", [None, 5])
@torch.no_grad()
def test_a_head_against_numpy(pair: bool, sides: list[int], projection: int | None) -> None:
    torch.manual_seed(0)
    common = {"outputs": 3, "pair": pair, "hidden_size": 8, "dropout": 0.5, "spans": sides}
    made = Head(6, **common) if projection is None else ProjectingHead(6, **common, projection=projection)
    head = made.double().eval()
    assert head.reads_tokens == bool(sides or projection)
    texts = 4 if pair else 2
    states = torch.randn(texts, 7, 6, dtype=torch.float64)
    lengths = torch.tensor([4, 4, 7, 4][:texts])
    spans = SPANS[:, : len(sides)]
    read = states.numpy()
    if isinstance(head, ProjectingHead):
        read = read @ head.projection.weight.numpy().T + head.projection.bias.numpy()
    whole = np.stack([text[:length].max(axis=0) for text, length in zip(read, lengths.tolist(), strict=True)])
    parts = [whole]
    if pair:
        u, v = whole[:2], whole[2:]
        parts = [u, v, np.abs(u - v), u * v]
    marked = span_vectors(read, sides)
    parts += marked
    for u, v in combinations(marked, 2):
        parts += [np.abs(u - v), u * v]
    expected = mlp(head.head if isinstance(head, ProjectingHead) else head, np.concatenate(parts, axis=1))
    np.testing.assert_allclose(head.read(states, lengths, None, spans).numpy(), expected, atol=1e-12)
    # Nothing past a text's end has a weight, and more padding changes nothing.
    for place, length in enumerate(lengths.tolist()):
        states[place, length:] = 1e6
    np.testing.assert_allclose(head.read(states, lengths, None, spans).numpy(), expected, atol=1e-12)
    longer = torch.cat([states, torch.full((texts, 3, 6), 1e6, dtype=torch.float64)], dim=1)
    np.testing.assert_allclose(head.read(longer, lengths, None, spans).numpy(), expected, atol=1e-12)
    # Nor does another row of the batch.
    for row in range(2):
        chosen = [row, row + 2] if pair else [row]
        alone = head.read(states[chosen], lengths[chosen], None, spans[[row]])
        np.testing.assert_allclose(alone[0].numpy(), expected[row], atol=1e-12)


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize(("kind", "sizes"), PAIR_HEADS)
def test_gradients_reach_the_tokens_of_spans_and_are_finite(kind: type, sizes: dict[str, int], autocast: bool) -> None:
    torch.manual_seed(0)
    head = kind(dim=6, outputs=2, hidden_size=8, dropout=0.0, spans=[0, 1], **sizes)
    states, lengths = torch.randn(4, 7, 6, requires_grad=True), torch.tensor([4, 4, 7, 4])
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        outputs = head.read(states, lengths, None, SPANS[:, :2])
    assert outputs.dtype == torch.float32
    outputs.sum().backward()
    assert states.grad is not None and states.grad.isfinite().all()
    assert all((states.grad[place, length:] == 0).all() for place, length in enumerate(lengths.tolist()))
    assert all(p.grad is not None and p.grad.isfinite().all() for p in head.parameters())


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()


def head_of(spans: Sequence[int] = ()) -> AttentionHead:
    torch.manual_seed(0)
    return AttentionHead(6, outputs=3, hidden_size=8, dropout=0.5, attention_size=5, spans=spans).double().eval()


LENGTHS = torch.tensor([4, 1, 7, 2, 5, 3])  # first sentences, then second sentences
ROW_SPANS = torch.tensor([[[1, 3], [0, 1]], [[0, 1], [2, 5]], [[4, 7], [0, 3]]])


@pytest.mark.parametrize("sides", [[], [0, 1]])
@torch.no_grad()
def test_against_plain_loops(sides: list[int]) -> None:
    """Spans are read above the attention."""
    head, states = head_of(sides), torch.randn(6, 7, 6, dtype=torch.float64)
    spans = ROW_SPANS if sides else None
    outputs = head.read(states, LENGTHS, None, spans)
    for row in range(3):
        u, v = (states[i, : LENGTHS[i]].numpy() for i in (row, row + 3))
        vectors, marked = [], []
        for (words, partner), (start, stop) in zip(((u, v), (v, u)), ROW_SPANS[row].tolist(), strict=True):
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
