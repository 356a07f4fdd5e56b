from pathlib import Path

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


CHANGES = ["preset=laptop encoder.hidden_size=16 pretrain.max_steps=40 pretrain.batch_size=32"]
CHANGES += ["preset=strong head.overlap=false", "max_length=9"]
CHANGES += ["preset=laptop head.overlap=true head.pair=cosine"]  # the title names them already
# The same model, on other data or another machine.
CHANGES += ["preset=laptop seeds=2 tasks=[cbd] run_dir=a data_dir=b held_out=0.2 trainer.threads=1"]


def test_a_title_says_that_settings_differ_from_the_preset() -> None:
    made = [(settings, job(["suite=klej-sample", *settings.split()])) for settings in CHANGES]
    check_golden("lstm-titles.txt", "".join(f"{settings} | {run.title} | {run.changed}\n" for settings, run in made))


def test_a_preset_that_is_called_like_a_key_hides_no_change(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("preset: dropout\n", encoding="utf-8")
    run = job(["suite=klej-sample", f"preset={tmp_path}/own.yaml", "encoder.dropout=0.5"])
    assert (run.title, run.changed) == ("LSTM, random, frozen, dropout, changed", {"encoder.dropout": 0.5})
