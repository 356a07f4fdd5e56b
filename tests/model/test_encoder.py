import numpy as np
import torch

from mtl.embedders.sequences import ArraySequences
from mtl.embedders.words import WordEmbedder
from mtl.model.encoder import Encoder, max_pool


def encoder(dim: int = 20, hidden_size: int = 64) -> Encoder:
    torch.manual_seed(0)
    return Encoder(WordEmbedder(500, dim, trainable=True), dim, hidden_size, 2, 0.2, 0.2).eval()


def sequences(count: int, longest: int = 40) -> ArraySequences:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, longest, count)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return ArraySequences(rng.integers(1, 500, starts[-1]), starts[:-1], sizes)


def test_max_pool_against_plain_loops() -> None:
    outputs = -torch.rand(3, 5, 4) - 1  # all below the zeros of padding
    lengths = torch.tensor([1, 5, 3])
    expected = torch.stack([row[:length].max(dim=0).values for row, length in zip(outputs, lengths, strict=True)])
    assert torch.equal(max_pool(outputs, lengths), expected)


@torch.no_grad()
def test_sentence_vector_does_not_depend_on_the_batch() -> None:
    model, texts = encoder(), sequences(120)
    alone = torch.cat([model(*texts.gather(torch.tensor([i]))) for i in range(120)])
    together = model(*texts.gather(torch.arange(120)))
    shuffled = torch.randperm(120)
    in_parts = torch.cat([model(*texts.gather(part)) for part in shuffled.split(7)])[shuffled.argsort()]
    for other in (together, in_parts, model.encode(texts, torch.arange(120))):
        assert (alone - other).abs().max() < 1e-5


def test_encode_keeps_the_requested_order_and_the_training_mode() -> None:
    model, texts = encoder(), sequences(30)
    model.train()
    places = torch.tensor([7, 3, 3, 29])
    vectors = model.encode(texts, places)
    assert model.training
    model.eval()
    torch.testing.assert_close(vectors, model.encode(texts, torch.arange(30))[places], atol=1e-5, rtol=0)


def test_dropout_is_applied_only_in_training() -> None:
    model, texts = encoder(), sequences(3)
    batch = texts.gather(torch.arange(3))
    assert torch.equal(model(*batch), model(*batch))
    model.train()
    assert not torch.equal(model(*batch), model(*batch))
