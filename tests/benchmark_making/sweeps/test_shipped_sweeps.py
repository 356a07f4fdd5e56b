"""The sweeps in configs/sweep: their runs, and in what these differ."""

import pytest
from command_line import job

from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import INDIFFERENT, Config
from mtl.benchmark_making.sweeps.sweep import load_sweep

SAMPLE = {"suite": "klej-sample"}


def differing(one: Config, other: Config) -> list[str]:
    """The settings in which two configurations differ, as "key: one's value, other's"."""
    a, b = flatten_config(one), flatten_config(other)
    return [
        f"{key}: {a.get(key)}, {b.get(key)}" for key in a | b if a.get(key) != b.get(key) and key not in INDIFFERENT
    ]


@pytest.mark.slow
def test_the_rows_of_table_3_are_in_the_folders_of_mtl_baseline() -> None:
    runs = load_sweep("table3", SAMPLE).runs
    rows = ["random-frozen", "fasttext-frozen", "elmo-frozen", "elmo-finetune", "elmo-attention"]
    assert [run.name for run in runs] == rows
    for run in runs:
        embeddings, variant = run.name.split("-")
        alone = job(["suite=klej-sample", f"embeddings={embeddings}", f"variant={variant}"])
        assert run.folder.path == alone.folder.path
        assert differing(run.config, alone.config) == []


@pytest.mark.slow
def test_the_readings_differ_in_the_parts_of_one_architecture() -> None:
    runs = {run.name: run.config for run in load_sweep("readings", SAMPLE).runs}
    parts = {"encoder.join_input", "head.projection", "boundary_words"}
    for embeddings, more in (("fasttext", 3), ("random", 1), ("elmo", 0)):
        for plain in (f"{embeddings}-frozen", f"{embeddings}-frozen-jiant"):
            alone = [differing(runs[plain], config) for name, config in runs.items() if name.startswith(f"{plain},")]
            keys = {line.partition(":")[0] for lines in alone for line in lines}
            assert all(len(lines) == 1 for lines in alone) and parts <= keys and len(keys) == len(parts) + more
