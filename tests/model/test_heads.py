import torch

from mtl.model.heads import Head, pair_features


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
