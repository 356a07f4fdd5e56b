"""The costs in a summary as cells of a table."""

from collections.abc import Mapping

from mtl.files import format_bytes
from mtl.markdown import MISSING
from mtl.progress import format_duration

# Titles of costs, by their keys in a summary.
COSTS = {
    "parameters": "parameters",
    "parameters_without_embeddings": "without embeddings",
    "pretrain_seconds": "stage 1",
    "finetune_seconds": "stage 2",
    "peak_memory": "peak memory",
    "sentences_per_second": "sentences/s",
}


def cost_cells(cost: Mapping[str, float | None]) -> list[str]:
    """One cell for each cost in COSTS, with its unit."""
    return [_cell(key, cost.get(key)) for key in COSTS]


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return MISSING
    if key.endswith("seconds"):
        return format_duration(value)
    if "memory" in key:
        return format_bytes(int(value))
    return f"{value:,.0f}"
