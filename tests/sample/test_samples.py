"""The registry of embedded suites, and how suite files lead to it."""

from pathlib import Path

import pytest

from mtl.cli import main
from mtl.config.files import shipped
from mtl.sample import SAMPLES
from mtl.tasks.suite import load_suite


def test_every_generated_suite_has_a_writer_and_the_reverse() -> None:
    suites = [load_suite(path) for path in (shipped("configs") / "suite").glob("*.yaml")]
    assert {suite.name for suite in suites if suite.generated} == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_suite_file_leads_to_its_own_writer(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    SAMPLES[name](tmp_path / "written")
    assert main(["data", name]) == 0
    written = [path for path in (tmp_path / "written").rglob("*") if path.is_file()]
    assert written
    for path in written:
        assert path.read_bytes() == (tmp_path / f"data/{name}" / path.relative_to(tmp_path / "written")).read_bytes()


def test_a_generated_suite_of_another_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (shipped("configs") / "suite/klej-sample.yaml").read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(text.replace("name: klej-sample", "name: mine"), encoding="utf-8")
    assert main(["data", str(tmp_path / "mine.yaml")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mtl: error: suite mine: generated: only the data of klej-sample and superlim-sample is")
