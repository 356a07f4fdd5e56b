import numpy as np
import torch

from mtl.embedders.words import WordEmbedder, with_specials
from mtl.model.encoder import Encoder


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


def test_added_words_come_after_those_that_are_there() -> None:
    embedder = WordEmbedder(3, 2, trainable=True)
    before = embedder(torch.tensor([[0, 1, 2]]))
    saved = set(embedder.state_dict())
    embedder.add(np.array([[5, 6]], dtype=np.float32))
    embedder.add(np.array([[7, 8], [9, 10]], dtype=np.float32))
    assert embedder(torch.tensor([[5, 3, 4]])).tolist() == [[[9, 10], [5, 6], [7, 8]]]
    assert torch.equal(embedder(torch.tensor([[0, 1, 2]])), before)
    assert set(embedder.state_dict()) == saved


def test_tasks_share_the_vectors_and_train_them_no_more() -> None:
    encoder = Encoder(WordEmbedder(3, 2, trainable=True), 2, 4, 1, 0.0, 0.0)
    one, other = encoder.for_task(), encoder.for_task()
    encoder.embedder.add(np.array([[5, 6]], dtype=np.float32))
    assert one.embedder is other.embedder is encoder.embedder
    assert not any(parameter.requires_grad for parameter in one.embedder.parameters())
    assert all(parameter.requires_grad for parameter in one.lstm.parameters())
    trained = [
        id(parameter) for parameter in (*encoder.lstm.parameters(), *one.lstm.parameters(), *other.lstm.parameters())
    ]
    assert len(set(trained)) == len(trained)
