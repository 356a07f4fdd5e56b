from pathlib import Path

from elmo_files import write_elmo
from input_errors import raises_input_error

from mtl.embedders.elmo.options import ElmoOptions, holds_elmo, problem


def test_a_folder_holds_an_elmo_once_its_weights_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "elmo"
    assert not holds_elmo(folder)
    options, weights = write_elmo(folder)
    assert holds_elmo(folder)
    weights.rename(weights.with_name(f"pl_{weights.name}"))
    assert holds_elmo(folder)
    weights.with_name(f"pl_{weights.name}").unlink()
    assert options.exists() and not holds_elmo(folder)


def test_only_a_file_in_the_folder_s_place_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert "must name the folder" in str(problem(tmp_path / "file"))
    assert problem(tmp_path) is None and problem(tmp_path / "none") is None


def test_the_precision_is_one_of_two() -> None:
    for precision in ("float16", "float32"):
        ElmoOptions("elmo", dropout=0.2, precision=precision, exact=True, cache=True).check()
    with raises_input_error(key="embeddings.precision"):
        ElmoOptions("elmo", dropout=0.2, precision="float64", exact=True, cache=True).check()
