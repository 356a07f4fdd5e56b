"""A model of sentence-transformers from an untrusted folder: only its modules listed here run, and weights are safetensors alone, never pickles."""

import logging
import re
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any, NotRequired, TypedDict

from mtl.base.errors import InputError
from mtl.base.extras import import_transformers
from mtl.base.untrusted import read_json
from mtl.methods.transformer.model_files import AGAIN, check_folder, check_place, stored_weights
from mtl.methods.transformer.opening import open_parts
from mtl.methods.transformer.reading import opened
from mtl.vectors.export.tokenizer import is_moses

MODEL_FILES = (".json", ".safetensors", ".txt", ".model", ".jinja")  # ends of the names of a model's files
# By module, the file of a configuration that gives the sizes of all weights: the files of weights must hold as many.
DESCRIBED = {
    "WordEmbeddings": "wordembedding_config.json",
    "LSTM": "lstm_config.json",
    "Dense": "config.json",
    "LayerNorm": "config.json",
}
WEIGHTED = ("Transformer", "StaticEmbedding", *DESCRIBED)  # the modules with weights
SUPPORTED = (*WEIGHTED, "Pooling", "Normalize", "Dropout")
# The supported settings of a transformer. Others are arguments for loaders of transformers, or for vectors of single tokens.
TRANSFORMER_KEYS = {
    "max_seq_length", "do_lower_case", "transformer_task", "modality_config", "module_output_name", "processing_kwargs", "unpad_inputs",
}  # fmt: skip


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
    """The model's folder: `path`, or that of a download from the Hub. Raises InputError if it cannot be downloaded."""
    import_transformers()
    check_place("path", path)
    if Path(path).is_dir():
        return Path(path)
    from huggingface_hub import snapshot_download

    patterns = [f"*{end}" for end in MODEL_FILES]
    return Path(opened(path, "the model", lambda trust_remote_code: snapshot_download(path, allow_patterns=patterns)))


def check_model(folder: Path) -> list[tuple[str, Path]]:
    """The class and the folder of each module, in order. Raises InputError for what is damaged or not supported."""
    check_folder(folder, is_moses)
    listing, config = folder / "modules.json", folder / "config_sentence_transformers.json"
    if not listing.is_file():
        message = "has no modules.json, as models of sentence-transformers have; for a transformer, use the encoder transformer"
        raise InputError(message, path=folder)
    model_type = read_json(config, ModelConfig, AGAIN).get("model_type") if config.is_file() else None
    if model_type not in (None, "SentenceTransformer"):
        message = f"is a {model_type}, which gives no vector for a text; name a SentenceTransformer"
        raise InputError(message, path=config)
    listed = read_json(listing, list[ListedModule], AGAIN)
    if not listed:
        raise InputError(f"names no module; {AGAIN}", path=listing)
    modules = [(_supported_class(module, listing), folder / module["path"]) for module in listed]
    for name, module_folder in modules:
        _check_module(name, module_folder)
    return modules


def load_model(folder: Path, device: str) -> Any:
    """The model in a folder that `check_model` has passed. Raises InputError if the library cannot read it."""
    from sentence_transformers import SentenceTransformer

    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)  # hides what it logs about models in general
    options: dict[str, Any] = {"device": device, "local_files_only": True, "model_kwargs": {"use_safetensors": True}}
    return opened(str(folder), "the model", SentenceTransformer, str(folder), **options)


def _supported_class(module: ListedModule, listing: Path) -> str:
    """The class of a listed module. Raises InputError for one that is not supported, and for a folder outside the model."""
    folder = PurePosixPath(module["path"])
    if folder.is_absolute() or ".." in folder.parts or "\\" in module["path"]:
        raise InputError(f"{module['path']!r} is no folder of this model; {AGAIN}", path=listing, key="path")
    name = module["type"].rpartition(".")[2]
    if not re.fullmatch(r"sentence_transformers(\.[a-z_]+)*\.[A-Za-z]+", module["type"]) or name not in SUPPORTED:
        message = f"{module['type']!r} is not among the supported modules: {', '.join(SUPPORTED)}"
        raise InputError(message, path=listing, key="type")
    return name


def _check_module(name: str, folder: Path) -> None:
    """Raise InputError for files of a module that are missing, that would run code, or that describe more weights than they hold."""
    if folder.is_dir():
        check_folder(folder, is_moses)
    if name not in WEIGHTED:
        return  # old models have no folder for modules without settings
    if not folder.is_dir():
        raise InputError(f"no such folder, which modules.json names; {AGAIN}", path=folder)
    if not any(folder.glob("*.safetensors")):
        remedy = "load and save the model with sentence-transformers where you trust it"
        raise InputError(f"has no weights in safetensors, and pickles are not read; {remedy}", path=folder)
    if name == "Transformer":
        open_parts(str(folder), str(folder), "auto")  # sentence-transformers would draw weights that the files lack
        for config in folder.glob("sentence_*config.json"):
            _check_transformer_settings(config)
    elif name in DESCRIBED and (folder / DESCRIBED[name]).is_file():
        path = folder / DESCRIBED[name]
        content, stored = read_json(path, dict[str, Any], AGAIN), stored_weights(folder)
        described = prod(value for value in content.values() if type(value) is int and value > 0)
        if described > stored:
            message = f"describes {described:,} weights, and the files hold {stored:,} at most; {AGAIN}"
            raise InputError(message, path=path)


def _check_transformer_settings(path: Path) -> None:
    """Raise InputError for settings that let sentence-transformers do more than read texts with the transformer."""
    config = read_json(path, dict[str, Any], AGAIN)
    if unsupported := [key for key, value in config.items() if key not in TRANSFORMER_KEYS and value]:
        message = f"such a setting is not supported; {AGAIN}, or remove it where you trust it"
        raise InputError(message, path=path, key=unsupported[0])
    for modality in (config.get("modality_config") or {}).values():
        if not isinstance(modality, dict) or modality.get("method") != "forward":
            message = "must name the method forward alone; other models are not supported"
            raise InputError(message, path=path, key="modality_config")
