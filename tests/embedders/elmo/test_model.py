from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from elmo_files import WORDS, sentences, write_elmo
from elmo_reference import Reference

from mtl.embedders.elmo import ELMo
from mtl.embedders.elmo.model import character_ids


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


def test_float32_is_the_same_except_for_rounding_and_the_state_clip_is_reached(elmo_files: tuple[Path, Path]) -> None:
    some = sentences(20, 20)
    for one, other in zip(ELMo(*elmo_files, exact=False).layers(some), ELMo(*elmo_files).layers(some), strict=True):
        assert one.dtype == other.dtype == torch.float32
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0)
    _, first, _ = ELMo(*elmo_files).layers([WORDS])[0]
    assert first.abs().max() == 0.5


def test_more_sentences_than_one_batch(elmo_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
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
