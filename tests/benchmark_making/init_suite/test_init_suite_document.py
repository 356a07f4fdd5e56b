from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from mtl.benchmark_making.init_suite.guessing import Guess
from mtl.benchmark_making.init_suite.init_suite import scalar, suite_document

# Texts that YAML reads as something else, or not at all, when they stand there without quotes.
NASTY = [
    "yes", "no", "on", "off", "true", "null", "~", "", "0", "1", "1.0", "1e-4", "0x1f", "1_000", "12:30", "2020-01-01",
    "a: b", "a #b", "- a", "[a", "{a", "a,b", "'", '"', "\\", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "?", "=", "<<",
    " a", "a ", "a\nb", "a\r", "a\tb", "a\0b", "\x1b[31m", "\x7f", "a\x85b", "a\u2028b", "\ufeff", "\ufffe", "żółw", "😀",
    "long " * 60,
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY)
def test_a_text_reads_back_as_the_same_text(text: str) -> None:
    line = f"value: [{scalar(text)}]  # a comment"
    assert len(line.splitlines()) == 1
    assert OmegaConf.to_container(OmegaConf.create(line))["value"] == [text]
    assert yaml.safe_load(line)["value"] == [text]


@pytest.mark.parametrize("text", ["label", "klej_ar", "first.context", "test_features.tsv", "a/b", "same-sense"])
def test_plain_names_have_no_quotes(text: str) -> None:
    assert scalar(text) == text


def guess(**changes: object) -> Guess:
    made = Guess("mood", "my mood", {"train": "train.tsv", "dev": None, "test": None}, {"train": 12}, "labels")
    made.keys = {"text": ["text"], "target": "label", "labels": ["0", "yes"], "metric": "accuracy"}
    made.why = {"target": "by its name", "labels": "x" * 120}
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def document(*guesses: Guess, language: str | None = "sv") -> str:
    return suite_document("mine", language, guesses, Path("my data"), Path("mine.yaml"))


def test_a_task_with_its_comments() -> None:
    assert document(guess(doubts=["metric: choose"], notes=["look"])) == (
        "# Guessed by `mtl init-suite`. The comments say from what; correct what is wrong. Then:\n"
        "#   mtl audit suite=mine.yaml data_dir='my data'\n"
        "#   mtl baseline suite=mine.yaml data_dir='my data'\n"
        "name: mine\n"
        "language: sv\n"
        "\n"
        "tasks:\n"
        "  mood:\n"
        "    # look\n"
        "    # Decide: metric: choose\n"
        '    folder: "my mood"\n'
        "    text: [text]\n"
        "    target: label  # by its name\n"
        f"    # labels: {'x' * 120}\n"
        '    labels: ["0", "yes"]\n'
        "    metric: accuracy\n"
        "    files: {train: train.tsv, dev: null, test: null}\n"
        "    rows: {train: 12}\n"
    )


def test_a_task_with_a_problem_is_a_comment_that_is_yaml_without_its_marks() -> None:
    text = document(guess(), guess(id="other", problem="train.tsv:2: not UTF-8"), language=None)
    assert "\nlanguage: en  # not guessed: set the language of the tokenizer\n" in text
    assert list(yaml.safe_load(text)["tasks"]) == ["mood"]
    assert "\n  # Not decided: train.tsv:2: not UTF-8\n" in text
    below = text.split("not UTF-8\n")[1]
    assert yaml.safe_load(below.replace("  # ", "  "))["other"]["folder"] == "my mood"
    assert yaml.safe_load(document(guess(problem="no")))["tasks"] == {}


def test_no_comment_breaks_out_of_its_line() -> None:
    evil = "a\nname: evil\r\x85\u2028\x1b[31m"
    text = document(guess(why={"target": evil}, doubts=[evil], notes=[evil]), guess(id="b", problem=evil))
    assert yaml.safe_load(text)["name"] == "mine"
    assert not any(line.startswith("name: evil") for line in text.splitlines())
    assert "\x1b" not in text
