import subprocess
import sys
from pathlib import Path

import pytest

from mtl.config.load import load_config
from mtl.errors import InputError
from mtl.runs.folder import RunFolder, read_json, write_json


def test_the_second_process_is_refused(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from mtl.runs.folder import RunFolder\n"
    code += "with RunFolder(Path(sys.argv[1])).locked(): print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="another process is running in this folder"), RunFolder(tmp_path).locked():
            pass
    finally:
        holder.kill()
        holder.wait()
    (tmp_path / "seed-1").mkdir()
    (tmp_path / "seed-1" / ".best.ckpt.7.partial").write_text("half", encoding="utf-8")
    with RunFolder(tmp_path).locked():  # a killed process holds nothing, and what it half wrote is gone
        assert list((tmp_path / "seed-1").iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"set run_dir="), RunFolder(tmp_path / "file").locked():
        pass


def test_the_claim_of_a_configuration_and_its_inputs(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    config, _ = load_config(["suite=klej"])
    folder.check(config)
    folder.claim(config, {"a.tsv": "1", "embeddings": "2"})
    folder.claim(config, {"a.tsv": "1", "embeddings": "2"})
    other, _ = load_config(["suite=klej", "max_length=7", "encoder.dropout=0.1", "data_dir=moved"])
    with pytest.raises(
        InputError,
        match=r"another configuration \(max_length: 256 there, 7 here; encoder.dropout: 0.2 there, 0.1 here\)",
    ):
        folder.check(other)
    with pytest.raises(InputError, match=r"inputs have changed since it was begun \(a.tsv, b.tsv\)"):
        folder.claim(config, {"a.tsv": "0", "b.tsv": "1", "embeddings": "2"})


def test_a_folder_of_another_version_is_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    config, _ = load_config(["suite=klej"])
    folder.claim(config, {"a.tsv": "1"})
    inputs = read_json(folder.inputs)
    for older in ({**inputs, "format": "1"}, {"a.tsv": "1"}):
        write_json(folder.inputs, older)
        with pytest.raises(InputError, match=r"made by a version of mtl that .*; set run_dir= or remove the folder"):
            folder.claim(config, {"a.tsv": "1"})


def test_json(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"ś": 1.5})
    assert read_json(tmp_path / "x.json") == {"ś": 1.5}
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not JSON"):
        read_json(tmp_path / "x.json")
