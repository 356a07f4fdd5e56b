"""The sweeps in configs/sweep: their runs, and in what these differ."""

import re

import pytest
from command_line import job

from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import INDIFFERENT, Config
from mtl.benchmark_making.sweeps.sweep import load_sweep
from mtl.methods import METHODS

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
def test_both_readings_and_each_part_alone() -> None:
    runs = {run.name: run.config for run in load_sweep("readings", SAMPLE).runs}
    for embeddings in ("fasttext", "random", "elmo"):
        paper, jiant = (runs[f"{embeddings}-frozen{name}"] for name in ("", "-jiant"))
        skipped = ("architecture: ", "finetune.token_outputs: ")
        parts = {of for of in differing(paper, jiant) if not of.startswith(skipped)}
        swapped = {re.sub("^(.*): (.*), (.*)$", r"\1: \3, \2", part) for part in parts}
        for plain, others in ((paper, parts), (jiant, swapped)):
            beside = f"{METHODS['lstm'].folder(plain)},"
            alone = [differing(plain, config) for name, config in runs.items() if name.startswith(beside)]
            assert sorted(alone) == sorted([part] for part in others)
    attention = [name for name in runs if "attention" in name]
    assert attention == ["fasttext-attention", "fasttext-attention-jiant"]
