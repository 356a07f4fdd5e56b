import time
from collections.abc import Sequence

import pytest
import torch

from mtl import throughput
from mtl.config import data_dir, load_config
from mtl.data.dataset import load_dataset
from mtl.throughput import one_core, sentences_per_second


def test_texts_are_counted_and_first_calls_are_not(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    config, suite = load_config(settings)
    dataset = load_dataset(suite, suite.choose(None), data_dir(config, suite), 256, 0.1)
    monkeypatch.setattr(throughput, "SECONDS", 0.1)
    seen: list[tuple[str, int]] = []

    def predict(task: str, rows: Sequence[Sequence[str]]) -> None:
        assert torch.get_num_threads() == 1
        assert all(len(row) == (2 if task == "samma" else 1) and isinstance(row[0], str) for row in rows)
        time.sleep(0.5 if len(rows) == 1 and len(seen) < 6 else 0.001 * len(rows))
        seen.append((task, len(rows)))

    threads = torch.get_num_threads()
    speed = sentences_per_second(predict, dataset)
    assert torch.get_num_threads() == threads
    # A thousand rows a second, a pair being two texts; the half seconds of first calls are left out.
    assert 400 < speed < 2000
    assert {task for task, _ in seen} == {"kansla", "samma", "betyg"} and max(rows for _, rows in seen) <= 16


def test_one_core_is_given_back_after_an_error() -> None:
    threads = torch.get_num_threads()
    with pytest.raises(RuntimeError), one_core():
        raise RuntimeError
    assert torch.get_num_threads() == threads
