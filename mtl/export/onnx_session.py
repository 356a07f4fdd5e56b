"""An exported ONNX model as onnxruntime computes it, and the tokenizer beside it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

IDS, VECTORS = "ids", "vectors"  # the names of the model's input and output


def tokenizer_ids(path: Path, texts: Sequence[str]) -> list[np.ndarray]:
    """The word ids of each text by the library tokenizers, int64 (tokens,), as the model card says to compute them."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    return [np.array(tokenizer.encode(f" {text}").ids, dtype=np.int64) for text in texts]


def run_model(path: Path, rows: Sequence[np.ndarray]) -> np.ndarray:
    """The vectors of texts by onnxruntime, float32 (texts, dim), in one padded batch. rows: the word ids of each text."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
    vectors: np.ndarray = session.run([VECTORS], {IDS: ids})[0]
    return vectors
