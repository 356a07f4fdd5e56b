import json
import os
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from elmo_files import OPTIONS, WORDS, sentences, write_elmo
from elmo_reference import Reference
from input_errors import refused
from mutations import damaged

from mtl.base.errors import InputError
from mtl.embedders.elmo import ELMo
from mtl.embedders.elmo.model import character_ids
from mtl.embedders.elmo.network import BiLM, ProjectedLSTM
from mtl.embedders.elmo.options import read_options
from mtl.embedders.elmo.weights import read_weights, to_file


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"lstm": {"use_skip_connections": False}},
        {"lstm": {"cell_clip": None, "proj_clip": None, "n_layers": 3}},
        {"lstm": {"n_layers": 1}, "char_cnn": {"activation": "tanh", "n_highway": 0, "max_characters_per_token": 12}},
    ],
)
def test_layers_equal_the_reference(tmp_path: Path, changes: dict[str, Any]) -> None:
    files = write_elmo(tmp_path, **changes)
    reference, some = Reference(*files), [WORDS, *sentences(12, 9)]
    for sentence, layers in zip(some, ELMo(*files).layers(some), strict=True):
        expected = reference.layers(sentence)
        assert layers.shape == expected.shape and layers.dtype == torch.float32
        np.testing.assert_allclose(layers.numpy(), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("exact", [True, False])
def test_layers_are_the_same_in_mixed_precision(elmo_files: tuple[Path, Path], exact: bool) -> None:
    elmo = ELMo(*elmo_files, exact)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = elmo.layers([WORDS])[0]
    assert torch.equal(mixed, elmo.layers([WORDS])[0])


@pytest.mark.parametrize("batch", [1, 2, 7, 64])
def test_layers_do_not_depend_on_the_batch(elmo_files: tuple[Path, Path], batch: int) -> None:
    elmo, some = ELMo(*elmo_files), sentences(64, 40)
    alone = [elmo.layers([sentence])[0] for sentence in some]
    for start in range(0, len(some), batch):
        for one, other in zip(elmo.layers(some[start : start + batch]), alone[start:], strict=False):
            assert torch.equal(one, other)  # to the last bit


def test_float32_a_reached_state_clip_and_several_batches(
    elmo_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    some = sentences(20, 20)
    for one, other in zip(ELMo(*elmo_files, exact=False).layers(some), ELMo(*elmo_files).layers(some), strict=True):
        assert one.dtype == other.dtype == torch.float32
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0)
    _, first, _ = ELMo(*elmo_files).layers([WORDS])[0]
    assert first.abs().max() == 0.5
    elmo, some = ELMo(*elmo_files), sentences(30, 12)
    expected = elmo.layers(some)
    monkeypatch.setattr("mtl.embedders.elmo.model.TOKENS", 20)
    monkeypatch.setattr("mtl.embedders.elmo.model.WORDS", 3)
    for one, other in zip(elmo.layers(some), expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


def test_empty_sentences_surrogates_markers_and_long_words(elmo_files: tuple[Path, Path]) -> None:
    elmo = ELMo(*elmo_files)
    assert elmo.layers([]) == []
    empty, word = elmo.layers([[], ["a"]])
    assert empty.shape == (3, 0, 12) and word.shape == (3, 1, 12)
    elmo = ELMo(*elmo_files)
    spoilt, clean = elmo.layers([["kot\ud800"], ["kot"]])
    torch.testing.assert_close(spoilt, clean)
    # The original code's ids plus one: bytes from 1 on, 259 begins a word, 260 ends it, 261 pads it.
    assert character_ids(["ż", ""], 6).tolist() == [[259, 0xC5 + 1, 0xBC + 1, 260, 261, 261], [259, 260, *[261] * 4]]
    assert character_ids(["<S>", "</S>"], 4).tolist() == [[259, 257, 260, 261], [259, 258, 260, 261]]
    assert character_ids(["aż" * 9], 5).tolist() == [[259, 98, 0xC5 + 1, 0xBC + 1, 260]]
    assert character_ids(["aaż"], 5).tolist() == [[259, 98, 98, 0xC5 + 1, 260]]  # inside a character
    np.testing.assert_array_equal(character_ids(["a" * 48], 50), character_ids(["a" * 99], 50))


@pytest.mark.parametrize("keep", [0, 100, 4000, -1])
def test_truncated_file(elmo_files: tuple[Path, Path], tmp_path: Path, keep: int) -> None:
    options, weights = elmo_files
    (tmp_path / "w.hdf5").write_bytes(weights.read_bytes()[:keep])
    refused(lambda: ELMo(options, tmp_path / "w.hdf5"), file="w.hdf5")


def test_missing_file_and_files_of_other_programs(elmo_files: tuple[Path, Path], tmp_path: Path) -> None:
    options, _ = elmo_files
    refused(lambda: ELMo(options, tmp_path / "none.hdf5"), file="none.hdf5")
    (tmp_path / "zip.hdf5").write_bytes(b"PK\x03\x04" * 500)
    refused(lambda: ELMo(options, tmp_path / "zip.hdf5"), file="zip.hdf5")
    with h5py.File(tmp_path / "keras.hdf5", "w") as file:
        file["model_weights/dense"] = np.zeros(3)
    refused(lambda: ELMo(options, tmp_path / "keras.hdf5"), file="keras.hdf5")


@pytest.mark.parametrize("name", ["CNN/W_cnn_1", "CNN_high_1/b_carry", "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell/W_P_0"])
def test_missing_dataset(tmp_path: Path, name: str) -> None:
    options, weights = write_elmo(tmp_path)
    with h5py.File(weights, "a") as file:
        del file[name]
    refused(lambda: ELMo(options, weights), file="weights.hdf5")
    with h5py.File(weights, "a") as file:
        file[name] = np.array(["words", "words"], dtype="S5")
    refused(lambda: ELMo(options, weights), file="weights.hdf5")


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    _, weights = write_elmo(tmp_path / "a")
    other, _ = write_elmo(tmp_path / "b", lstm={"dim": 15})
    for changes in (
        {"lstm": {"n_layers": 1}},
        {"char_cnn": {"n_highway": 1}},
        {"char_cnn": {"filters": [[1, 3], [2, 4]]}},
    ):
        fewer, _ = write_elmo(tmp_path / "c", **changes)
        refused(ELMo, fewer, weights, file="weights.hdf5")
    refused(lambda: ELMo(other, weights), file="weights.hdf5")


def replaced(
    folder: Path, change: Callable[[h5py.File, str], None], name: str = "CNN_proj/b_proj"
) -> tuple[Path, Path]:
    """An ELMo's files, with another thing in place of a dataset."""
    options, weights = write_elmo(folder)
    with h5py.File(weights, "a") as file:
        del file[name]
        change(file, name)
    return options, weights


def virtual(file: h5py.File, name: str) -> None:
    layout = h5py.VirtualLayout(shape=(6,), dtype="f4")
    layout[:] = h5py.VirtualSource("other.hdf5", name, shape=(6,))
    file.create_virtual_dataset(name, layout)


@pytest.mark.parametrize(
    "change",
    [
        virtual,
        lambda file, name: file.__setitem__(name, h5py.SoftLink(f"/{name}")),  # to itself
        lambda file, name: file.__setitem__(name, h5py.ExternalLink("other.hdf5", f"/{name}")),
        lambda file, name: file.create_dataset(name, shape=(6,), dtype="f4", external=[("secret.txt", 0, 24)]),
        lambda file, name: file.create_dataset(name, data=np.full(6, np.nan)),
        lambda file, name: file.create_dataset(name, data=np.full(6, b"x", dtype="S5")),
    ],
)
def test_datasets_are_in_the_file(tmp_path: Path, change: Callable[[h5py.File, str], None]) -> None:
    write_elmo(tmp_path / "b")[1].rename(tmp_path / "other.hdf5")
    (tmp_path / "secret.txt").write_bytes(b"x" * 24)
    options, weights = replaced(tmp_path, change)
    refused(lambda: ELMo(options, weights), file="weights.hdf5")


def test_group_behind_a_link_and_a_pipe(tmp_path: Path) -> None:
    def outside(file: h5py.File, name: str) -> None:
        file[name] = h5py.ExternalLink("other.hdf5", f"/{name}")

    options, weights = replaced(tmp_path, outside, "CNN_proj")
    refused(lambda: ELMo(options, weights), file="weights.hdf5")
    os.mkfifo(tmp_path / "pipe.hdf5")
    refused(lambda: ELMo(options, tmp_path / "pipe.hdf5"), file="pipe.hdf5")


def test_datasets_far_larger_than_the_file(tmp_path: Path) -> None:
    wide = {"dim": 2**19, "projection_dim": 2**19}
    options, weights = write_elmo(tmp_path)
    content = json.loads(options.read_text())
    content["lstm"].update(wide)
    options.write_text(json.dumps(content))
    with torch.device("meta"):
        expected = to_file(BiLM(read_options(options)))
    with h5py.File(weights, "w") as file:
        for name, value in expected.items():
            file.create_dataset(name, shape=tuple(value.shape), dtype="f4")  # never written
    refused(lambda: ELMo(options, weights), file="weights.hdf5")


def test_mutated_weights_are_read_or_rejected(tmp_path: Path) -> None:
    options, weights = write_elmo(tmp_path)
    for _ in damaged(weights, 60):
        with suppress(InputError):
            read_weights(weights, read_options(options))


def write(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({part: {**values, **changes.get(part, {})} for part, values in OPTIONS.items()}))
    return path


def test_options_are_read_also_without_a_clip(tmp_path: Path) -> None:
    options = read_options(write(tmp_path / "a.json"))
    lstm = options.lstm
    assert (options.char_cnn.n_filters, lstm.dim, lstm.projection_dim, lstm.cell_clip) == (12, 14, 6, 0.8)
    options = read_options(write(tmp_path / "a.json", lstm={"cell_clip": None, "proj_clip": 0}))
    assert ProjectedLSTM(options, reverse=False).clips == (None, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"lstm": {"dim": "x"}}, {"lstm": {"n_layers": 0}}, {"lstm": {"cell_clip": -3}}, {"lstm": {"proj_clip": float("nan")}},
        {"lstm": {"use_skip_connections": 1}}, {"char_cnn": {"filters": []}}, {"char_cnn": {"filters": [[1, 2]] * 10**5}},
        {"char_cnn": {"max_characters_per_token": 10**6}}, {"char_cnn": {"filters": [[60, 3]]}}, {"char_cnn": {"activation": "gelu"}},
        {"char_cnn": {"n_characters": 300}}, {"char_cnn": {"embedding": {}}},
    ],
)  # fmt: skip
def test_wrong_options(tmp_path: Path, changes: dict[str, Any]) -> None:
    refused(lambda: read_options(write(tmp_path / "options.json", **changes)), file="options.json")


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff", b'{"lstm": 3}', b"[" * 100_000, b'{"lstm":' * 100_000], ids=count())  # fmt: skip
def test_file_without_options(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "options.json").write_bytes(content)
    refused(lambda: read_options(tmp_path / "options.json"))
    refused(lambda: read_options(tmp_path / "none.json"), file="none.json")
