from mtl.report.groups import COSTS, cost_cells


def test_costs_in_words() -> None:
    cost = {
        "parameters": 46_123_456,
        "parameters_without_embeddings": 0,
        "pretrain_seconds": None,
        "finetune_seconds": 65.4,
    }
    cost |= {"peak_memory": 3 * 2**29, "sentences_per_second": 1234.5}
    assert cost_cells(cost) == ["46,123,456", "0", "–", "1 min 05 s", "1.6 GB", "1,234"]
    assert cost_cells({}) == ["–"] * len(COSTS)
