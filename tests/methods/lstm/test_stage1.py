from pathlib import Path

import pytest
import torch
from data_files import read_json
from lstm_parts import TRAINED, Parts, lstm_parts

from mtl.methods.lstm.stage1 import SharedStage1, pretrain
from mtl.model.network import Network


def train(parts: Parts, folder: Path, seed: int = 1) -> Network:
    shared = SharedStage1(folder.with_name("shared"), f"{folder.name} {seed}")
    return pretrain(parts.config, parts.data, parts.sequences, parts.embeddings, seed, folder, shared)


def same(one: Network, other: Network) -> bool:
    return all(torch.equal(value, other.state_dict()[name]) for name, value in one.state_dict().items())


def test_a_seed_has_its_network(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path)
    assert same(parts.network(1), parts.network(1))
    assert not same(parts.network(1), parts.network(2))


@pytest.mark.parametrize("variant", ["frozen", "attention"])
def test_it_trains_on_the_rows_of_every_target_kind_together(tmp_path: Path, variant: str) -> None:
    parts = lstm_parts(tmp_path, f"variant={variant}")
    network = train(parts, tmp_path / "pretrain")
    before = parts.network()
    changed = {
        name.rpartition(".")[0]
        for name, value in network.state_dict().items()
        if not torch.equal(value, before.state_dict()[name])
    }
    assert {f"heads.layers.{place}" for place in range(4)} <= {".".join(name.split(".")[:3]) for name in changed}
    assert any(name.startswith("encoder.lstm") for name in changed) and "encoder.embedder.table" in changed
    done = read_json(tmp_path / "pretrain/done.json")
    assert [row["step"] for row in done["curve"]] == [4, 8, 12]
    scores = {f"dev/{task.id}" for task in TRAINED}  # a task that another one's head answers has no dev score
    assert {name for name in done["curve"][0] if name.startswith("dev/")} == scores | {"dev/average"}
    for row in done["curve"]:
        assert row["dev/average"] == pytest.approx(sum(row[name] for name in scores) / 4)


def test_a_finished_stage_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = lstm_parts(tmp_path)
    trained = train(parts, tmp_path / "pretrain")
    monkeypatch.setattr("mtl.methods.lstm.stage1.fit_tasks", None)
    record = next((tmp_path / "shared").glob("*.json"))
    written = record.read_bytes()
    record.unlink()  # as if the process had been killed before it wrote the record
    assert same(train(parts, tmp_path / "pretrain"), trained)
    assert record.read_bytes() == written
