"""The command that `make baseline` gives, from its variables."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def command(*variables: str, environment: dict[str, str] | None = None) -> list[str]:
    """What make would run, without running it."""
    # make test itself passes its variables on.
    left_out = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "METHOD", "EMB", "VARIANT", "SUITE", "DATA", "SEEDS", "ARGS")
    inherited = {name: value for name, value in os.environ.items() if name not in left_out}
    shown = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "baseline", *variables],
        cwd=ROOT,
        env={**inherited, **(environment or {})},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (line,) = [line for line in shown.replace("\\\n", " ").splitlines() if "mtl baseline" in line]
    return shlex.split(line)[1:]


@pytest.mark.parametrize(
    ("variables", "settings"),
    [
        ([], ["embeddings=random", "variant=frozen"]),
        (["EMB=elmo", "VARIANT=attention"], ["embeddings=elmo", "variant=attention"]),
        (["EMB=glove", "ARGS=embeddings.path=v.txt"], ["embeddings=glove", "variant=frozen"]),
        (["METHOD=svm"], ["method=svm"]),
        (["METHOD=transformer", "VARIANT=frozen"], ["method=transformer", "variant=frozen"]),
        (["METHOD=transformer"], ["method=transformer"]),
        (["METHOD=word_vectors", "EMB=fasttext"], ["method=word_vectors", "embeddings=fasttext"]),
        (["SUITE=klej", "DATA=a b", "ARGS=x=1"], ["suite=klej", "embeddings=random", "variant=frozen", "data_dir=a b"]),
    ],
)
def test_variables_of_the_command_line_are_settings(variables: list[str], settings: list[str]) -> None:
    arguments = [variable.removeprefix("ARGS=") for variable in variables if variable.startswith("ARGS=")]
    assert command(*variables, "SEEDS=2") == ["baseline", *settings, "seeds=2", *arguments]


def test_the_help_names_every_variant_which_is_not_meant_for_every_method() -> None:
    help_line = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for path in (ROOT / "configs/variant").glob("*.yaml"):
        assert path.stem in help_line
    given = {"VARIANT": "attention", "EMB": "elmo"}
    assert command("METHOD=svm", "SEEDS=1", environment=given) == ["baseline", "method=svm", "seeds=1"]
