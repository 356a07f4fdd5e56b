"""A transformer's folder of others: success, or one line, before memory or minutes are spent."""

import json
import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from data_files import read_json
from input_errors import refused
from safetensors.torch import load_file, save_file
from tiny_transformers import write_bert

from mtl.base.errors import InputError
from mtl.methods.transformer.inputs import InputReader
from mtl.methods.transformer.opening import open_pretrained, open_without_weights
from mtl.methods.transformer.reading import opened, tokenizing

TEXTS = ["solen skiner idag", "regnet faller", "jag skrattar gott åt vädret"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "liten", TEXTS)


def changed(bert: Path, folder: Path, name: str, **values: Any) -> Path:
    """A copy of the folder with these values in one of its JSON files."""
    shutil.copytree(bert, folder)
    content = read_json(folder / name)
    (folder / name).write_text(json.dumps({**content, **values}), encoding="utf-8")
    return folder


def doubling(times: int) -> dict[str, Any]:
    rule = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    return {"type": "Sequence", "normalizers": [rule] * times}


LETTERS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *(("config.json", {"num_hidden_layers": layers}) for layers in (10**7, 1, 0)),
        *(("config.json", {"vocab_size": size}) for size in (10**11, 10**6)),
        *(("config.json", {"chunk_size_feed_forward": size}) for size in (7, 2)),  # 8 tokens are read when it is opened
        *(("config.json", of) for of in ({"text_config": {"n_layer": 10**30}}, {"max_position_embeddings": 10**9})),
        *(("config.json", of) for of in ({"hidden_size": 10**6}, {"attn_implementation": "kernels-of/someone"})),
        ("config.json", {"_attn_implementation": {"": "kernels-of/someone"}}),
        ("tokenizer.json", {"model": {"type": "WordPiece", "vocab": {"[UNK]": 2**31}, "unk_token": "[UNK]"}}),
        ("tokenizer.json", {"normalizer": doubling(36)}),
        ("tokenizer.json", {"normalizer": doubling(1000)}),
        ("tokenizer.json", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [LETTERS] * 36}}),
        *(("config.json", of) for of in ({"num_labels": 10**12}, {"block_sizes": [4, 10**9]})),
    ],
)
def test_absurd_folders_are_refused(bert: Path, tmp_path: Path, name: str, values: dict[str, Any]) -> None:
    folder = changed(bert, tmp_path / "x", name, **values)
    refused(lambda: open_pretrained(str(folder)))


def test_a_run_s_own_folder_is_checked_too(bert: Path, tmp_path: Path) -> None:
    deep = changed(bert, tmp_path / "x", "config.json", num_hidden_layers=10**7)
    refused(open_without_weights, deep, file="config.json", key="num_hidden_layers")
    refused(lambda: open_without_weights(changed(bert, tmp_path / "y", "config.json", hidden_size=10**6)))


def write_nan(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    name = "encoder.layer.1.output.dense.weight"
    save_file({**weights, name: weights[name] * float("nan")}, folder / "model.safetensors", metadata={"format": "pt"})


def put(name: str, place: Callable[[Path], object]) -> Callable[[Path], None]:
    """Something else in the place of a file."""

    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        place(folder / name)

    return change


INDEX = {"metadata": {}, "weight_map": {"embeddings.LayerNorm.bias": "../other.safetensors"}}
PLACED = [
    put("config.json", lambda path: path.write_text('{"a":' * 100_000)),
    *(put("tokenizer_config.json", place) for place in (os.mkfifo, lambda path: path.symlink_to("/dev/zero"))),
    put("tokenizer_config.json", lambda path: path.symlink_to("../../blobs/gone")),
    put("model.safetensors.index.json", lambda path: path.write_text(json.dumps(INDEX))),
    put("adapter_config.json", lambda path: path.write_text('{"base_model_name_or_path": "/elsewhere"}')),
]


def leave_a_gap(folder: Path) -> None:
    """A token with an id beyond the table of embeddings; their number fits."""
    rules = read_json(folder / "tokenizer.json")
    rules["model"]["vocab"]["solen"] = len(rules["model"]["vocab"]) + 5
    (folder / "tokenizer.json").write_text(json.dumps(rules), encoding="utf-8")


@pytest.mark.parametrize("change", [write_nan, *PLACED, leave_a_gap])
def test_hostile_folders_are_refused(bert: Path, tmp_path: Path, change: Callable[[Path], None]) -> None:
    shutil.copytree(bert, tmp_path / "x")
    change(tmp_path / "x")
    refused(lambda: open_pretrained(str(tmp_path / "x")))


def test_a_snapshot_of_the_hub_s_cache_may_consist_of_links(bert: Path, tmp_path: Path) -> None:
    shutil.copytree(bert, tmp_path / "blobs")
    (tmp_path / "snapshots" / "1").mkdir(parents=True)
    for file in (tmp_path / "blobs").iterdir():
        (tmp_path / "snapshots" / "1" / file.name).symlink_to(f"../../blobs/{file.name}")
    assert open_pretrained(str(tmp_path / "snapshots" / "1")).dim == 32


def test_explosions_interruptions_and_tokens_that_the_model_lacks(bert: Path, tmp_path: Path) -> None:
    pattern = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    pretrained = open_pretrained(str(changed(bert, tmp_path / "x", "tokenizer.json", pre_tokenizer=pattern)))
    refused(lambda: InputReader(pretrained, 64).sequences([("a" * 10_000 + "b",)]))
    with pytest.raises(KeyboardInterrupt), tokenizing("x"):
        raise KeyboardInterrupt
    with pytest.raises(MemoryError), tokenizing("x"):
        opened("x", "the model", lambda trust_remote_code: bytearray(2**62))
    pretrained = open_pretrained(str(bert))
    pretrained.tokenizer.add_tokens(["solsken"])
    refused(lambda: InputReader(pretrained, 64).sequences([("solsken",)]))


def test_mutated_folders_are_opened_or_refused(bert: Path, tmp_path: Path) -> None:
    chance, folder = random.Random(0), tmp_path / "x"
    shutil.copytree(bert, folder)
    names = ("config.json", "tokenizer_config.json", "tokenizer.json", "model.safetensors")
    originals = {name: (folder / name).read_bytes() for name in names}
    values = [None, True, -1, 0, 3, 10**30, 1e300, "x", "\ud800", [], {}, [[1, 2]], {"type": "x"}]
    for _ in range(60):
        name = chance.choice(names)
        if name.endswith(".json"):
            content: Any = json.loads(originals[name])
            inner, key = content, chance.choice(list(content))
            while isinstance(inner[key], dict) and inner[key] and chance.random() < 0.7:
                inner, key = inner[key], chance.choice(list(inner[key]))
            inner[key] = chance.choice(values)
            (folder / name).write_text(json.dumps(content))
        else:
            mutated = bytearray(originals[name])
            mutated[chance.randrange(400)] = chance.randrange(256)  # in the header
            (folder / name).write_bytes(mutated)
        with suppress(InputError):
            InputReader(open_pretrained(str(folder)), 16).sequences([("solen", "regnet"), ("vädret",)])
        (folder / name).write_bytes(originals[name])
