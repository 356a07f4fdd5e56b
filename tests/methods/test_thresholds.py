from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from lstm_parts import LABELS, lstm_parts

from mtl.methods.coded import Coded
from mtl.methods.lstm.outputs import encode_once
from mtl.methods.stage2 import Finetuning
from mtl.methods.thresholds import bagged_shift, best_shift, label_decisions, recorded_shifts
from mtl.tasks.metrics import score


def f1_at(outputs: np.ndarray, gold: np.ndarray, label: int, shift: float) -> float:
    shifted = outputs.astype(np.float64).copy()
    shifted[:, label] += shift
    predicted, right = shifted.argmax(axis=1) == label, gold == label
    both = int((predicted & right).sum())
    return 2 * both / (int(predicted.sum()) + int(right.sum())) if both else 0.0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("labels", [2, 4])
def test_no_other_shift_has_a_higher_f1(seed: int, labels: int) -> None:
    rng = np.random.default_rng(seed)
    gold = (rng.random(200) < 0.15).astype(int)
    outputs = rng.normal(size=(200, labels)).round(2 if labels == 2 else 9)  # two decimals: some margins are equal
    outputs[:, 1] += gold - 1.5
    shifts = np.append(np.arange(-6, 6, 0.01) + 0.005, 0.0)
    best = f1_at(outputs, gold, 1, best_shift(label_decisions(outputs, gold, 1)))
    assert best >= max(f1_at(outputs, gold, 1, shift) for shift in shifts) - 1e-12


def test_nothing_is_shifted_where_zero_is_as_good_or_dev_has_no_such_label() -> None:
    outputs = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.0]])
    assert best_shift(label_decisions(outputs, np.array([0, 1, 0]), 1)) == 0.0
    nothing = label_decisions(np.zeros((3, 2)), np.zeros(3), 1)
    assert best_shift(nothing) == bagged_shift(nothing) == 0.0


@pytest.mark.parametrize("label", [0, 1])
def test_rows_with_equal_outputs_are_those_of_the_first_label(label: int) -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        gold, outputs = rng.integers(2, size=12), rng.integers(3, size=(12, 2)).astype(np.float32)
        shift = best_shift(label_decisions(outputs, gold, label))
        shifts = np.append(np.arange(-4, 4, 0.5) + 0.25, 0.0)
        best = max(f1_at(outputs, gold, label, shift) for shift in shifts)
        assert f1_at(outputs, gold, label, shift) == pytest.approx(best)


def outputs_like_cbd(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Outputs and gold labels of 600 rows, 10 % of them of label 1; the best F1 is about 42."""
    rng = np.random.default_rng(seed)
    gold = (np.arange(600) < 60).astype(int)
    return np.column_stack([np.zeros(600), 2 * rng.normal(size=600) + 2.7 * gold - 2]), gold


@pytest.mark.parametrize("label", [0, 1])
def test_a_bagged_threshold_is_the_mean_of_those_of_stratified_resamples(label: int) -> None:
    outputs, gold = outputs_like_cbd(1)
    rng = np.random.default_rng(5)  # not the draws of `bagged_shift`
    shifts = []
    for _ in range(100):
        drawn = np.concatenate([rng.choice(np.flatnonzero(of), size=of.sum()) for of in (gold == 0, gold == 1)])
        tried = np.arange(-4, 8, 0.1) + 0.001
        scores = [f1_at(outputs[drawn], gold[drawn], label, shift) for shift in tried]
        shifts.append(tried[np.argmax(scores)])
    error = 4 * np.std(shifts) * (1 / 100 + 1 / 200) ** 0.5
    assert bagged_shift(label_decisions(outputs, gold, label)) == pytest.approx(np.mean(shifts), abs=error + 0.1)
    assert bagged_shift(label_decisions(outputs, gold, label)) == bagged_shift(label_decisions(outputs, gold, label))


@pytest.mark.parametrize("setting", ["head.projection=null", "head.projection=6"])
@pytest.mark.parametrize("threshold", ["dev", "bagged"])
def test_the_threshold_becomes_part_of_the_head(tmp_path: Path, setting: str, threshold: str) -> None:
    chosen = f"finetune.threshold={threshold}"
    parts = lstm_parts(tmp_path, setting, chosen, "finetune.max_epochs=1", "loss.class_weights=0")
    task = replace(LABELS, metric="f1", positive="arg")
    tasks = [task if other.id == task.id else other for other in parts.dataset.tasks]
    data = Coded(replace(parts.dataset, tasks=tasks))
    network = parts.network()
    with torch.no_grad():
        network.heads[task.id].last.bias[0] -= 100.0  # "arg" is never predicted
    encoded = encode_once(parts.config, data.dataset, parts.sequences, network, 1, tmp_path)
    read = encoded.input_for(network.heads, task)
    stage = Finetuning(parts.config, data, task, read, 1, tmp_path / "stage")
    trained = stage.train(network.heads)
    shifts = recorded_shifts(tmp_path / "stage", task)
    assert shifts is not None and list(shifts) == [0] and shifts[0] > 10
    dev = data.splits[task.id]["dev"]
    assert score(task, stage.predict(trained, task)["dev"], dev.scored_rows) > 0
    # A later process loads the same head and does not choose again.
    again = stage.train(parts.network().heads)
    for name, weight in trained.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name]), name
    saved = torch.load(tmp_path / "stage" / "best.ckpt", weights_only=True)["state_dict"]
    assert all(torch.equal(weight, trained.state_dict()[name]) for name, weight in saved.items())
