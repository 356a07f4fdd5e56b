"""What a shell completes, as it asks for it."""

import os
from pathlib import Path

import pytest

from mtl.api.cli import main

BASH = {"_ARGCOMPLETE_COMP_WORDBREAKS": " \t\n\"'><=;|&(:"}


def completions(line: str, folder: Path, **environment: str) -> list[str]:
    """The words that can stand at the end of a command line. argcomplete ends the process in which it finds them."""
    out = folder / "out"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SUPPRESS_SPACE": "1", **environment}
    asked |= {"COMP_LINE": line, "COMP_POINT": str(len(line.encode())), "_ARGCOMPLETE_STDOUT_FILENAME": str(out)}
    if (child := os.fork()) == 0:
        os.environ.update(asked)
        try:
            main([])
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    return [word.strip() for word in out.read_text(encoding="utf-8").split("\n")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mtl ba", {"baseline"}),
        ("mtl baseline encoder.hid", {"encoder.hidden_size="}),
        ("mtl baseline suite=klej seeds_", {"seeds_in_parallel="}),
        ("mtl baseline suite=kl", {"suite=klej", "suite=klej-sample"}),
        ("mtl baseline preset=lap", {"preset=laptop"}),
        pytest.param("mtl sweep tab", {"table3"}, marks=pytest.mark.wings),
        ("mtl data sup", {"superlim", "superlim-sample"}),
        ("mtl completion ", {"bash", "zsh", "fish"}),
    ],
)
def test_commands_settings_and_names_are_completed(line: str, expected: set[str], tmp_path: Path) -> None:
    assert expected <= set(completions(line, tmp_path))


def test_bash_gets_what_follows_the_equals_sign(tmp_path: Path) -> None:
    assert set(completions("mtl baseline suite=glu", tmp_path, **BASH)) == {"glue", "glue-sample"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_ARGCOMPLETE" in capsys.readouterr().out


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("mtl.base.extras.find_spec", lambda name: None)
    assert main(["completion", "bash"]) == 2
    assert capsys.readouterr().err.endswith("install it: pip install 'mtl-baselines[completion]'\n")
