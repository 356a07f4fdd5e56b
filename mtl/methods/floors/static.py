"""Texts as weighted means of static vectors, with a linear model or a small network on top: what most users try before an LSTM.

The vectors are of words (a file, as the LSTM reads it) or of subwords: the input embeddings of a transformer, or a model2vec model.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_matrix

from mtl.base.errors import InputError
from mtl.base.memory import check_fits
from mtl.base.progress import Progress
from mtl.base.untrusted import read_json
from mtl.data.text import UNKNOWN
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.embedders.weighting import WEIGHTINGS, WordCounts
from mtl.methods.floors.entries import VECTOR_SOURCES
from mtl.methods.floors.features import Document, RowFeatures
from mtl.methods.floors.floor import Floor
from mtl.methods.method import BuildRequest
from mtl.methods.transformer.model_files import AGAIN, check_folder
from mtl.tasks.task import Task

BLOCK = 4096  # texts
FLOAT = 4  # bytes of a number


class StaticFloor(Floor):
    """`mtl.methods.method.Method` of static vectors: a floor whose features are means of vectors."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for vectors that cannot be read."""
        super().__init__(request)
        static = request.config.static
        if static.path is None:
            assert request.vectors is not None
            source: Source = WordFile(request.vectors)
        else:
            source = VECTOR_SOURCES[static.vectors](static.path, request.config.max_length)
        self._vectors = TextVectors(source, static.weighting)
        documents = [Document(text, self.texts.words(number)) for number, text in enumerate(request.dataset.texts)]
        self._vectors.learn(documents, request.dataset.distinct_texts("train"))
        self.fingerprints |= source.fingerprints()
        self.embedding_parameters = source.size

    def new_features(self, task: Task, vectorizer: str | None) -> "TextVectors":
        return self._vectors


class Source(Protocol):
    """Where the vectors of texts' tokens come from."""

    @property
    def size(self) -> int:
        """The number of parameters on which the vectors depend."""

    def tokens(self, documents: Sequence[Document]) -> list[list[Any]]:
        """The tokens of each document."""

    def vectors(self, tokens: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Vectors of distinct tokens, float32 (tokens, dim), and which tokens have one, bool (tokens,)."""

    def fingerprints(self) -> dict[str, str]:
        """Hashes, by name, of all that the vectors depend on."""


class WordFile:
    """A `Source` of the vectors of words in a file of any format that `VectorFile` reads."""

    def __init__(self, path: Path) -> None:
        self._file = VectorFile(path)

    @property
    def size(self) -> int:
        rows, dim = self._file.shape
        return rows * dim

    def tokens(self, documents: Sequence[Document]) -> list[list[Any]]:
        """The words that the LSTM reads, too."""
        return [document.tokens for document in documents]

    def vectors(self, tokens: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        read = self._file.read(tokens)
        return read.vectors, read.has_vector & np.array([token != UNKNOWN for token in tokens], dtype=bool)

    def fingerprints(self) -> dict[str, str]:
        return {"embeddings": self._file.sha256()}


class Subwords:
    """A `Source` of subword vectors: a table, float32 (token ids, dim), with the tokenizer that it belongs to.

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


class TextVectors(RowFeatures):
    """Each text as the weighted mean of its tokens' vectors; a text without a known token is zero.

    A text is encoded once, however many tasks and seeds read it. The features of a row are u for a text; [u, v, |u - v|, u * v] for a pair
    (Conneau et al. 2017, as in jiant's classifiers).
    """

    def __init__(self, source: Source, weighting: str) -> None:
        self.source = source
        self._weighting = WEIGHTINGS[weighting]
        self._counts = WordCounts()
        self._component: np.ndarray | None = None
        self._rows: dict[str, int] = {}
        self._vectors = np.zeros((0, 0), dtype=np.float32)

    def learn(self, documents: Sequence[Document], counted: np.ndarray) -> None:
        """Encode these documents of distinct texts, once and for all. The weighting counts words in those with the indices `counted`."""
        if self._weighting.reads_texts:
            for tokens in self.source.tokens([documents[number] for number in counted.tolist()]):
                self._counts.texts += 1
                self._counts.tokens += len(tokens)
                self._counts.counts.update(tokens)
                self._counts.documents.update(set(tokens))
        vectors = self._means(documents)
        if self._weighting.removes_component:
            means = vectors[counted].astype(np.float64)
            self._component = np.linalg.eigh(means.T @ means)[1][:, -1].astype(np.float32)
        self._vectors = self._without_component(vectors)
        self._rows = {document.text: row for row, document in enumerate(documents)}

    def transform(self, rows: Sequence[Sequence[Document]]) -> np.ndarray:
        """The features of rows, float32 (rows, features)."""
        sides = [self.encode(side) for side in zip(*rows, strict=True)]
        if len(sides) == 1:
            return sides[0]
        first, second = sides
        return np.concatenate([first, second, abs(first - second), first * second], axis=1)

    def encode(self, documents: Sequence[Document]) -> np.ndarray:
        """The vectors of documents, float32 (documents, dim)."""
        new = list({document.text: document for document in documents if document.text not in self._rows}.values())
        if not new:
            return self._vectors[[self._rows[document.text] for document in documents]]
        places = {document.text: len(self._vectors) + number for number, document in enumerate(new)}
        places |= self._rows
        encoded = np.concatenate([self._vectors, self._without_component(self._means(new))])
        return encoded[[places[document.text] for document in documents]]

    def _means(self, documents: Sequence[Document]) -> np.ndarray:
        """The weighted means of texts before the component is removed, float32 (documents, dim)."""
        tokens = self.source.tokens(documents)
        index = {
            token: number for number, token in enumerate(dict.fromkeys(token for text in tokens for token in text))
        }
        vectors, known = self.source.vectors(list(index))
        weights = np.array([self._weighting.weight(self._counts, token) for token in index]) * known
        means = np.zeros((len(documents), vectors.shape[1]), dtype=np.float32)
        counted = weights if self._weighting.by_weight else known.astype(np.float64)
        with Progress("encoding texts", len(documents), "texts") as bar:
            for start in range(0, len(documents), BLOCK):
                block = tokens[start : start + BLOCK]
                columns = np.fromiter((index[token] for text in block for token in text), dtype=np.int64)
                ends = np.cumsum([0, *map(len, block)])
                bags = csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(block), len(index)))
                totals = bags @ counted
                sums = bags.multiply(weights).tocsr() @ vectors
                means[start : start + len(block)] = sums / np.where(totals == 0, 1, totals)[:, None]
                bar.advance(len(block))
        return means

    def _without_component(self, vectors: np.ndarray) -> np.ndarray:
        if self._component is None:
            return vectors
        return vectors - np.outer(vectors @ self._component, self._component)
