from pathlib import Path

import pytest
from command_line import job

from mtl.methods.lstm.entry import LSTM


@pytest.mark.parametrize(
    ("settings", "title", "folder"),
    [
        ([], "LSTM, random, frozen", "random-frozen"),
        (["embeddings=fasttext", "variant=attention"], "LSTM, fastText, attention", "fasttext-attention"),
        (["embeddings=elmo", "variant=finetune"], "LSTM, ELMo, finetune", "elmo-finetune"),
        (["architecture=jiant"], "LSTM, random, frozen, jiant", "random-frozen-jiant"),
        (["head.overlap=true"], "LSTM, random, frozen, overlap", "random-frozen-overlap"),
        (["head.linear=true"], "LSTM, random, frozen, linear", "random-frozen-linear"),
        (["head.pair=cosine"], "LSTM, random, frozen, cosine", "random-frozen-cosine"),
        # A part alone is still the architecture that it was added to.
        (["encoder.join_input=true"], "LSTM, random, frozen", "random-frozen"),
    ],
)
def test_the_lstm_describes_its_runs(settings: list[str], title: str, folder: str) -> None:
    config = job(["suite=klej-sample", *settings]).config
    assert (LSTM.title(config), LSTM.folder(config)) == (title, folder)
    names = folder.removesuffix("-overlap").removesuffix("-linear").removesuffix("-cosine").split("-")
    names = [*names, "paper", "paper"][:4]
    assert LSTM.describe(config) == dict(zip(("embeddings", "variant", "architecture", "preset"), names, strict=True))


def test_architecture_and_preset_are_in_the_name_in_this_order(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("preset: quick\n", encoding="utf-8")
    config = job(["suite=klej-sample", "architecture=jiant", f"preset={tmp_path / 'own.yaml'}"]).config
    assert LSTM.folder(config) == "random-frozen-jiant-quick"
    assert LSTM.title(config) == "LSTM, random, frozen, jiant, quick"
    assert LSTM.describe(config)["preset"] == "quick"


@pytest.mark.parametrize(
    ("setting", "chosen"), [("preset=paper", "checkpoints"), ("preset=laptop", "checkpoints and thresholds")]
)
def test_it_says_what_was_chosen_on_dev(setting: str, chosen: str) -> None:
    assert LSTM.chosen_on_dev(job(["suite=klej-sample", setting]).config) == chosen
