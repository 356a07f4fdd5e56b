import torch

from mtl.model.batch import Batch


def test_a_moved_batch_keeps_what_packing_and_splitting_read_on_the_cpu() -> None:
    rows, sizes, lengths = torch.tensor([4, 2]), torch.tensor([2, 1]), torch.tensor([3, 1, 2])
    tokens = torch.tensor([[1, 2, 3], [4, 0, 0], [5, 6, 0]])
    batch = Batch("t", rows, torch.tensor([1.0, 0.0]), tokens, lengths, sizes=sizes)
    moved = batch.to(torch.device("meta"))
    assert moved.task == "t" and moved.vectors is None
    assert moved.rows is rows and moved.sizes is sizes and moved.lengths is lengths
    assert moved.targets.device.type == "meta"
    assert moved.tokens is not None and moved.tokens.device.type == "meta"
    encoded = Batch(
        "t", rows, torch.zeros(2), vectors=torch.zeros(2, 3), overlap=torch.zeros(1, 4), spans=rows[None, None]
    )
    encoded = encoded.to(torch.device("meta"))
    assert encoded.tokens is None and encoded.vectors is not None and encoded.vectors.device.type == "meta"
    assert encoded.overlap is not None and encoded.overlap.device.type == "meta"
    assert encoded.spans is not None and encoded.spans.device.type == "meta"
