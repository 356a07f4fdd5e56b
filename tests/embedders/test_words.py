import numpy as np
import torch

from mtl.embedders.words import WordEmbedder, with_specials


def test_padding_is_zero_and_stays_so() -> None:
    embedder = WordEmbedder(5, 3, trainable=True)
    optimizer = torch.optim.Adam(embedder.parameters(), 0.1)
    embedder(torch.tensor([[0, 2], [3, 0]])).pow(2).sum().backward()
    optimizer.step()
    assert (embedder(torch.tensor([0])) == 0).all()


def test_frozen_vectors_have_no_gradient() -> None:
    assert not WordEmbedder(5, 3, trainable=False).table.weight.requires_grad


def test_specials() -> None:
    vectors = np.array([[1, 2], [3, 6]], dtype=np.float32)
    np.testing.assert_array_equal(with_specials(vectors), [[0, 0], [2, 4], [1, 2], [3, 6]])


def test_extend() -> None:
    embedder = WordEmbedder(3, 2, trainable=True)
    before = embedder(torch.tensor([2]))
    embedder.extend(np.array([[5, 6]], dtype=np.float32))
    assert embedder(torch.tensor([3])).tolist() == [[5, 6]]
    assert torch.equal(embedder(torch.tensor([2])), before)
