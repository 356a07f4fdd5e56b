from pathlib import Path

import h5py
import numpy as np
import pytest
from elmo_files import write_elmo

from mtl.embedders.elmo import ELMo
from mtl.embedders.elmo.options import read_options
from mtl.embedders.elmo.weights import read_weights, write_weights
from mtl.errors import InputError


def test_written_weights_equal_those_read(elmo_files: tuple[Path, Path], tmp_path: Path) -> None:
    options, weights = elmo_files
    write_weights(tmp_path / "again.hdf5", read_weights(weights, read_options(options)))
    names: list[str] = []
    with h5py.File(weights) as one, h5py.File(tmp_path / "again.hdf5") as other:
        one.visit(names.append)
        assert sorted(names) == sorted(other_names(other))
        for name in names:
            if isinstance(one[name], h5py.Dataset):
                np.testing.assert_allclose(one[name][...], other[name][...], atol=2e-7, rtol=0, err_msg=name)
                assert other[name].dtype == np.float32


def other_names(file: h5py.File) -> list[str]:
    names: list[str] = []
    file.visit(names.append)
    return names


@pytest.mark.parametrize("keep", [0, 100, 4000, -1])
def test_truncated_file(elmo_files: tuple[Path, Path], tmp_path: Path, keep: int) -> None:
    options, weights = elmo_files
    (tmp_path / "w.hdf5").write_bytes(weights.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"w\.hdf5: cannot be read as HDF5, it may be truncated"):
        ELMo(options, tmp_path / "w.hdf5")


def test_missing_file_and_files_of_other_programs(elmo_files: tuple[Path, Path], tmp_path: Path) -> None:
    options, _ = elmo_files
    with pytest.raises(InputError, match=r"none\.hdf5: no such file"):
        ELMo(options, tmp_path / "none.hdf5")
    (tmp_path / "zip.hdf5").write_bytes(b"PK\x03\x04" * 500)
    with pytest.raises(InputError, match=r"zip\.hdf5: cannot be read as HDF5"):
        ELMo(options, tmp_path / "zip.hdf5")
    with h5py.File(tmp_path / "keras.hdf5", "w") as file:
        file["model_weights/dense"] = np.zeros(3)
    with pytest.raises(InputError, match=r"keras\.hdf5: has no dataset char_embed; is it AllenNLP's"):
        ELMo(options, tmp_path / "keras.hdf5")


@pytest.mark.parametrize("name", ["CNN/W_cnn_1", "CNN_high_1/b_carry", "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell/W_P_0"])
def test_missing_dataset(tmp_path: Path, name: str) -> None:
    options, weights = write_elmo(tmp_path)
    with h5py.File(weights, "a") as file:
        del file[name]
    with pytest.raises(InputError, match=rf"weights\.hdf5: has no dataset {name}"):
        ELMo(options, weights)
    with h5py.File(weights, "a") as file:
        file[name] = np.array(["words", "words"], dtype="S5")
    with pytest.raises(InputError, match=rf"weights\.hdf5: {name} is 2, but the options say"):
        ELMo(options, weights)


def test_dataset_that_holds_no_numbers(tmp_path: Path) -> None:
    options, weights = write_elmo(tmp_path)
    with h5py.File(weights, "a") as file:
        shape = file["CNN_proj/b_proj"].shape
        del file["CNN_proj/b_proj"]
        file["CNN_proj/b_proj"] = np.full(shape, b"x", dtype="S5")
    with pytest.raises(InputError, match=r"weights\.hdf5: "):
        ELMo(options, weights)


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    _, weights = write_elmo(tmp_path / "a")
    other, _ = write_elmo(tmp_path / "b", lstm={"dim": 15})
    for changes in (
        {"lstm": {"n_layers": 1}},
        {"char_cnn": {"n_highway": 1}},
        {"char_cnn": {"filters": [[1, 3], [2, 4]]}},
    ):
        fewer, _ = write_elmo(tmp_path / "c", **changes)
        with pytest.raises(InputError, match=r"take the options.json that belongs to these weights"):
            ELMo(fewer, weights)
    with pytest.raises(InputError, match=r"W_0 is 12 × 56, but the options say 12 × 60; take the options.json that"):
        ELMo(other, weights)
