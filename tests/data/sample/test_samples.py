"""The registry of embedded suites, and how suite files lead to it."""

from pathlib import Path

import pytest

import mtl.data.sample
from mtl.api.cli import main
from mtl.base.settings.layers import shipped
from mtl.data.present_files import choose_scored
from mtl.data.sample import SAMPLES, lacks_embedded_data, unpack_embedded
from mtl.tasks.suite import load_suite


@pytest.mark.wings
def test_every_generated_suite_has_a_writer_and_the_reverse() -> None:
    suites = [load_suite(path) for path in (shipped("configs") / "suite").glob("*.yaml")]
    assert {suite.name for suite in suites if suite.generated} == set(SAMPLES)


def test_a_generated_suite_of_another_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (shipped("configs") / "suite/klej-sample.yaml").read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(text.replace("name: klej-sample", "name: mine"), encoding="utf-8")
    assert main(["data", str(tmp_path / "mine.yaml")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    samples = ", ".join(SAMPLES)
    assert line.startswith(f"mtl: error: suite mine: generated: only the data of {samples} is")


@pytest.mark.parametrize("name", SAMPLES)
def test_the_archives_hold_what_the_generators_make(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "tools")
    from make_samples import GENERATORS

    unpack_embedded(name, tmp_path)
    assert contents(tmp_path) == {path: text.encode() for path, text in GENERATORS[name]()}


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def write_part(name: str, files: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """`mtl data` that is ended after so many files. Returns its exit status."""
    left = [files]
    write = mtl.data.sample.write_text

    def killed(path: Path, text: str) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        write(path, text)

    with monkeypatch.context() as patch:
        patch.setattr(mtl.data.sample, "write_text", killed)
        return main(["data", name, f"data_dir={folder}"])


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_data_that_a_kill_left_is_completed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = load_suite(shipped("configs") / f"suite/{name}.yaml")
    unpack_embedded(name, tmp_path / "whole")
    whole = contents(tmp_path / "whole")
    for written in (1, len(whole) - 1):
        folder = tmp_path / str(written)
        assert write_part(name, written, folder, monkeypatch) == 130
        assert len(contents(folder)) == written
        assert lacks_embedded_data(choose_scored(suite, folder), folder)
        assert main(["data", name, f"data_dir={folder}"]) == 0
        assert contents(folder) == whole
        assert not lacks_embedded_data(choose_scored(suite, folder), folder)


def test_what_the_user_has_changed_in_the_data_stays(tmp_path: Path) -> None:
    assert main(["data", "klej-sample", f"data_dir={tmp_path}"]) == 0
    changed, removed = tmp_path / "klej_cbd/train.tsv", tmp_path / "klej_ar/train.tsv"
    changed.write_text("sentence\ttarget\nx\t0\n", encoding="utf-8")
    removed.unlink()
    assert main(["data", "klej-sample", f"data_dir={tmp_path}"]) == 0
    assert changed.read_text(encoding="utf-8") == "sentence\ttarget\nx\t0\n" and removed.is_file()
