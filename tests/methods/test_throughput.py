from collections.abc import Sequence

import pytest
import torch

from mtl.config.load import data_dir, load_config
from mtl.data.dataset import load_dataset
from mtl.methods import throughput
from mtl.methods.throughput import one_core, sentences_per_second


class Clock:
    now = 0.0

    def perf_counter(self) -> float:
        return self.now


def test_texts_are_counted_and_first_calls_are_not(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    config, suite = load_config(settings)
    dataset = load_dataset(suite, suite.choose(None), data_dir(config, suite), 256, 0.1)
    clock = Clock()
    monkeypatch.setattr(throughput, "time", clock)
    monkeypatch.setattr(throughput, "SECONDS", 1.0)
    seen: list[tuple[str, int]] = []

    def predict(task: str, rows: Sequence[Sequence[str]]) -> None:
        assert torch.get_num_threads() == 1
        assert all(len(row) == (2 if task == "samma" else 1) and isinstance(row[0], str) for row in rows)
        clock.now += 1000.0 if len(rows) == 1 else 0.01 * len(rows)
        seen.append((task, len(rows)))

    threads = torch.get_num_threads()
    speed = sentences_per_second(predict, dataset)
    assert torch.get_num_threads() == threads
    # A row takes 10 ms; a pair has two texts. What the first call for a task takes is left out.
    texts = sum(rows * (2 if task == "samma" else 1) for task, rows in seen if rows > 1)
    seconds = sum(0.01 * rows for _, rows in seen if rows > 1)
    assert speed == pytest.approx(texts / seconds) and 100 < speed < 200
    assert 1.0 <= seconds < 1.0 + 3 * 0.01 * 16  # whole rounds over the tasks
    assert {task for task, _ in seen} == {"kansla", "samma", "betyg"} and max(rows for _, rows in seen) <= 16


def test_one_core_is_given_back_after_an_error() -> None:
    threads = torch.get_num_threads()
    with pytest.raises(RuntimeError), one_core():
        raise RuntimeError
    assert torch.get_num_threads() == threads
