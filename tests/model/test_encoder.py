import numpy as np
import pytest
import torch

from mtl.embedders.words import WordEmbedder
from mtl.model.encoder import Encoder, batches_by_length, max_pool, mean_pool
from mtl.model.sequences import ArraySequences


def encoder(
    dim: int = 20, hidden_size: int = 64, dropout: tuple[float, float] = (0.2, 0.2), join_input: bool = False
) -> Encoder:
    torch.manual_seed(0)
    return Encoder(WordEmbedder(500, dim, trainable=True), dim, hidden_size, 2, *dropout, join_input).eval()


def sequences(count: int, longest: int = 40) -> ArraySequences:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, longest, count)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return ArraySequences(rng.integers(1, 500, starts[-1]), starts[:-1], sizes)


def test_pooling_against_plain_loops_in_batches_of_similar_length() -> None:
    outputs, lengths = -torch.rand(3, 5, 4) - 1, torch.tensor([1, 5, 3])  # all below the zeros of padding
    texts = [row[:length] for row, length in zip(outputs, lengths, strict=True)]
    assert torch.equal(max_pool(outputs, lengths), torch.stack([text.max(dim=0).values for text in texts]))
    torch.testing.assert_close(mean_pool(outputs, lengths), torch.stack([text.mean(dim=0) for text in texts]))
    lengths = torch.from_numpy(np.random.default_rng(0).integers(1, 400, 6000))
    batches = list(batches_by_length(lengths))
    order = torch.cat(batches)
    assert sorted(order.tolist()) == list(range(6000))
    assert (lengths[order].diff() >= 0).all()
    assert max(map(len, batches)) == 256
    assert max(len(batch) * int(lengths[batch].max()) for batch in batches) <= 2 * 8192


def test_encode_keeps_order_and_mode_and_dropout_is_applied_only_in_training() -> None:
    model, texts = encoder(), sequences(30)
    model.train()
    places = torch.tensor([7, 3, 3, 29])
    vectors = model.encode(texts, places)
    assert model.training
    model.eval()
    torch.testing.assert_close(vectors, model.encode(texts, torch.arange(30))[places], atol=1e-5, rtol=0)
    model, texts = encoder(), sequences(3)
    batch = texts.gather(torch.arange(3))
    assert torch.equal(model.outputs(*batch), model.outputs(*batch))
    model.train()
    assert not torch.equal(model.outputs(*batch), model.outputs(*batch))


@torch.no_grad()
def test_a_joined_input_follows_the_outputs() -> None:
    plain, joined, texts = encoder(), encoder(join_input=True), sequences(20)
    for one, other in zip(plain.parameters(), joined.parameters(), strict=True):
        assert torch.equal(one, other)  # the part draws no number and has no weights
    tokens, lengths = texts.gather(torch.arange(20))
    states = joined.outputs(tokens, lengths)
    assert joined.output_size == states.shape[2] == 2 * 64 + 20
    torch.testing.assert_close(states[..., :128], plain.outputs(tokens, lengths), atol=1e-6, rtol=0)
    assert torch.equal(states[..., 128:], plain.embedder.table.weight[tokens])
    # A text's vector is the maximum over its own tokens, of the words' vectors too.
    for place, length in enumerate(lengths.tolist()):
        expected = states[place, :length].max(dim=0).values
        torch.testing.assert_close(joined.encode(texts, torch.arange(20))[place], expected, atol=1e-5, rtol=0)


@torch.no_grad()
def test_a_joined_input_has_the_embedding_s_dropout_and_no_other() -> None:
    """As in jiant: dropout acts once on the words' vectors and once on the LSTM's outputs, before both are joined."""
    tokens, lengths = sequences(20).gather(torch.arange(20))
    inside = tokens > 0
    words = encoder().embedder.table.weight[tokens]
    on_outputs = encoder(dropout=(0.0, 0.5), join_input=True).train().outputs(tokens, lengths)
    assert torch.equal(on_outputs[..., 128:], words)
    assert 0.4 < float((on_outputs[..., :128][inside] == 0).float().mean()) < 0.6
    model = encoder(dropout=(0.5, 0.0), join_input=True).train()
    read: list[torch.Tensor] = []
    model.lstm.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    on_words = model.outputs(tokens, lengths)
    assert torch.equal(on_words[..., 128:], read[0])  # the vectors that the LSTM read
    kept = read[0][inside] != 0
    assert 0.4 < float(kept.float().mean()) < 0.6
    torch.testing.assert_close(read[0][inside][kept], 2 * words[inside][kept])
    assert (on_words[..., :128][inside] != 0).all()


LENGTHS = np.array([3, 1, 4, 2])
STARTS = np.array([4, 0, 8, 2])  # not in the texts' order, with gaps


@pytest.mark.parametrize("width", [None, 5])
def test_gathered_texts_are_padded_with_zeros(width: int | None) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 100, 12) if width is None else rng.normal(size=(12, width)).astype(np.float32)
    before = rows.copy()
    sequences = ArraySequences(rows, STARTS, LENGTHS)
    texts = [1, 3, 0, 1]
    gathered, lengths = sequences.gather(torch.tensor(texts))
    assert lengths.tolist() == [1, 2, 3, 1]
    expected = np.zeros((4, 3) if width is None else (4, 3, width), dtype=rows.dtype)
    for place, text in enumerate(texts):
        expected[place, : LENGTHS[text]] = rows[STARTS[text] : STARTS[text] + LENGTHS[text]]
    np.testing.assert_array_equal(gathered.numpy(), expected)
    assert gathered.numpy().dtype == rows.dtype
    np.testing.assert_array_equal(rows, before)  # padding is written to a copy
