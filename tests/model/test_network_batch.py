import torch

from mtl.model.network import Batch


def test_a_moved_batch_keeps_what_packing_and_splitting_read_on_the_cpu() -> None:
    on_cpu = {"rows": torch.tensor([4, 2]), "sizes": torch.tensor([2, 1]), "lengths": torch.tensor([3, 1, 2])}
    names = ("targets", "tokens", "vectors", "overlap", "base", "spans", "marked", "firsts")
    batch = Batch("t", **on_cpu, **{name: torch.zeros(3, 2) for name in names})
    moved = batch.to(torch.device("meta"))
    assert moved.task == "t" and all(getattr(moved, name) is value for name, value in on_cpu.items())
    assert {getattr(moved, name).device.type for name in names} == {"meta"}
    assert Batch("t", on_cpu["rows"], torch.zeros(2)).to(torch.device("meta")).tokens is None


def test_parts_are_batches_of_some_of_the_rows() -> None:
    """Rows of 2, 1, 3, 1 and 1 candidates in two parts: the texts of each part's inputs, first texts first, cut after the longest."""
    sizes = torch.tensor([2, 1, 3, 1, 1])
    lengths = torch.tensor([1, 2, 1, 3, 2, 1, 4, 4, 2, 1, 1, 1, 3, 1, 5, 1])
    tokens = torch.arange(1, 17)[:, None] * (torch.arange(5) < lengths[:, None])
    by_input = {"overlap": torch.arange(8.0)[:, None], "base": torch.arange(8.0)[:, None]}
    by_input["spans"] = torch.arange(8)[:, None, None].expand(8, 1, 2)
    batch = Batch("t", torch.arange(10, 15), torch.arange(5.0), tokens, lengths, sizes=sizes, **by_input)
    first, second = batch.parts(2)
    assert (first.rows.tolist(), second.rows.tolist()) == ([10, 11, 12], [13, 14])
    assert (first.targets.tolist(), second.targets.tolist()) == ([0, 1, 2], [3, 4])
    assert first.sizes is not None and first.sizes.tolist() == [2, 1, 3]
    for part, texts, inputs in ((first, [*range(6), *range(8, 14)], range(6)), (second, [6, 7, 14, 15], [6, 7])):
        assert part.tokens is not None and part.lengths is not None and part.overlap is not None
        assert part.lengths.tolist() == lengths[texts].tolist()
        assert torch.equal(part.tokens, tokens[texts][:, : int(lengths[texts].max())])
        assert part.overlap[:, 0].tolist() == list(inputs)
        assert part.base is not None and part.base[:, 0].tolist() == list(inputs)
        assert part.spans is not None and part.spans[:, 0, 1].tolist() == list(inputs)
    assert first.tokens is not None and first.tokens.shape == (12, 3)
    assert [part.rows.tolist() for part in batch.parts(9)] == [[10], [11], [12], [13], [14]]
    assert batch.parts(1) == [batch]
    # Parts of vectors.
    vectors = torch.arange(6.0)[:, None]
    batch = Batch("t", torch.arange(3), torch.zeros(3), vectors=vectors, marked=torch.arange(3.0)[:, None, None])
    first, second = batch.parts(2)
    assert first.vectors is not None and first.vectors[:, 0].tolist() == [0, 1, 3, 4]
    assert second.vectors is not None and second.vectors[:, 0].tolist() == [2, 5]
    assert second.marked is not None and second.marked.tolist() == [[[2.0]]]
    assert second.tokens is None and second.sizes is None
