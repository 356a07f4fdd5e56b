from pathlib import Path

from elmo_files import write_elmo
from input_errors import raises_input_error

from mtl.base.typed import typed
from mtl.embedders.elmo import ELMO, ElmoOptions

assert ELMO.files is not None
FILES = ELMO.files
OPTIONS = {"name": "elmo", "dropout": 0.2, "exact": True, "cache": True}


def test_a_folder_holds_an_elmo_once_its_weights_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "elmo"
    assert not FILES.exists(folder)
    options, weights = write_elmo(folder)
    assert FILES.exists(folder)
    weights.rename(weights.with_name(f"pl_{weights.name}"))
    assert FILES.exists(folder)
    weights.with_name(f"pl_{weights.name}").unlink()
    assert options.exists() and not FILES.exists(folder)
    (tmp_path / "file").write_bytes(b"")
    assert "must name the folder" in str(FILES.problem(tmp_path / "file"))
    assert FILES.problem(tmp_path) is None and FILES.problem(tmp_path / "none") is None
    for precision in ("float16", "float32"):
        typed(ElmoOptions, {**OPTIONS, "precision": precision})
    with raises_input_error(key="embeddings.precision"):
        typed(ElmoOptions, {**OPTIONS, "precision": "float64"}, "embeddings.")
