import pytest
from command_line import job

from mtl.methods.lstm.entry import LSTM


@pytest.mark.parametrize(
    ("settings", "title", "folder"),
    [
        ([], "LSTM, random, frozen", "random-frozen"),
        (["embeddings=fasttext", "variant=attention"], "LSTM, fastText, attention", "fasttext-attention"),
        (["embeddings=elmo", "variant=finetune"], "LSTM, ELMo, finetune", "elmo-finetune"),
    ],
)
def test_the_lstm_describes_its_runs(settings: list[str], title: str, folder: str) -> None:
    config = job(["suite=klej-sample", *settings]).config
    assert (LSTM.title(config), LSTM.folder(config)) == (title, folder)
    assert LSTM.describe(config) == {"embeddings": folder.split("-")[0], "variant": folder.split("-")[1]}


def test_the_keys_of_floors_make_no_difference_to_it() -> None:
    for key in ("embeddings.dim", "variant", "pretrain.max_steps", "trainer.precision", "seeds", "max_length"):
        assert LSTM.reads_key(key), key
    assert not LSTM.reads_key("floor.min_count")
