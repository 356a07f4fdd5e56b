"""How long stage 1 takes on this machine."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from command_line import job

from mtl.data.dataset import Dataset, Split
from mtl.methods.lstm import stage1 as rate


@pytest.fixture
def dataset(settings: list[str]) -> Dataset:
    """A task of one text with 400 rows and one of pairs with 100."""
    pair, single = sorted(job(settings).run_tasks, key=lambda task: not task.is_pair)[
        :: len(job(settings).run_tasks) - 1
    ]
    texts = ["one two three four", "one two", "a b c d e f g h i j"]

    def split(rows: Sequence[Any]) -> dict[str, Split]:
        return {"train": Split(np.array(rows), np.zeros(len(rows)))}

    return Dataset([single, pair], texts, {single.id: split([[0]] * 400), pair.id: split([[1, 2]] * 100)}, {})


def test_the_mean_batch_follows_the_sampling(settings: list[str], dataset: Dataset) -> None:
    config = job([*settings, "pretrain.batch_size=20", "max_length=8"]).config
    # 0.8 × 1 text of 4 words + 0.2 × 2 texts of 2 and, cut off, 8 words: 1.2 texts and 5.2 words a row
    assert rate.mean_batch(config, dataset) == (24, 4)
    equal = replace(config, pretrain=replace(config.pretrain, sampling=0.0))
    assert rate.mean_batch(equal, dataset) == (30, round((4 + 10) / 3))


def test_stage_1_is_its_steps(settings: list[str], dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "step_seconds", lambda config, texts, words: texts * words)
    config = job([*settings, "pretrain.batch_size=20", "max_length=8", "pretrain.max_steps=7"]).config
    assert rate.stage1_seconds(config, dataset) == 7 * 24 * 4


def test_a_step_is_measured(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "SECONDS", 0.01)
    seconds = rate.step_seconds(job([*settings, "trainer.threads=1"]).config, 4, 5)
    assert 0 < seconds < 60
