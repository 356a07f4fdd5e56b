"""Vectors of subwords for the method `static`: the input embeddings of a transformer, or a model2vec model."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.memory import check_fits
from mtl.base.untrusted import read_json
from mtl.methods.floors.features import Document
from mtl.methods.transformer.model_files import AGAIN, check_folder

FLOAT = 4  # bytes of a number


class Subwords:
    """A `mtl.methods.floors.static.Source` of subword vectors: a table, float32 (token ids, dim), with the tokenizer that it belongs to.

    So many tokens of a text are read as `most` says.
    """

    def __init__(self, tokenizer: Any, table: np.ndarray, most: int) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer, self._table, self._most = tokenizer, table, most

    @property
    def size(self) -> int:
        return self._table.size

    def tokens(self, documents: Sequence[Document]) -> list[list[Any]]:
        """The ids of each text's subwords, without special tokens."""
        encoded = self._tokenizer.encode_batch([document.text for document in documents], add_special_tokens=False)
        return [text.ids[: self._most] for text in encoded]

    def vectors(self, tokens: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        unknown = getattr(self._tokenizer.model, "unk_token", None)
        id = self._tokenizer.token_to_id(unknown) if unknown is not None else None
        return self._table[list(tokens)], np.array([token != id for token in tokens], dtype=bool)

    def fingerprints(self) -> dict[str, str]:
        table = hashlib.sha256(self._table.tobytes() + np.arange(len(self._table)).tobytes()).hexdigest()
        rules = hashlib.sha256(self._tokenizer.to_str().encode()).hexdigest()
        return {"static.table": table, "static.tokenizer": rules}


def open_subwords(path: str, most: int) -> Subwords:
    """A model2vec model, or the input embeddings of a transformer. Raises InputError as the functions for each do."""
    return open_model2vec(Path(path), most) if is_model2vec(Path(path)) else open_input_embeddings(path, most)


def is_model2vec(folder: Path) -> bool:
    """Whether a folder holds a model2vec model."""
    path = folder / "config.json"
    if not path.is_file():
        return False
    config = read_json(path, dict[str, Any], AGAIN)
    return config.get("model_type") == "model2vec" or config.get("architectures") == ["StaticModel"]


def open_model2vec(folder: Path, most: int) -> Subwords:
    """A model2vec model: its table, which may hold weights of tokens and fewer rows than tokens, and its tokenizer.

    Raises InputError for files that are missing or damaged.
    """
    from safetensors import SafetensorError, safe_open
    from tokenizers import Tokenizer

    check_folder(folder)
    weights, rules = folder / "model.safetensors", folder / "tokenizer.json"
    for path in (weights, rules):
        if not path.is_file():
            raise InputError(f"no such file, which a model2vec model has; {AGAIN}", path=path)
    try:
        with safe_open(str(weights), framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dictionary)
    except (SafetensorError, TypeError) as error:
        raise InputError(f"cannot be read: {error}; {AGAIN}", path=weights) from None
    try:
        tokenizer = Tokenizer.from_file(str(rules))
    except Exception as error:  # which tokenizers raises for every problem
        raise InputError(f"cannot be read: {error}; {AGAIN}", path=rules) from None
    table = arrays.get("embeddings")
    if table is None or table.ndim != 2 or not np.isfinite(table.astype(np.float32)).all():
        raise InputError(f"has no table `embeddings` of finite numbers; {AGAIN}", path=weights)
    ids = max(tokenizer.get_vocab().values(), default=-1) + 1
    rows = arrays.get("mapping", np.arange(ids)).astype(np.int64)
    if len(rows) < ids or not ((rows >= 0) & (rows < len(table))).all():
        raise InputError(f"has no vector for some of the tokenizer's {ids:,} tokens; {AGAIN}", path=weights)
    counted = arrays.get("weights", np.ones(len(rows)))
    if counted.shape != (len(rows),) or not np.isfinite(counted).all():
        raise InputError(f"`weights` must have a finite number for each token; {AGAIN}", path=weights)
    check_fits(FLOAT * len(rows) * table.shape[1], f"{weights}: a table of this size", "name a smaller model")
    weighted = table.astype(np.float32)[rows] * counted.astype(np.float32)[:, None]
    return Subwords(tokenizer, weighted, most)


def open_input_embeddings(name: str, most: int) -> Subwords:
    """The input embeddings of a transformer, in a folder or on the Hub, with its tokenizer.

    Raises InputError for a transformer that cannot be opened, and one without a fast tokenizer.
    """
    from mtl.methods.transformer.pretrained import open_pretrained

    pretrained = open_pretrained(name)
    tokenizer = getattr(pretrained.tokenizer, "backend_tokenizer", None)
    if tokenizer is None:
        raise InputError("has no tokenizer.json; name a transformer with one", key="static.path", value=name)
    table = pretrained.body.get_input_embeddings().weight.detach().float().numpy().copy()
    return Subwords(tokenizer, table, most)
