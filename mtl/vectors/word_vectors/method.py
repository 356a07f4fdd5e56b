"""Tasks on words and expressions, answered by their vectors alone (the Superlim paper's static vectors)."""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.memory import peak_memory
from mtl.base.settings.schema import Config
from mtl.data.dataset import Split, first_choices
from mtl.data.text import Tokenizer, moses
from mtl.embedders import EMBEDDERS
from mtl.embedders.find import check_dim, check_word_file
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.embedders.vector_files.word_index import WordVectors
from mtl.methods.floors.entries import FloorKind
from mtl.methods.method import BuildRequest, Method, Predictions, SeedCost
from mtl.tasks.kinds.text import is_word
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

MOST_COSINES = 1 << 24  # that are computed at once, to limit the memory: 64 MiB
LINE_END = "</s>"  # fastText's entry for the end of a line, which is no word
Block = tuple[Sequence[str], np.ndarray]  # words of a file, and their vectors, float32 (words, dim)


class WordVectorKind(FloorKind):
    """The registry entry: tasks on words, answered by a file of word vectors alone."""

    reads = ("embeddings", "embeddings_dir", "embeddings.path", "embeddings.dim", "word_vectors.")
    builds = "mtl.vectors.word_vectors.method:WordVectorMethod"
    is_deterministic = True

    def title(self, config: Config) -> str:
        return f"{self.label}, {EMBEDDERS[config.embeddings.name].title}"

    def describe(self, config: Config) -> dict[str, str]:
        return {"embeddings": config.embeddings.name}

    def answers(self, task: Task) -> bool:
        """Whether the target is a number or a choice for two texts, or a word that completes an analogy of three."""
        return {"number": 2, "choice": 2, "word": 3}.get(task.kind) == task.sides

    def check(self, config: Config, suite: Suite) -> None:
        check_word_file(config)


WORD_VECTORS = WordVectorKind("word_vectors", "Word vectors")


class Expressions:
    """Texts of one or more words, and the mean of the vectors of each text's known words."""

    def __init__(self, texts: Sequence[str], tokenize: Tokenizer, read: Callable[[Sequence[str]], WordVectors]) -> None:
        self.words = [tokenize(text) for text in texts]  # of each text
        rows = {word: row for row, word in enumerate(dict.fromkeys(chain.from_iterable(self.words)))}
        read_vectors = read(list(rows))
        self.known = dict(zip(rows, read_vectors.has_vector.tolist(), strict=True))  # by word, whether it has a vector
        self.vectors = np.zeros((len(texts), read_vectors.dim), dtype=np.float32)  # the means; zeros: no word is known
        for text, words in enumerate(self.words):
            if known_rows := [rows[word] for word in words if self.known[word]]:
                self.vectors[text] = read_vectors.vectors[known_rows].mean(axis=0)

    def counts(self, texts: np.ndarray) -> dict[str, int]:
        """How many of these texts (int64 indices, which may repeat) and of their distinct words there are, and how many have no vector."""
        expressions = [self.words[text] for text in np.unique(texts)]
        words = set(chain.from_iterable(expressions))
        return {
            "expressions": len(expressions),
            "expressions_without_vector": sum(not any(map(self.known.get, expression)) for expression in expressions),
            "words": len(words),
            "words_without_vector": sum(not self.known[word] for word in words),
        }


class WordVectorMethod(Method):
    """`mtl.methods.method.Method` of word vectors. Nothing is drawn at random: all seeds have the same predictions."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for vectors that cannot be read, or that do not have `embeddings.dim` numbers (None: any)."""
        super().__init__(request)
        self.settings = request.config.word_vectors
        assert request.vectors is not None
        self.file = VectorFile(request.vectors)
        self.texts = Expressions(request.dataset.texts, moses(request.suite.language), self.file.read_once)
        check_dim(request.vectors, self.texts.vectors.shape[1], getattr(request.config.embeddings, "dim", None))
        # The whole file counts, too, as an analogy may be answered by any of its words.
        self.fingerprints["embeddings"] = self.file.sha256()
        self.fingerprints["embeddings.vectors"] = hashlib.sha256(self.texts.vectors.tobytes()).hexdigest()
        self.facts |= self._facts()
        self._answers: dict[str, Predictions] = {}  # by task, for all seeds
        self._seconds = 0.0

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for source in self.dataset.trained_tasks:
            for task in self.dataset.answered(source):
                if task.id not in self._answers:
                    start = time.monotonic()
                    self._answers[task.id] = self._answer(task)
                    self._seconds += time.monotonic() - start
                yield task, self._answers[task.id]

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """The seconds are those of the first seed of this process, which searches for all; the parameters are those of all distinct words."""
        parameters = len(self.texts.known) * self.texts.vectors.shape[1]
        return SeedCost(parameters, 0, finetune_seconds=self._seconds, peak_memory=peak_memory())._asdict()

    def _facts(self) -> dict[str, Any]:
        """For the summary: by task, how many words and expressions have no vector, and a note of it."""
        by_task, missing = {}, []
        for task in self.dataset.tasks:
            if splits := self.dataset.splits[task.id].values():
                counts = self.texts.counts(np.concatenate([split.texts.ravel() for split in splits]))
                by_task[task.id] = counts
                words = f"{counts['words_without_vector']} of {counts['words']} words"
                expressions = f"{counts['expressions_without_vector']} of {counts['expressions']} expressions"
                missing.append(f"{task.id} {words}, {expressions}")
        return {"word_vectors": by_task, "notes": [f"Without a vector in {self.file.path.name}: {'; '.join(missing)}."]}

    def _answer(self, task: Task) -> Predictions:
        splits = self.to_predict(task)
        if task.kind == "word":
            return self._complete_analogies(task, splits)
        if task.kind == "number":
            return {name: _numbers(task, self.cosines(split)) for name, split in splits.items()}
        return {name: _choices(split, self.cosines(split)) for name, split in splits.items()}

    def cosines(self, split: Split) -> np.ndarray:
        """The cosine of the two sides of each model input, float32 (inputs,); 0 where either has no vector."""
        first, second = (unit_rows(self.texts.vectors[split.texts[:, side]]) for side in (0, 1))
        return np.einsum("ij,ij->i", first, second)

    def _complete_analogies(self, task: Task, splits: Mapping[str, Split]) -> Predictions:
        """For "a is to b as c is to": the word nearest to b - a + c (or a - b + c), or c if this is zero, as words without a vector are."""
        texts = np.concatenate([split.texts for split in splits.values()])  # all at once: a search reads the whole file
        a, b, c = (self.texts.vectors[texts[:, side]] for side in range(3))
        queries = b - a + c if self.settings.algebra == "b-a+c" else a - b + c
        answers = np.array([self.dataset.texts[text] for text in texts[:, 2]], dtype=object)
        is_searched = queries.any(axis=1)
        if is_searched.any():
            answers[is_searched] = self._analogy_words(task, queries[is_searched], texts[is_searched])
        ends = np.cumsum([len(split) for split in splits.values()])[:-1]
        return dict(zip(splits, np.split(answers, ends), strict=True))

    def _analogy_words(self, task: Task, queries: np.ndarray, texts: np.ndarray) -> list[str | None]:
        """The word nearest to each query that is not in its question, which is a row of `texts`, (queries, 3). Raises InputError if there is none."""
        questions = [[self.dataset.texts[text] for text in row] for row in texts]
        excluded = []
        for row, question in zip(texts, questions, strict=True):
            excluded.append(question + [word for text in row for word in self.texts.words[text]])
        nearest = nearest_words(self.file.blocks(), queries, excluded)
        if None in nearest:
            unanswered = f"{task.id}'s {' : '.join(questions[nearest.index(None)])!r}"
            message = f"has no word that could answer {unanswered}; give a file with more words in embeddings.path"
            raise InputError(message, path=self.file.path)
        return nearest


def _numbers(task: Task, cosines: np.ndarray) -> np.ndarray:
    """The cosine in the task's range, 10 × cosine for 0 to 10, rounded to a hundredth of the range."""
    low, high = task.bounds
    hundredths = np.round(100 * cosines.astype(np.float64))
    return np.clip(np.round(low + (high - low) * hundredths / 100, 9), low, high)


def _choices(split: Split, cosines: np.ndarray) -> np.ndarray:
    """The candidate with the highest cosine; among equals, the first. Candidates without a vector have the cosine 0."""
    assert split.sizes is not None
    rows = np.split(cosines, np.cumsum(split.sizes)[:-1])
    return first_choices(np.array([np.argmax(row) for row in rows]), split.texts, split.sizes)


def nearest_words(blocks: Iterable[Block], queries: np.ndarray, excluded: Sequence[Iterable[str]]) -> list[str | None]:
    """For each query, float32 (queries, dim), not zero, the word whose vector has the highest cosine; among equals, the first; None if no word is
    left. The vectors of the blocks are overwritten. `excluded` has the words that are no answer to each query; nor is what is not `is_word`."""
    directions = unit_rows(queries).T
    barred_queries: dict[str, list[int]] = {}  # by word, those that it is no answer to
    for query, no_answers in enumerate(excluded):
        for word in no_answers:
            barred_queries.setdefault(word, []).append(query)
    highest = np.full(len(queries), -np.inf, dtype=np.float32)  # the cosines of the nearest words so far
    nearest: list[str | None] = [None] * len(queries)
    step = max(1, MOST_COSINES // max(1, len(queries)))
    for all_words, all_vectors in blocks:
        unit_rows(all_vectors, out=all_vectors)
        for start in range(0, len(all_words), step):
            words = all_words[start : start + step]
            cosines = all_vectors[start : start + step] @ directions
            for row, word in enumerate(words):
                if word == LINE_END or not is_word(word):
                    cosines[row] = -np.inf
                elif word in barred_queries:
                    cosines[row, barred_queries[word]] = -np.inf
            rows = cosines.argmax(axis=0)
            best = cosines[rows, np.arange(len(queries))]
            for query in np.flatnonzero(best > highest).tolist():
                highest[query] = best[query]
                nearest[query] = words[rows[query]]
    return nearest


def unit_rows(vectors: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The rows scaled to length 1, (rows, dim), in a new array or in `out`; rows of zeros stay as they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    out = np.zeros_like(vectors) if out is None else out
    return np.divide(vectors, lengths[:, None], out=out, where=lengths[:, None] > 0)
