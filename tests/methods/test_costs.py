from collections.abc import Sequence

import pytest
import torch
from command_line import job

from mtl.data.examples import Example
from mtl.data.loading import build_dataset, load_dataset
from mtl.data.splits import TaskExamples
from mtl.methods import costs
from mtl.methods.costs import sentences_per_second
from mtl.tasks.task import Task


class Clock:
    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(costs, "time", clock)
    monkeypatch.setattr(costs, "SECONDS", 1.0)
    return clock


def test_texts_are_counted_and_first_calls_are_not(settings: list[str], clock: Clock) -> None:
    small = job(settings)
    dataset = load_dataset(small.suite, small.tasks, small.data_dir, 0.1)
    seen: list[tuple[str, int]] = []

    def predict(task: Task, rows: Sequence[Sequence[str]]) -> None:
        assert torch.get_num_threads() == 1
        assert all(len(row) == (2 if task.id == "samma" else 1) and isinstance(row[0], str) for row in rows)
        clock.now += 1000.0 if len(rows) == 1 else 0.01 * len(rows)
        seen.append((task.id, len(rows)))

    threads = torch.get_num_threads()
    speed = sentences_per_second(predict, dataset)
    with pytest.raises(ZeroDivisionError):
        sentences_per_second(lambda *_: 1 / 0, dataset)
    assert torch.get_num_threads() == threads  # also after an error
    # A row takes 10 ms; a pair has two texts. What the first call for a task takes is left out.
    texts = sum(rows * (2 if task == "samma" else 1) for task, rows in seen if rows > 1)
    seconds = sum(0.01 * rows for _, rows in seen if rows > 1)
    assert speed == pytest.approx(texts / seconds) and 100 < speed < 200
    assert 1.0 <= seconds < 1.0 + 3 * 0.01 * 16  # whole rounds over the tasks
    assert {task for task, _ in seen} == {"kansla", "samma", "betyg"} and max(rows for _, rows in seen) <= 16
    seen.clear()
    sentences_per_second(predict, dataset, [small.suite.tasks["betyg"]])
    assert {task for task, _ in seen} == {"betyg"}


def test_a_row_of_a_choice_has_its_text_and_all_candidates(clock: Clock) -> None:
    """And so many texts are counted."""
    task = Task("c", kind="choice", text=["x"], candidates=["a[]"], target="y", metric="accuracy")
    examples = [Example(2, (("q", "a"), ("q", "b"), ("q", "c")), 0.0), Example(3, (("p", "a"), ("p", "d")), 1.0)]
    dataset = build_dataset([TaskExamples(task, {"train": examples, "dev": examples}, [])])
    seen = []

    def predict(task: Task, rows: Sequence[Sequence[str]]) -> None:
        clock.now += 0.5 * len(rows)
        seen.extend(rows)

    assert sentences_per_second(predict, dataset) == pytest.approx((4 + 3) / 1.0)
    assert set(seen) == {("q", "a", "b", "c"), ("p", "a", "d")}
