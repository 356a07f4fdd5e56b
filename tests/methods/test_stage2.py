from pathlib import Path

import pytest
import torch
from data_files import read_json
from elmo_files import write_elmo
from lstm_parts import CHOICE, OTHER, WORDS, lstm_parts, stages

from mtl.tasks.task import Task
from mtl.training.stage import BestWeights

SLOW = ("finetune.learning_rate=1e-12", "finetune.final_learning_rate=1e-13")  # no prediction changes


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return torch.load(folder / "best.ckpt", weights_only=True)["state_dict"]


@pytest.mark.parametrize("settings", [("variant=frozen",), ("architecture=jiant", "variant=attention")])
def test_a_frozen_encoder_leaves_only_the_head_to_train(tmp_path: Path, settings: tuple[str, ...]) -> None:
    parts = lstm_parts(tmp_path, *settings)
    network = parts.network()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    for id, stage in stages(parts, network, tmp_path).items():
        stage.train(network.heads)
        assert all(name.startswith("heads.layers.0.") for name in weights(tmp_path / id))
    for name, value in network.state_dict().items():
        assert torch.equal(value, before[name]) or name.startswith("heads."), name


@pytest.mark.parametrize("embeddings", ["random", "elmo"])
def test_finetune_trains_no_word_vectors(tmp_path: Path, embeddings: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The last weights, not the best ones, which may be those that stage 2 began with.
    monkeypatch.setattr(BestWeights, "keeps", lambda *_: True)
    settings = []
    if embeddings == "elmo":
        write_elmo(tmp_path / "elmo", lstm={"dim": 24, "projection_dim": 10})
        settings = ["embeddings=elmo", f"embeddings.path={tmp_path / 'elmo'}"]
    parts = lstm_parts(tmp_path, "variant=finetune", *settings)
    network = parts.network()
    before = {name: value.clone() for name, value in network.state_dict().items() if name.startswith("encoder.")}
    trained = {}
    for id, stage in stages(parts, network, tmp_path).items():
        stage.train(network.heads)
        trained[id] = {name: value for name, value in weights(tmp_path / id).items() if name.startswith("encoder.")}
        # The word vectors are fixed, and so not kept a second time; ELMo's mix is learned.
        fixed = {"encoder.embedder.table.weight"} if embeddings == "random" else set()
        assert set(before) - set(trained[id]) == fixed
        assert all(not torch.equal(before[name], value) for name, value in trained[id].items())
    assert not torch.equal(*(trained[id]["encoder.lstm.weight_ih_l0"] for id in ("labels", "numbers")))
    for name, value in before.items():  # stage 1's own encoder stays as it was
        assert torch.equal(network.state_dict()[name], value)


@pytest.mark.parametrize("variant", ["attention", "finetune architecture=jiant"])
def test_the_weights_of_stage_1_are_the_first_candidate(tmp_path: Path, variant: str) -> None:
    # At this learning rate no prediction changes, so that nothing is better.
    parts = lstm_parts(tmp_path, *f"variant={variant}".split(), *SLOW)
    network = parts.network()
    first = {name: value.clone() for name, value in network.state_dict().items()}
    for place, (id, stage) in enumerate(stages(parts, network, tmp_path).items()):
        stage.train(network.heads)
        done = read_json(tmp_path / id / "done.json")
        rows = done["curve"]
        assert rows[0]["step"] == 0 and len(rows) == 3
        assert done["average"] == pytest.approx(rows[0]["dev/average"])
        for name, value in weights(tmp_path / id).items():
            assert torch.equal(value, first[name.replace("heads.layers.0.", f"heads.layers.{place}.")]), name


@pytest.mark.parametrize("task", [CHOICE, WORDS])
def test_a_loaded_stage_predicts_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: Task) -> None:
    parts = lstm_parts(tmp_path)
    network = parts.network()
    stage = stages(parts, network, tmp_path)[task.id]
    predicted = stage.predict(stage.train(network.heads), task)
    monkeypatch.setattr("mtl.methods.stage2.fit_tasks", None)
    fresh = parts.network()
    again = stage.predict(stage.train(fresh.heads), task)
    assert set(predicted) == {"dev", "test"}
    for split, values in predicted.items():
        assert values.tolist() == again[split].tolist()
        assert len(values) == len(parts.dataset.splits[task.id][split])
    # The head that it was given now has these weights.
    for name, value in network.heads[task.id].state_dict().items():
        assert torch.equal(fresh.heads[task.id].state_dict()[name], value)


def test_a_head_answers_a_task_without_training_rows(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path)
    network = parts.network()
    stage = stages(parts, network, tmp_path)["words"]
    trained = stage.train(network.heads)
    answered = stage.predict(trained, OTHER)
    assert set(answered) == {"test"} and len(answered["test"]) == 3
    # Two of its rows are rows of `words` too.
    train = parts.dataset.splits["words"]["train"].texts[:2, 0].tolist()
    rows = parts.dataset.splits["other"]["test"].texts[:, 0].tolist()
    assert [rows[0], rows[2]] == train
    test = stage.predict(trained, WORDS)["test"]
    assert answered["test"][[0, 2]].tolist() == test.tolist()
