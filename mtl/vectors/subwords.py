"""Vectors of subwords for the method `static`: the input embeddings of a transformer."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.methods.floors.features import Document


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


def open_subwords(name: str, most: int) -> Subwords:
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
