import numpy as np
import pytest
import torch

from mtl.model.attention import AttentionHead
from mtl.model.heads import Head, ProjectingHead, pair_features


def test_pair_features() -> None:
    u, v = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0]])
    assert pair_features(u, v).tolist() == [[1, 2, 3, -1, 2, 3, 3, -2]]


def test_first_sentences_come_before_second_sentences() -> None:
    torch.manual_seed(0)
    head = Head(4, outputs=3, pair=True, hidden_size=8, dropout=0.0)
    vectors = torch.randn(6, 4)
    outputs = head(vectors)
    assert outputs.shape == (3, 3)
    for row in range(3):
        torch.testing.assert_close(head(vectors[[row, row + 3]])[0], outputs[row])


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


def test_single_texts() -> None:
    assert Head(4, outputs=1, pair=False, hidden_size=8, dropout=0.0)(torch.randn(5, 4)).shape == (5, 1)


def mlp(head: Head, vectors: np.ndarray) -> np.ndarray:
    """The head's MLP without dropout, by NumPy: linear, tanh, layer norm, linear."""
    first, _, norm, _, last = (
        {name: value.detach().numpy() for name, value in layer.named_parameters()} for layer in head.layers
    )
    hidden = np.tanh(vectors @ first["weight"].T + first["bias"])
    centred = hidden - hidden.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    result: np.ndarray = (scaled * norm["weight"] + norm["bias"]) @ last["weight"].T + last["bias"]
    return result


@pytest.mark.parametrize("pair", [False, True])
@torch.no_grad()
def test_a_projecting_head_against_numpy(pair: bool) -> None:
    torch.manual_seed(0)
    head = ProjectingHead(6, outputs=3, pair=pair, hidden_size=8, dropout=0.5, projection=5).double().eval()
    states = torch.randn(4, 7, 6, dtype=torch.float64)
    lengths = torch.tensor([4, 1, 7, 2])
    weight, bias = head.projection.weight.numpy(), head.projection.bias.numpy()
    vectors = np.stack(
        [
            (text[:length] @ weight.T + bias).max(axis=0)
            for text, length in zip(states.numpy(), lengths.tolist(), strict=True)
        ]
    )
    if pair:
        u, v = vectors[:2], vectors[2:]
        vectors = np.concatenate([u, v, np.abs(u - v), u * v], axis=1)
    np.testing.assert_allclose(head.read(states, lengths).numpy(), mlp(head.head, vectors), atol=1e-12)
    # Nothing past a text's end has a weight.
    for place, length in enumerate(lengths.tolist()):
        states[place, length:] = 1e6
    np.testing.assert_allclose(head.read(states, lengths).numpy(), mlp(head.head, vectors), atol=1e-12)


@torch.no_grad()
def test_overlap_is_added_to_the_hidden_layer_against_numpy() -> None:
    torch.manual_seed(0)
    head = Head(4, outputs=3, pair=True, hidden_size=8, dropout=0.5, overlap=2).double().eval()
    vectors, overlap = torch.randn(6, 4, dtype=torch.float64), torch.rand(3, 2, dtype=torch.float64)
    assert head.overlap is not None
    u, v = vectors.numpy()[:3], vectors.numpy()[3:]
    # The layer of the overlap is part of the first layer, whose input are then both.
    first = head.layers[0]
    both = np.concatenate([u, v, np.abs(u - v), u * v, (overlap.numpy() - 0.5) * 4], axis=1)
    expected = Head(4, outputs=3, pair=True, hidden_size=8, dropout=0.5).double()
    expected.load_state_dict({name: value for name, value in head.state_dict().items() if name != "overlap.weight"})
    expected.layers[0].weight = torch.nn.Parameter(torch.cat([first.weight, head.overlap.weight], dim=1))
    np.testing.assert_allclose(head(vectors, overlap).numpy(), mlp(expected, both), atol=1e-12)


@pytest.mark.parametrize("kind", [Head, ProjectingHead, AttentionHead])
def test_every_head_of_a_pair_reads_the_overlap(kind: type) -> None:
    torch.manual_seed(0)
    sizes = {
        Head: {"pair": True},
        ProjectingHead: {"pair": True, "projection": 5},
        AttentionHead: {"attention_size": 3},
    }
    head = kind(dim=6, outputs=2, hidden_size=8, dropout=0.0, overlap=3, **sizes[kind])
    states, lengths = torch.randn(4, 7, 6), torch.tensor([4, 1, 7, 2])
    overlap = torch.rand(2, 3, requires_grad=True)
    head.read(states, lengths, overlap)[0].sum().backward()
    assert overlap.grad is not None and (overlap.grad[0] != 0).all() and (overlap.grad[1] == 0).all()


def test_a_head_of_single_texts_has_no_overlap() -> None:
    assert Head(4, outputs=1, pair=False, hidden_size=8, dropout=0.0, overlap=8).overlap is None
