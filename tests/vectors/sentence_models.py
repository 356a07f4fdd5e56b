"""Tiny models of sentence-transformers, made on the spot: a BERT of 2 layers of 32, and further modules."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tiny_transformers import write_bert

OLD = "sentence_transformers.models."  # as before version 5.2
DENSE = {"in_features": 32, "out_features": 5, "bias": True, "activation_function": "torch.nn.modules.activation.Tanh"}
MEAN = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}


def write_model(
    folder: Path, texts: Sequence[str], *modules: tuple[str, Mapping[str, Any]], length: int = 12, **config: Any
) -> Path:
    """A model with these modules after its BERT, each a class and its configuration; without any, the mean over tokens.

    Args:
        length: the most tokens of a text.
        config: the content of config_sentence_transformers.json.
    """
    write_bert(folder, texts)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    listed = [{"idx": 0, "name": "0", "path": "", "type": f"{OLD}Transformer"}]
    for number, (kind, settings) in enumerate(modules or [("Pooling", MEAN)], start=1):
        place = f"{number}_{kind}"
        listed.append({"idx": number, "name": str(number), "path": place, "type": f"{OLD}{kind}"})
        if kind == "Normalize":
            continue  # old models have no such folder
        _write(folder / place / "config.json", settings)
        if kind == "Dense":
            rng = np.random.default_rng(0)
            shapes = {"linear.weight": (settings["out_features"], settings["in_features"])}
            shapes["linear.bias"] = (settings["out_features"],)
            weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
            save_file(weights, folder / place / "model.safetensors")
    _write(folder / "modules.json", listed)
    if config:
        _write(folder / "config_sentence_transformers.json", config)
    return folder


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(json.dumps(content), encoding="utf-8")
