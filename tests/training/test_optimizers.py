import copy

import pytest
import torch
from torch import nn

from mtl.training.optimizers import Adam, clip_gradients


def update(table: nn.Embedding, optimizer: Adam, *ids: int) -> None:
    optimizer.zero_grad()
    table(torch.tensor(ids)).square().sum().backward()
    optimizer.step()


def tables() -> tuple[nn.Embedding, nn.Embedding]:
    """Two equal tables of 10 vectors; the first one has sparse gradients."""
    torch.manual_seed(0)
    sparse, dense = nn.Embedding(10, 3, sparse=True), nn.Embedding(10, 3)
    dense.load_state_dict(sparse.state_dict())
    return sparse, dense


@pytest.mark.parametrize("amsgrad", [False, True])
def test_rows_that_every_step_reads_are_updated_as_by_torch(amsgrad: bool) -> None:
    sparse, dense = tables()
    ours = Adam(sparse.parameters(), 0.1, amsgrad=amsgrad)
    theirs = torch.optim.Adam(dense.parameters(), 0.1, amsgrad=amsgrad)
    ids = torch.arange(10).repeat(2)  # each word twice: its gradients are summed
    for _ in range(5):
        factors = torch.randn(20, 3)
        for table, optimizer in ((sparse, ours), (dense, theirs)):
            optimizer.zero_grad()
            (table(ids) * factors).sum().backward()
            optimizer.step()
    torch.testing.assert_close(sparse.weight, dense.weight)


def test_rows_without_a_gradient_keep_their_state_which_is_saved() -> None:
    sparse, _ = tables()
    optimizer = Adam(sparse.parameters(), 0.1, amsgrad=True)
    before = sparse.weight.detach().clone()
    for ids in ([1, 2], [2, 3], [2, 2]):
        update(sparse, optimizer, *ids)
    changed = (sparse.weight != before).any(dim=1)
    assert changed.tolist() == [row in (1, 2, 3) for row in range(10)]
    assert not optimizer.state[sparse.weight]["exp_avg"][0].any()
    first, second = tables()[0], tables()[0]
    optimizers = [Adam(table.parameters(), 0.1, amsgrad=True) for table in (first, second)]
    update(first, optimizers[0], 1, 2)
    second.load_state_dict(first.state_dict())
    optimizers[1].load_state_dict(copy.deepcopy(optimizers[0].state_dict()))  # it would share the tensors
    for table, optimizer in zip((first, second), optimizers, strict=True):
        update(table, optimizer, 1, 2)
    assert torch.equal(first.weight, second.weight)


@pytest.mark.parametrize("limit", [1e-3, 1e6])
def test_gradients_are_clipped_together(limit: float) -> None:
    sparse, dense = tables()
    layers = [nn.Linear(3, 2), nn.Linear(3, 2)]
    layers[1].load_state_dict(layers[0].state_dict())
    grads = []
    for table, layer in zip((sparse, dense), layers, strict=True):
        layer(table(torch.tensor([4, 4, 7]))).square().sum().backward()
        clip_gradients([*table.parameters(), *layer.parameters(), nn.Parameter(torch.zeros(1))], limit)
        grads.append((table.weight.grad.to_dense(), layer.weight.grad))
    for ours, theirs in zip(*grads, strict=True):
        torch.testing.assert_close(ours, theirs)
