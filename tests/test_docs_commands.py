"""The commands in the documents: all of them exist, with their settings, and those that the embedded suites can run are run."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
import yaml

from mtl.api.cli import _parse
from mtl.embedders import EMBEDDERS
from mtl.settings.layers import flatten

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:<!-- not run: ([^>]+) -->\n)?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
JOBS = ("baseline", "sweep", "audit")  # the commands that take every setting of a run
MAKE = {"METHOD", "EMB", "VARIANT", "SUITE", "DATA", "RUN", "SEEDS", "ARGS", "PYTHON"}
TARGETS = ("baseline", "mteb", "test", "test-all", "lint", "docs", "bench")
PATTERNS = ("SUITE", "NAME", "PREDICTIONS…")  # words that stand for others


@dataclass(frozen=True)
class Block:
    """Shell commands of a document; reason: why no test runs them, if the document says so."""

    name: str
    text: str
    reason: str | None

    def calls(self) -> Iterator[list[str]]:
        """The calls of mtl and make, as words."""
        for line in re.sub(r"\\\n\s*", " ", self.text).splitlines():
            words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
            words.commenters, words.whitespace_split = "#", True
            part: list[str] = []
            for word in [*words, ";"]:
                if set(word) <= set("|&;<>"):
                    while part and part[0] in ("exec", "do"):
                        part.pop(0)
                    if part[:1] in (["mtl"], ["make"]):
                        yield part
                    part = []
                else:
                    part.append(word)


BLOCKS = [
    Block(f"{path.relative_to(ROOT)}:{number}", match[2], match[1])
    for path in DOCUMENTS
    for number, match in enumerate(BLOCK.finditer(path.read_text(encoding="utf-8")), start=1)
]


def known_settings() -> set[str]:
    content = yaml.safe_load((ROOT / "configs/baseline.yaml").read_text(encoding="utf-8"))
    options = {f"embeddings.{item.name}" for kind in EMBEDDERS.values() for item in fields(kind.options)}
    return {*flatten(content), *options, "embeddings"}


def check_settings(words: list[str]) -> None:
    given = [word.partition("=")[0] for word in words if "=" in word and not word.startswith("-")]
    free = ("floor.grid.", "floor.train_rows.")
    assert [key for key in given if key not in known_settings() and not key.startswith(free)] == []


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_the_commands_of_a_document_exist(block: Block) -> None:
    for program, *words in block.calls():
        if program == "make":
            named = [word for word in words if "=" not in word]
            assert set(named) <= set(TARGETS), named
            assert {word.partition("=")[0] for word in words if "=" in word} <= MAKE
            check_settings([part for word in words if word.startswith("ARGS=") for part in word[5:].split()])
        else:
            parsed = _parse(words) if words != ["--version"] else None
            if parsed and words[0] in JOBS:
                check_settings(parsed.settings)


RUN = [block for block in BLOCKS if block.reason is None]


@pytest.mark.slow
@pytest.mark.parametrize("block", RUN, ids=lambda block: block.name)
def test_the_commands_of_a_document_run(block: Block, tmp_path: Path) -> None:
    """Each block by itself, in an empty folder. `mtl report` needs a run."""
    program = tmp_path / "bin/mtl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mtl "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "work").mkdir()
    before = "" if "baseline" in block.text else "mtl baseline suite=klej-sample method=constant seeds=[1] >/dev/null\n"
    script = f"set -e\nexport PATH={shlex.quote(str(program.parent))}:$PATH\n{before if 'mtl report' in block.text else ''}{block.text}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path / "work", capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr[-2000:]
