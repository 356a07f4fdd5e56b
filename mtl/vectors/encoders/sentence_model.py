"""Opening a model of the library sentence-transformers: its folder is not trusted, and the library reads it after
checks. Only the library's modules that are listed here run, and their weights are read from safetensors alone, never
from pickles."""

import logging
import re
from collections.abc import Mapping
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any, NotRequired, TypedDict

from mtl.base.errors import InputError
from mtl.base.extras import import_transformers
from mtl.base.untrusted import read_json
from mtl.methods.transformer.model_files import AGAIN, check_folder, stored_weights
from mtl.methods.transformer.pretrained import check_place, open_parts, opened
from mtl.vectors.export.tokenizer import is_moses

MODEL_FILES = (".json", ".safetensors", ".txt", ".model", ".jinja")  # ends of the names of a model's files
# The modules with weights, each with its configuration, whose sizes must be those of the file of weights.
WEIGHTED = {
    "Transformer": "sentence_*config.json",
    "StaticEmbedding": "",
    "WordEmbeddings": "wordembedding_config.json",
    "LSTM": "lstm_config.json",
    "Dense": "config.json",
    "LayerNorm": "config.json",
}
SUPPORTED = (*WEIGHTED, "Pooling", "Normalize", "Dropout")
# The supported settings of a transformer. Others are arguments for loaders of transformers, or for vectors of single tokens.
TRANSFORMER_KEYS = {
    "max_seq_length",
    "do_lower_case",
    "transformer_task",
    "modality_config",
    "module_output_name",
    "processing_kwargs",
    "unpad_inputs",
}


class ListedModule(TypedDict):
    """A module in modules.json: its class, and its folder below that of the model."""

    type: str
    path: str


class ModelConfig(TypedDict):
    """What is checked of config_sentence_transformers.json."""

    prompts: NotRequired[dict[str, str | None]]
    default_prompt_name: NotRequired[str | None]
    model_type: NotRequired[str]


def local_folder(path: str) -> Path:
    """The folder with the model, after it is downloaded from the Hub if `path` is no folder. Raises InputError if there is no such
    model, or if it cannot be downloaded."""
    import_transformers()
    check_place("path", path)
    if Path(path).is_dir():
        return Path(path)
    from huggingface_hub import snapshot_download

    patterns = [f"*{end}" for end in MODEL_FILES]
    return Path(opened(path, "the model", lambda trust_remote_code: snapshot_download(path, allow_patterns=patterns)))


def check_model(folder: Path) -> list[tuple[str, Path]]:
    """The model's modules in order, each with its class and its folder. Raises InputError for a model that is damaged, that is
    not supported, or that would run code."""
    check_folder(folder, is_moses)
    if not (folder / "modules.json").is_file():
        message = "has no modules.json, as models of sentence-transformers have; for a transformer, use the encoder transformer"
        raise InputError(message, path=folder)
    config = folder / "config_sentence_transformers.json"
    kind = read_json(config, ModelConfig, AGAIN).get("model_type") if config.is_file() else None
    if kind not in (None, "SentenceTransformer"):
        raise InputError(f"is a {kind}, which gives no vector for a text; name a SentenceTransformer", path=config)
    modules = []
    for listed in read_json(folder / "modules.json", list[ListedModule], AGAIN):
        below = PurePosixPath(listed["path"])
        if below.is_absolute() or ".." in below.parts or "\\" in listed["path"]:
            message = f"{listed['path']!r} is no folder of this model; {AGAIN}"
            raise InputError(message, path=folder / "modules.json", key="path")
        name = listed["type"].rpartition(".")[2]
        if not re.fullmatch(r"sentence_transformers(\.[a-z_]+)*\.[A-Za-z]+", listed["type"]) or name not in SUPPORTED:
            message = f"{listed['type']!r} is not among the supported modules: {', '.join(SUPPORTED)}"
            raise InputError(message, path=folder / "modules.json", key="type")
        _check_module(name, folder / below)
        modules.append((name, folder / below))
    if not modules:
        raise InputError(f"names no module; {AGAIN}", path=folder / "modules.json")
    return modules


def load_model(folder: Path, device: str) -> Any:
    """The model in a folder that `check_model` has passed. Raises InputError if the library cannot read it."""
    from sentence_transformers import SentenceTransformer

    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)  # hides what it logs about models in general
    options: Mapping[str, Any] = {"device": device, "local_files_only": True, "model_kwargs": {"use_safetensors": True}}
    return opened(str(folder), "the model", SentenceTransformer, str(folder), **options)


def _check_module(name: str, folder: Path) -> None:
    """Raise InputError for files of a module that are missing, that would run code, or that describe more weights than they hold."""
    if not folder.is_dir():
        if name in WEIGHTED:
            raise InputError(f"no such folder, which modules.json names; {AGAIN}", path=folder)
        return  # old models have no folder for modules without settings
    check_folder(folder, is_moses)
    if name not in WEIGHTED:
        return
    if not any(folder.glob("*.safetensors")):
        remedy = "load and save the model with sentence-transformers where you trust it"
        raise InputError(f"has no weights in safetensors, and pickles are not read; {remedy}", path=folder)
    if name == "Transformer":
        open_parts(str(folder), str(folder), "auto")  # sentence-transformers would draw weights that the files lack
    if WEIGHTED[name]:
        for path in folder.glob(WEIGHTED[name]):
            config = read_json(path, dict[str, Any], AGAIN)
            if name == "Transformer":
                _check_transformer_settings(path, config)
            else:
                _check_size(path, config, stored_weights(folder))


def _check_size(path: Path, config: Mapping[str, Any], stored: int) -> None:
    """Raise InputError if a module's configuration describes more weights than its files hold."""
    described = prod(value for value in config.values() if type(value) is int and value > 0)
    if described > stored:
        raise InputError(f"describes {described:,} weights, and the files hold {stored:,} at most; {AGAIN}", path=path)


def _check_transformer_settings(path: Path, config: Mapping[str, Any]) -> None:
    """Raise InputError for settings that let sentence-transformers do more than read texts with the transformer."""
    if unsupported := [key for key, value in config.items() if key not in TRANSFORMER_KEYS and value]:
        message = f"such a setting is not supported; {AGAIN}, or remove it where you trust it"
        raise InputError(message, path=path, key=unsupported[0])
    for modality in (config.get("modality_config") or {}).values():
        if not isinstance(modality, dict) or modality.get("method") != "forward":
            message = "must name the method forward alone; other models are not supported"
            raise InputError(message, path=path, key="modality_config")
