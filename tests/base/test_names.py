"""What may be a name, and which name is meant."""

import unicodedata

import pytest

from mtl.base.names import MOST, advice, is_file_name, meant, one_spelling, text_problem

KEYS = ["encoder.hidden_size", "head.hidden_size", "finetune.learning_rate", "finetune.final_learning_rate", "seeds"]
KEYS += ["run_dir", "pretrain.max_steps", "pretrain.validate_every", "finetune.max_epochs"]


@pytest.mark.parametrize("name", ["", "..", "a/b", "é", "a\n", ".a", "a" * 201, 5, None])
def test_what_names_no_file(name: object) -> None:
    assert not is_file_name(name)
    assert is_file_name("a-1.B_c")


def test_what_no_path_and_no_file_can_hold() -> None:
    assert text_problem("a\0") and text_problem("\udcff") and text_problem("zażółć\n") is None


def test_equal_names_have_one_spelling() -> None:
    assert one_spelling(unicodedata.normalize("NFD", "Zażółć")) == unicodedata.normalize("NFC", "Zażółć")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hidden_size", ["encoder.hidden_size", "head.hidden_size"]),
        ("lr", ["finetune.learning_rate"]),
        ("hidden", ["encoder.hidden_size", "head.hidden_size"]),
        ("head.hiden_size", ["head.hidden_size"]),
        ("seed", ["seeds"]),
        ("max_epochs", ["finetune.max_epochs", "pretrain.max_steps"]),
        ("exp_name", ["run_dir"]),
        ("trainer.val_check_interval", ["pretrain.validate_every"]),
        ("head.d_hid", ["head.hidden_size"]),
        ("finetune.lr", ["finetune.learning_rate"]),
        ("zzz", []),
    ],
)
def test_the_names_that_are_meant(name: str, expected: list[str]) -> None:
    assert meant(name, KEYS) == expected


def test_at_most_five_names_are_suggested() -> None:
    many = [f"part{number}.size" for number in range(20)]
    assert len(meant("size", many)) == MOST
    shown = advice("zzzz", many, "keys", "x.")
    assert shown.startswith("known keys: x.part") and shown.endswith(", and 15 more")
