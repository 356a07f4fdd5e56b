from pathlib import Path

import pytest
from pretraining_parts import ARGUMENTS, text_file

from mtl.api.cli import main


def pretrain(*words: str) -> int:
    return main(["pretrain", "transformer", *words])


def test_a_command_trains_on_files_and_a_suite(
    tmp_path: Path, suite_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "bert"
    words = [f"texts=[{text_file(tmp_path)}]", f"suite={suite_file}", f"data_dir={suite_file.parent / 'data'}"]
    assert pretrain(*words, f"out={out}", "config=tiny", *ARGUMENTS, "max_steps=2") == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert "text.txt, training texts of suite" in (out / "README.md").read_text(encoding="utf-8")


def test_the_vocabulary_is_learnt_from_other_texts(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    other, out = tmp_path / "other.txt", tmp_path / "bert"
    other.write_text("żyrafa żyrafa abc\n" * 9, encoding="utf-8")
    words = [f"texts=[{text_file(tmp_path)}]", f"vocabulary_texts={other}", f"out={out}", *ARGUMENTS, "max_steps=2"]
    assert pretrain(*words, "config=tiny") == 0
    assert {"żyrafa", "abc"} <= set(tokens := AutoTokenizer.from_pretrained(out).get_vocab())
    assert {token.removeprefix("##") for token in tokens if len(token.removeprefix("##")) == 1} == set("żyrafabc")
    assert "learnt on other.txt" in (out / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("out=x", "pretrain transformer: name what to train on: texts=[FILE,…], suite=NAME, or both"),
        ("texts=[a.txt]", "pretrain transformer: name what to write: out=PATH"),
        ("texts=[a.txt] out=x layers=2", "unknown key 'layers'; did you mean num_layers?"),
        ("texts=[a.txt] out=x suite_held_out=0.2", "suite_held_out=0.2: name the suite that it belongs to"),
        ("texts=[a.txt] out=x language=no", "language: YAML reads yes, no, on, off, true and false"),
    ],
)
def test_bad_input_is_one_line(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert pretrain(*words.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"mtl: error: {message}") and error.count("\n") == 1
