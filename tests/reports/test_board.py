import pytest

from mtl.reports.board import cost_cell


@pytest.mark.parametrize(
    ("key", "value", "cell"),
    [
        ("parameters", 46_123_456, "46,123,456"),
        ("parameters_without_embeddings", 0, "0"),
        ("pretrain_seconds", None, "–"),
        ("finetune_seconds", 65.4, "1 min 05 s"),
        ("seconds_per_task", 2.0, "2 s"),
        ("peak_memory", 3 * 2**29, "1.6 GB"),
        ("sentences_per_second", 1234.5, "1,234"),
    ],
)
def test_costs_in_words(key: str, value: float | None, cell: str) -> None:
    assert cost_cell(key, value) == cell
