import math
from dataclasses import replace

import pytest
import torch

from mtl.embedders.words import WordEmbedder
from mtl.model.encoder import Encoder, max_pool
from mtl.model.heads import AttentionHead, CosineHead, Head, ProjectingHead
from mtl.model.network import Batch, Heads, Network
from mtl.tasks.task import Task

LABELS = Task(id="a.b", kind="labels", text=["x"], target="y", labels=["n", "p"], metric="accuracy")
NUMBERS = Task(id="r", kind="number", text=["x", "z"], target="y", range=[1, 5], metric="spearman")
CHOICE = Task(id="c", kind="choice", text=["q"], candidates=["a[]"], target="y", metric="accuracy")
WORDS = Task(id="w", kind="word", text=["x"], target="y", metric="accuracy")
TASKS = [LABELS, NUMBERS, CHOICE, WORDS]
OUTPUTS = {"a.b": 2, "r": 1, "c": 1, "w": 4}
SIZES = torch.tensor([3, 1, 2])  # candidates of the rows of a choice


def network(
    encoder: Encoder | None = None, attention_size: int | None = None, projection: int | None = None
) -> Network:
    torch.manual_seed(0)
    return Network(TASKS, Heads(TASKS, OUTPUTS, 8, 5, 0.0, attention_size, projection), encoder).eval()


def on_vectors(task: str, targets: list[float], inputs: int, sides: int, sizes: torch.Tensor | None = None) -> Batch:
    vectors = torch.randn(sides * inputs, 8, generator=torch.Generator().manual_seed(1))
    return Batch(task, torch.arange(len(targets)), torch.tensor(targets), vectors=vectors, sizes=sizes)


def test_each_task_has_a_head_that_fits_it() -> None:
    heads = network().heads
    vectors = torch.randn(6, 8)
    assert [tuple(heads[task.id](vectors).shape) for task in TASKS] == [(6, 2), (3, 1), (3, 1), (6, 4)]
    assert not any(heads[task.id].reads_tokens for task in TASKS)
    for attention_size, projection, single, pair in (
        (3, None, Head, AttentionHead),
        (None, 3, ProjectingHead, ProjectingHead),
        (3, 3, ProjectingHead, AttentionHead),
    ):
        heads = network(None, attention_size, projection).heads
        assert [type(heads[task.id]) for task in TASKS] == [single, pair, pair, single]
    for sizes in ((None, None), (3, None), (None, 3)):
        plain, cosine = (Heads(TASKS, OUTPUTS, 8, 5, 0.0, *sizes, cosine=on) for on in (False, True))
        kinds = [[type(heads[task.id]) for task in TASKS] for heads in (plain, cosine)]
        assert kinds[1] == [CosineHead if task is NUMBERS else kind for task, kind in zip(TASKS, kinds[0], strict=True)]
    # Of marked spans a cosine would read nothing, and a single text has none.
    others = [replace(NUMBERS, spans={"z": ["s"]}), replace(NUMBERS, id="a.b", text=["x"])]
    heads = Heads(others, OUTPUTS, 8, 5, 0.0, cosine=True)
    assert [type(heads[task.id]) for task in others] == [Head, Head]
    pair = replace(NUMBERS, spans={"z": ["s"], "x": ["t"]})
    single = replace(LABELS, spans={"x": ["s", "t", "u"]})
    for sizes in ((None, None), (3, None), (None, 3), (3, 3)):
        heads = Heads([pair, single], OUTPUTS, 8, 5, 0.0, *sizes)
        assert all(heads[task.id].reads_tokens for task in (pair, single))
        mlps = [head if isinstance(head, Head) else head.head for head in (heads["r"], heads["a.b"])]
        assert [mlp.spans for mlp in mlps] == [[0, 1], [0, 0, 0]]


def test_heads_without_a_projection_draw_the_same_weights_as_ever_under_their_names() -> None:
    made = network().heads
    torch.manual_seed(0)
    for task in TASKS:
        head = Head(8, OUTPUTS[task.id], task.is_pair, 5, 0.0)
        assert all(torch.equal(one, made[task.id].state_dict()[name]) for name, one in head.state_dict().items())
    encoder = Encoder(WordEmbedder(20, 6, trainable=True), 6, 4, 1, 0.0, 0.0)
    names = list(network(encoder).state_dict())
    assert {name.split(".")[0] for name in names} == {"encoder", "heads"}
    assert names[0].startswith("heads.layers.0.")  # heads come first; a task's id, which may have a dot, is in no name


@torch.no_grad()
def test_token_outputs_in_float16_and_a_linear_model_s_outputs() -> None:
    model = network(projection=3)
    states = torch.randn(3, 4, 8).half()
    lengths, rows = torch.tensor([4, 2, 3]), torch.arange(3)
    half = model(Batch("a.b", rows, torch.zeros(3), states, lengths))
    assert half.dtype == torch.float32
    assert torch.equal(half, model(Batch("a.b", rows, torch.zeros(3), states.float(), lengths)))
    model, batch = network(), on_vectors("a.b", [1.0, 0.0, 1.0], 3, 1)
    base = torch.tensor([[1.0, -1.0], [0.0, 2.0], [30.0, 0.0]])
    both = replace(batch, base=base)
    assert torch.equal(model(both), model(batch) + base)
    assert model.predict(both, model(both))[2] == 0


@torch.no_grad()
def test_the_loss_of_a_choice_is_cross_entropy_over_each_row_s_candidates() -> None:
    model, batch = network(), on_vectors("c", [2.0, 0.0, 1.0], 6, 2, SIZES)
    outputs = model(batch)
    scores = outputs[:, 0].tolist()
    rows = [scores[:3], scores[3:4], scores[4:]]
    expected = [math.log(sum(map(math.exp, row))) - row[right] for row, right in zip(rows, (2, 0, 1), strict=True)]
    assert expected[1] == 0  # a row with one candidate has nothing to choose
    assert float(model.loss(batch)) == pytest.approx(sum(expected) / 3, abs=1e-5)
    assert model.predict(batch, outputs).tolist() == [row.index(max(row)) for row in rows]


def test_a_choice_does_not_depend_on_the_other_rows_and_has_finite_gradients() -> None:
    model, batch = network(), on_vectors("c", [2.0, 0.0, 1.0], 6, 2, SIZES)
    outputs = torch.tensor([[1.0], [3.0], [2.0], [-9.0], [-5.0], [-7.0]])
    assert model.predict(batch, outputs).tolist() == [1, 0, 0]  # padding, scored 0 or more, would win in the last row
    model.loss(batch).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.heads["c"].parameters())


def test_tokens_vectors_and_token_outputs_give_the_same() -> None:
    """Texts for the encoder, its token outputs, and its pooled vectors are three ways to hand over the same rows."""
    torch.manual_seed(3)
    encoder = Encoder(WordEmbedder(20, 6, trainable=True), 6, 4, 1, 0.0, 0.0)
    tokens = torch.tensor([[2, 3, 4], [5, 6, 0], [7, 0, 0], [8, 9, 2], [3, 0, 0], [4, 5, 0]])
    lengths = torch.tensor([3, 2, 1, 3, 1, 2])
    rows, targets = torch.arange(3), torch.zeros(3)
    with torch.no_grad():
        states = encoder.outputs(tokens, lengths)
        expected = network(encoder)(Batch("r", rows, targets, tokens, lengths))
        pooled = Batch("r", rows, targets, vectors=max_pool(states, lengths))
        for batch in (Batch("r", rows, targets, states, lengths), pooled):
            torch.testing.assert_close(network()(batch), expected, atol=1e-6, rtol=0)


def test_a_moved_batch_keeps_what_packing_and_splitting_read_on_the_cpu() -> None:
    on_cpu = {"rows": torch.tensor([4, 2]), "sizes": torch.tensor([2, 1]), "lengths": torch.tensor([3, 1, 2])}
    names = ("targets", "tokens", "vectors", "overlap", "base", "spans", "firsts")
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
    batch = Batch("t", torch.arange(3), torch.zeros(3), vectors=vectors)
    first, second = batch.parts(2)
    assert first.vectors is not None and first.vectors[:, 0].tolist() == [0, 1, 3, 4]
    assert second.vectors is not None and second.vectors[:, 0].tolist() == [2, 5]
    assert second.tokens is None and second.sizes is None
