"""The registry entry: names, variants, settings that contradict each other."""

from pathlib import Path

import pytest
from command_line import job
from input_errors import refused
from tiny_transformers import write_bert

from mtl.api.cli import main
from mtl.jobs.inputs import prepare
from mtl.methods.transformer.entry import TRANSFORMER, short_name

SUITE = "suite=klej-sample"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ([], "tiny-finetune"),
        (["transformer.path=owner/her-bert_1.0"], "her-bert_1.0-finetune"),
        (["transformer.path=some/where/my bert/", "variant=frozen"], "my-bert-frozen"),
    ],
)
def test_names(settings: list[str], name: str) -> None:
    made = job([SUITE, "method=transformer", *settings])
    assert TRANSFORMER.title(made.config) == ", ".join(["Transformer", *name.rsplit("-", 1)])
    assert made.folder.path == Path(f"runs/klej-sample/transformer-{name}")
    assert short_name("/") == "root" and short_name("a/..") == short_name(".")


def test_the_protocols_and_the_rates_of_a_sample() -> None:
    klej = job([SUITE.replace("-sample", ""), "method=transformer"]).config
    of = klej.transformer
    assert (of.epochs, of.batch_size, of.learning_rate, of.warmup, of.checkpoint) == (4, 32, 2e-5, 100, "last")
    assert (of.weight_decay, of.gradient_clip, klej.max_length, klej.variant) == (0, 1.0, 256, "finetune")
    superlim = job(["suite=superlim", "method=transformer-superlim"]).config
    of = superlim.transformer
    assert (of.epochs, of.patience, of.warmup, of.weight_decay, of.checkpoint) == (10, 5, 0.06, 0.1, "best")
    assert (superlim.method, superlim.max_length, superlim.loss.choice) == ("transformer", 128, "pairs")
    given = ["suite=klej-sample", "method=transformer"]
    rates = [job([*given, *more]).config.transformer.learning_rate for more in ([], ["transformer.path=models/bert"])]
    assert rates == [1e-3, 2e-5]


BAD = ["variant=attention", "encoder.hidden_size=8"]
BAD += [
    f"transformer.{of}" for of in ("epochs=0", "warmup=1.5", "warmup=-1", "accumulate=3", "batch_size=0", "patience=2")
]


@pytest.mark.parametrize("setting", BAD)
def test_settings_that_make_no_sense(setting: str) -> None:
    refused(lambda: job([SUITE, "method=transformer", setting]), key=setting.partition("=")[0])
    refused(lambda: job([SUITE, "transformer.epochs=3"]), key="transformer.epochs")


@pytest.mark.parametrize("settings", [["transformer.tokenizer=x"], ["transformer.path=./x"]])
def test_settings_that_contradict_each_other(settings: list[str]) -> None:
    made = job([SUITE, "method=transformer", *settings])
    refused(lambda: TRANSFORMER.check(made.config, made.suite))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "keys"),
    [
        ("finetune", ["finetune.learning_rate", "head.hidden_size", "finetune.threshold", "head.overlap"]),
        ("frozen", ["transformer.epochs", "transformer.learning_rate", "transformer.accumulate"]),
    ],
)
def test_keys_that_only_other_variants_read(variant: str, keys: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    given = ["method=transformer", f"variant={variant}"]
    for key in keys:
        value = {"finetune.threshold": "dev", "head.overlap": "true"}.get(key, "1")
        assert main(["baseline", SUITE, *given, f"{key}={value}"]) == 2
        assert f"mtl: error: {key}: variant {variant} does not read it; choose" in capsys.readouterr().err
    train = job([SUITE, *given]).config.finetune.train_encoder
    job([SUITE, *given, f"finetune.train_encoder={train}"])  # what the variant itself sets may be said


def test_short_training_is_said_beforehand(floor_settings: list[str], tmp_path: Path) -> None:
    bert = write_bert(tmp_path / "bert", ["en fin dag"])
    settings = [*floor_settings, "method=transformer", f"transformer.path={bert}", "trainer.threads=1"]
    notes = prepare(job(settings), None)[1].facts["notes"]
    assert notes == [
        "The learning rate never reaches its peak, since the warm-up of 100 steps is not shorter than the training, on kansla (8),"
        " samma (8), betyg (8)."
    ]
    assert "notes" not in prepare(job([*settings, "transformer.warmup=0.5"]), None)[1].facts
