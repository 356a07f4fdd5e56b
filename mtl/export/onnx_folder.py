"""A folder with the encoder as an ONNX model, its vocabulary, its tokenizer, and how to use them."""

import json
from functools import partial
from pathlib import Path

from mtl.errors import InputError
from mtl.export.kind import Export
from mtl.export.model_card import onnx_card
from mtl.export.onnx_model import write_model
from mtl.export.onnx_session import run_model, tokenizer_ids
from mtl.export.reference import Reference
from mtl.export.tokenizer import can_express, id_names, tokenizer_json, with_limits
from mtl.files import write_text

MODEL, TOKENIZER, VOCABULARY = "model.onnx", "tokenizer.json", "vocabulary.txt"


def write(export: Export, folder: Path) -> None:
    """Write the model and the files beside it.

    Raises InputError if onnxruntime computes other vectors with the written model, and the written tokenizer if there is one, than
    the run.
    """
    parts = export.parts
    write_model(export, folder / MODEL)
    write_text(folder / VOCABULARY, "".join(f"{word}\n" for word in id_names(parts.words)))
    reference = Reference(export)
    word_ids = reference.ids
    if can_express(parts.language):
        limited = with_limits(tokenizer_json(parts.language, parts.words), parts.max_length, parts.boundary_words)
        write_text(folder / TOKENIZER, json.dumps(limited, ensure_ascii=False) + "\n")
        word_ids = partial(tokenizer_ids, folder / TOKENIZER)
    try:
        reference.check(lambda texts: run_model(folder / MODEL, word_ids(texts)))
    except InputError as error:
        raise InputError(f"--format onnx: {error}") from None
    write_text(folder / "README.md", onnx_card(export))
