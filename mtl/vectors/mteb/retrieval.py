"""Search in a corpus of any size: its vectors are computed once and kept in a file; texts and vectors are read block by block."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from mteb._create_dataloaders import create_dataloader
from mteb.models import SearchEncoderWrapper
from mteb.models.model_meta import ScoringFunction
from mteb.types import PromptType

from mtl.base.files import check_space, write_errors_at
from mtl.base.locks import lock
from mtl.base.progress import Progress
from mtl.data.blocks import BLOCK
from mtl.vectors.mteb.model import EncoderModel

QUERIES = 512  # that are compared with a block at a time; with 1000 documents kept, this takes 70 MB
SMALLEST = 1e-12  # the least length that a vector is divided by, as in mteb
FLOAT = np.dtype(np.float32).itemsize

Ranked = dict[str, dict[str, float]]  # the scores of the best documents, by the ids of query and document


class CorpusSearch:
    """`mteb.SearchProtocol` of an encoder. The memory that it takes depends on the queries and on BLOCK, not on the corpus."""

    def __init__(self, model: EncoderModel, folder: Path, key: Sequence[str]) -> None:
        """Search with this model. The key has all that vectors of corpora, kept in the folder, depend on but split and subset."""
        self.mteb_model_meta = model.mteb_model_meta
        self._model, self._folder, self._key = model, folder, key
        self._corpus = Dataset.from_dict({})

    def index(self, corpus: Dataset, **context: Any) -> None:
        """Search in this corpus from now on: rows with an `id`, a `text` and perhaps a `title`."""
        self._corpus = corpus

    def search(self, queries: Dataset, *, top_k: int, top_ranked: Any = None, **context: Any) -> Ranked:
        """The scores of the `top_k` best documents of each query, of equally good ones the first in the corpus. mteb itself ranks the few documents
        that `top_ranked` names, in memory. The context says what the rows are: `task_metadata`, `hf_split`, … Raises InputError for a full disk."""
        if top_ranked is not None:
            ranking = SearchEncoderWrapper(self._model)
            ranking.index(self._corpus, **context)
            return ranking.search(queries, top_k=top_k, top_ranked=top_ranked, **context)
        loader = create_dataloader(queries, task_metadata=context["task_metadata"], prompt_type=PromptType.query)
        options = {key: context[key] for key in ("task_metadata", "hf_split", "hf_subset")} | context["encode_kwargs"]
        batch = {"text": loader.dataset[:]["text"]}
        vectors = self._scaled(self._model.encode([batch], **options, prompt_type=PromptType.query))
        path = self._encode_corpus(vectors.shape[1], context)
        blocks = map(self._scaled, read_blocks(path, vectors.shape[1]))
        scores, positions = best_documents(vectors, blocks, top_k)
        distinct, indices = np.unique(positions, return_inverse=True)
        ids = np.array(self._corpus.select_columns("id").select(distinct)[:]["id"], dtype=object)
        ranked_ids = ids[indices].reshape(positions.shape).tolist()
        ranked = zip(queries["id"], ranked_ids, scores.tolist(), strict=True)
        return {query: dict(zip(best, best_scores, strict=True)) for query, best, best_scores in ranked}

    def _scaled(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors whose products are their similarity, float64 (vectors, dim): of length 1 for cosines."""
        exact = vectors.astype(np.float64)
        if self.mteb_model_meta.similarity_fn_name is ScoringFunction.COSINE:
            exact /= np.maximum(np.linalg.norm(exact, axis=1, keepdims=True), SMALLEST)
        return exact

    def _encode_corpus(self, dim: int, context: Mapping[str, Any]) -> Path:
        """The file with the vectors of all documents. What a killed process has written of it is kept, in whole blocks."""
        task, split, subset = context["task_metadata"].name, context["hf_split"], context["hf_subset"]
        digest = hashlib.sha256("\n".join([*self._key, split, subset]).encode()).hexdigest()
        path = self._folder / f"{task}-{digest[:16]}.f32"
        vector_size = FLOAT * dim  # in bytes
        self._folder.mkdir(parents=True, exist_ok=True)
        waiting = lock(path.with_suffix(".lock"), f"{path}: another process encodes this corpus")
        with waiting, write_errors_at(path), path.open("ab") as file:
            done = min(file.tell() // vector_size, len(self._corpus))
            if done == len(self._corpus):
                file.truncate(done * vector_size)
                return path
            done -= done % BLOCK
            check_space(self._folder, (len(self._corpus) - done) * vector_size, "set runs_dir to another disk")
            file.truncate(done * vector_size)
            with Progress(f"encoding the corpus of {task}", len(self._corpus), "documents", done) as bar:
                blocks = document_blocks(self._corpus, context["task_metadata"], done)
                texts = (block["text"] for block in blocks)
                for vectors in self._model.encode_documents(texts, context["task_metadata"]):
                    file.write(vectors.tobytes())
                    file.flush()
                    os.fsync(file.fileno())
                    bar.advance(len(vectors))
        return path


def document_blocks(corpus: Dataset, task_metadata: Any, start: int = 0) -> Iterator[dict[str, list[str]]]:
    """The documents of a corpus from a position on, block by block: `id`, and `text` as models of mteb get it, with the title."""
    for first in range(start, len(corpus), BLOCK):
        block = Dataset.from_dict(corpus[first : first + BLOCK], features=corpus.features)
        yield create_dataloader(block, task_metadata=task_metadata, prompt_type=PromptType.document).dataset[:]


def read_blocks(path: Path, dim: int) -> Iterator[np.ndarray]:
    """The vectors in a file, float32 (at most BLOCK, dim) at a time. Unlike those of a memory map, the pages are not counted as the process's."""
    with path.open("rb") as file:
        while len(block := np.fromfile(file, np.float32, BLOCK * dim)):
            yield block.reshape(-1, dim)


def best_documents(queries: np.ndarray, blocks: Iterable[np.ndarray], top_k: int) -> tuple[np.ndarray, np.ndarray]:
    """The greatest products of queries (queries, dim) with the documents of all blocks (documents, dim), and the positions of these: float32 and
    int64 (queries, min(top_k, documents)), the best first; of equal ones, the first. Rounded from float64, equal documents have equal products."""
    parts = [queries[first : first + QUERIES] for first in range(0, len(queries), QUERIES)]
    # Each query's best documents so far are in the order of the corpus, and before those of the next block.
    scores = [np.empty((len(part), 0), dtype=np.float32) for part in parts]
    positions = [np.empty((len(part), 0), dtype=np.int64) for part in parts]
    first = 0
    for block in blocks:
        numbers = np.arange(first, first + len(block))
        first += len(block)
        for index, part in enumerate(parts):
            products = (part @ block.T).astype(np.float32)
            candidates = np.concatenate([scores[index], products], axis=1)
            candidate_positions = np.concatenate([positions[index], np.broadcast_to(numbers, products.shape)], axis=1)
            best = greatest(candidates, top_k)
            scores[index] = candidates[best].reshape(len(part), -1)
            positions[index] = candidate_positions[best].reshape(len(part), -1)
    all_scores, all_positions = np.concatenate(scores), np.concatenate(positions)
    order = np.argsort(-all_scores, axis=1, kind="stable")
    return np.take_along_axis(all_scores, order, axis=1), np.take_along_axis(all_positions, order, axis=1)


def greatest(values: np.ndarray, count: int) -> np.ndarray:
    """Where the `count` greatest values of each row are, of equal ones the first: bool (rows, columns), true for as many in each row."""
    if values.shape[1] <= count:
        return np.ones(values.shape, dtype=bool)
    least = np.partition(values, -count, axis=1)[:, -count, None]
    greater, equal = values > least, values == least
    free = count - greater.sum(axis=1, keepdims=True)
    return greater | (equal & (np.cumsum(equal, axis=1, dtype=np.int32) <= free))
