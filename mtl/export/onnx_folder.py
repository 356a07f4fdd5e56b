"""A folder with the encoder as an ONNX model, its vocabulary, its tokenizer, and how to use them."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl.errors import InputError
from mtl.export.kind import Export
from mtl.export.model_card import onnx_card
from mtl.export.onnx_model import IDS, VECTORS, write_model
from mtl.export.reference import Reference
from mtl.export.tokenizer import can_express, id_names, tokenizer_json, with_limits
from mtl.files import write_text

MODEL, TOKENIZER, VOCABULARY = "model.onnx", "tokenizer.json", "vocabulary.txt"


def write(export: Export, folder: Path) -> None:
    """Write the model and the files beside it. Raises InputError if onnxruntime computes other vectors with it than the run."""
    parts = export.parts
    write_model(export, folder / MODEL)
    reference = Reference(export)
    try:
        reference.check(lambda texts: run_model(folder / MODEL, reference.ids(texts)))
    except InputError as error:
        raise InputError(f"--format onnx: {error}") from None
    write_text(folder / VOCABULARY, "".join(f"{word}\n" for word in id_names(parts.words)))
    if can_express(parts.language):
        limited = with_limits(tokenizer_json(parts.language, parts.words), parts.max_length, parts.boundary_words)
        write_text(folder / TOKENIZER, json.dumps(limited, ensure_ascii=False) + "\n")
    write_text(folder / "README.md", onnx_card(export))


def run_model(path: Path, rows: Sequence[np.ndarray]) -> np.ndarray:
    """The vectors of texts by onnxruntime, float32 (texts, dim), in one padded batch. rows: the word ids of each text."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
    vectors: np.ndarray = session.run([VECTORS], {IDS: ids})[0]
    return vectors
