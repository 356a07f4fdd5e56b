from pathlib import Path

import pytest
from command_line import job
from golden import check_golden

from mtl.methods.lstm.entry import LSTM

SETTINGS = ["", "embeddings=fasttext variant=attention", "embeddings=elmo variant=finetune", "architecture=jiant"]
SETTINGS += ["head.overlap=true", "head.linear=true", "head.pair=cosine", "head.crf=true", "preset=laptop"]
SETTINGS += ["encoder.join_input=true"]  # a part alone is still the architecture that it was added to


def test_the_lstm_describes_its_runs(tmp_path: Path) -> None:
    """Its title, its folder, its values in a summary, and what was chosen on dev."""
    (tmp_path / "own.yaml").write_text("preset: quick\n", encoding="utf-8")
    lines = []
    for settings in (*SETTINGS, "architecture=jiant preset=own.yaml"):
        config = job(["suite=klej-sample", *settings.replace("own.yaml", f"{tmp_path}/own.yaml").split()]).config
        described = ", ".join(LSTM.describe(config).values())
        lines.append(
            f"{settings} | {LSTM.title(config)} | {LSTM.folder(config)} | {described} | {LSTM.chosen_on_dev(config)}\n"
        )
    check_golden("lstm-runs.txt", "".join(lines))


@pytest.mark.parametrize(
    ("settings", "title", "changed"),
    [
        (
            ["preset=laptop", "encoder.hidden_size=16", "pretrain.max_steps=40", "pretrain.batch_size=32"],
            "LSTM, random, frozen, laptop, changed",
            {"encoder.hidden_size": 16, "pretrain.max_steps": 40},
        ),
        (
            ["preset=strong", "head.overlap=false"],
            "LSTM, random, frozen, strong, linear, changed",
            {"head.overlap": False},
        ),
        (["max_length=9"], "LSTM, random, frozen, changed", {"max_length": 9}),
        # What the title names already.
        (
            ["preset=laptop", "head.overlap=true", "head.pair=cosine"],
            "LSTM, random, frozen, laptop, overlap, cosine",
            {},
        ),
        # The same model, on other data or another machine.
        (
            ["preset=laptop", "seeds=2", "tasks=[cbd]", "run_dir=a", "data_dir=b", "held_out=0.2", "trainer.threads=1"],
            "LSTM, random, frozen, laptop",
            {},
        ),
    ],
)
def test_a_title_says_that_settings_differ_from_the_preset(
    settings: list[str], title: str, changed: dict[str, object]
) -> None:
    made = job(["suite=klej-sample", *settings])
    assert (made.title, made.changed) == (title, changed)
