import json
import logging
import math
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from data_files import read_json
from elmo_files import OPTIONS
from input_errors import raises_input_error
from msgspec import to_builtins

from mtl.base.errors import DivergedError
from mtl.embedders.elmo.model import ELMo
from mtl.embedders.elmo.options import read_options
from mtl.embedders.elmo.weights import read_weights
from mtl.vectors.elmo import training as module
from mtl.vectors.elmo.training import ELMoTraining, write_weights
from mtl.vectors.pretraining.unfinished import unfinished_folder
from mtl.vectors.words.request import TrainingRequest
from mtl.vectors.words.training import train_embeddings, training_settings

SMALL = {
    **{"character_dim": 4, "filters": [[1, 4], [2, 8]], "projection_dim": 8, "lstm_dim": 16, "min_count": 1},
    **{"held_out": 0.05, "batch_tokens": 100, "negatives": 12, "learning_rate": 1e-2, "final_learning_rate": 1e-3},
    **{"validate_every": 20, "threads": 1},
}


def lines(count: int = 400) -> list[list[str]]:
    """A language in which each word determines its neighbours: the letters are in alphabetical order."""
    rng = np.random.default_rng(0)
    return [[chr(97 + (start + i) % 8) * 2 for i in range(size)] for start, size in rng.integers(1, 9, (count, 2))]


def settings(**changes: object) -> ELMoTraining:
    return ELMoTraining(**{**SMALL, **changes})  # type: ignore[arg-type]


def test_written_options_have_the_form_of_allennlp(tmp_path: Path) -> None:
    (tmp_path / "options.json").write_text(json.dumps(to_builtins(settings().options())))
    content, options = read_json(tmp_path / "options.json"), read_options(tmp_path / "options.json")
    assert {part: values.keys() for part, values in content.items()} == {part: OPTIONS[part].keys() for part in OPTIONS}
    assert options == settings().options() and (options.lstm.dim, options.char_cnn.filters) == (16, ((1, 4), (2, 8)))


@pytest.mark.slow
def test_interrupted_training_gives_the_same_weights_when_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings(epochs=3, dropout=0.2).train(lines(), tmp_path / "one")
    step = module.ElmoTrainer.loss_and_gradients

    def failing(self: module.ElmoTrainer, batch: np.ndarray) -> torch.Tensor:
        if self.step == 33:
            raise KeyboardInterrupt
        return step(self, batch)

    monkeypatch.setattr(module.ElmoTrainer, "loss_and_gradients", failing)
    with pytest.raises(KeyboardInterrupt):
        settings(epochs=3, dropout=0.2).train(lines(), tmp_path / "two")
    monkeypatch.undo()
    assert not (tmp_path / "two").exists()
    with raises_input_error(file="two.unfinished"):
        settings(epochs=3, dropout=0.2, lstm_dim=17).train(lines(), tmp_path / "two")
    with caplog.at_level(logging.INFO, logger="mtl"):
        settings(epochs=3, dropout=0.2, threads=0).train(lines(), tmp_path / "two")
    assert "continuing after step 20" in caplog.text
    one, two = (ELMo(tmp_path / name / "options.json", tmp_path / name / "weights.hdf5") for name in ("one", "two"))
    torch.testing.assert_close(one.model.state_dict(), two.model.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("in_training", "factor", "problem"),
    [
        (True, math.nan, "step 33: the loss is nan"),
        (False, 1e6, "step 40: the held-out perplexity is not finite"),  # the losses are, but not their exponential
    ],
)
def test_divergence_raises_an_error_and_keeps_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_training: bool, factor: float, problem: str
) -> None:
    compute = module.ElmoTrainer.loss_and_gradients

    def spoiled_step(self: module.ElmoTrainer, batch: np.ndarray) -> torch.Tensor:
        if self.step == 32:
            losses = self.network.losses

            def spoiled(lines: np.ndarray, sample: torch.Tensor | None) -> list[torch.Tensor]:
                return [x * (1 if (sample is None) == in_training else factor) for x in losses(lines, sample)]

            monkeypatch.setattr(self.network, "losses", spoiled)
        return compute(self, batch)

    monkeypatch.setattr(module.ElmoTrainer, "loss_and_gradients", spoiled_step)
    folder = tmp_path / "elmo"
    message = rf"elmo: training diverged \({problem}\); .*last.ckpt keeps .* set a smaller learning_rate=, .* set out="
    with pytest.raises(DivergedError, match=message):
        settings(epochs=3).train(lines(), folder)
    kept = torch.load(unfinished_folder(folder) / "last.ckpt", weights_only=True)
    assert kept["curve"][-1]["step"] == 20 and all(value.isfinite().all() for value in kept["state_dict"].values())
    assert not folder.exists()


@pytest.mark.parametrize("given", [{"filters": [[1]]}, {"filters": []}, {"learning_rate": 1e-9}])
def test_wrong_settings(given: dict[str, object]) -> None:
    with raises_input_error():
        training_settings("elmo", given)


def test_sizes_that_no_memory_holds_are_refused(tmp_path: Path) -> None:
    texts = map(pytest.fail, ["the texts were read"])
    with raises_input_error():
        settings(lstm_dim=2**20, projection_dim=2**20).train(texts, tmp_path / "elmo", "", torch.device("cpu"))
    with raises_input_error():  # one line, which is held out
        settings().train([["a", "b"]], tmp_path / "elmo", "little")
    assert list(tmp_path.iterdir()) == []


def test_an_elmo_is_trained_on_text_files_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("ala ma kota\nkot ma ala\n" * 40, encoding="utf-8")
    out = tmp_path / "elmo"
    request = TrainingRequest([str(tmp_path / "a.txt")], "pl", out=str(out), accelerator="cpu")
    assert train_embeddings("elmo", request, {**SMALL, "max_steps": 3}) == out
    assert {path.name for path in out.iterdir()} == {"options.json", "training.json", "weights.hdf5"}
    assert ELMo(out / "options.json", out / "weights.hdf5").layers([["ala", "ma"]])[0].shape == (3, 2, 16)
    assert [row["step"] for row in read_json(out / "training.json")["perplexity"]] == [3]
    with raises_input_error(file="elmo"):
        train_embeddings("elmo", request, {**SMALL, "max_steps": 3})


def test_written_weights_equal_those_read(elmo_files: tuple[Path, Path], tmp_path: Path) -> None:
    options, weights = elmo_files
    write_weights(tmp_path / "again.hdf5", read_weights(weights, read_options(options)))
    with h5py.File(weights) as first, h5py.File(tmp_path / "again.hdf5") as again:
        names: dict[h5py.File, list[str]] = {first: [], again: []}
        for file in names:
            file.visit(names[file].append)
        assert sorted(names[first]) == sorted(names[again])
        for name in names[first]:
            if isinstance(first[name], h5py.Dataset):
                np.testing.assert_allclose(first[name][...], again[name][...], atol=2e-7, rtol=0, err_msg=name)
                assert again[name].dtype == np.float32
