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
from mtl.embedders.vector_files.vector_file import VectorFile, WordVectors
from mtl.methods.floors.entries import FloorKind
from mtl.methods.method import BuildRequest, Method, Predictions, seed_cost
from mtl.tasks.kinds.text import is_word
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

MOST_SCORES = 1 << 24  # cosines computed at once, to limit the memory: 64 MiB
LINE_END = "</s>"  # fastText's entry for the end of a line, which is no word


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
        config, self.settings = request.config, request.config.word_vectors
        assert request.vectors is not None
        self.file = VectorFile(request.vectors)
        self.texts = Expressions(request.dataset.texts, moses(request.suite.language), self.file.read_once)
        check_dim(request.vectors, self.texts.vectors.shape[1], getattr(config.embeddings, "dim", None))
        # The whole file, as an analogy may be answered by any of its words.
        vectors = hashlib.sha256(self.texts.vectors.tobytes()).hexdigest()
        self.fingerprints |= {"embeddings": self.file.sha256(), "embeddings.vectors": vectors}
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
        return seed_cost(len(self.texts.known) * self.texts.vectors.shape[1], 0, self._seconds, peak_memory())

    def cosines(self, split: Split) -> np.ndarray:
        """The cosine of the two sides of each model input, float32 (inputs,); 0 where either has no vector."""
        first, second = (unit_rows(self.texts.vectors[split.texts[:, side]]) for side in (0, 1))
        return np.einsum("ij,ij->i", first, second)

    def _answer(self, task: Task) -> Predictions:
        """The predictions of a task, for all seeds."""
        splits = self.to_predict(task)
        if task.kind == "word":
            return _analogies(self, task, splits)
        answer_split = {"number": _numbers, "choice": _choices}[task.kind]
        return {name: answer_split(task, split, self.cosines(split)) for name, split in splits.items()}

    def _facts(self) -> dict[str, Any]:
        """For the summary: by task, how many words and expressions have no vector, and a note of it."""
        by_task = {}
        for task in self.dataset.tasks:
            if splits := self.dataset.splits[task.id].values():
                by_task[task.id] = self.texts.counts(np.concatenate([split.texts.ravel() for split in splits]))
        missing = [
            f"{id} {counts['words_without_vector']} of {counts['words']} words,"
            f" {counts['expressions_without_vector']} of {counts['expressions']} expressions"
            for id, counts in by_task.items()
        ]
        return {"word_vectors": by_task, "notes": [f"Without a vector in {self.file.path.name}: {'; '.join(missing)}."]}


def _numbers(task: Task, split: Split, cosines: np.ndarray) -> np.ndarray:
    """The cosine in the task's range, 10 × cosine for 0 to 10, rounded to a hundredth of the range."""
    low, high = task.bounds
    hundredths = np.round(100 * cosines.astype(np.float64))
    return np.clip(np.round(low + (high - low) * hundredths / 100, 9), low, high)


def _choices(task: Task, split: Split, cosines: np.ndarray) -> np.ndarray:
    """The candidate with the highest cosine; among equals, the first. Candidates without a vector have the cosine 0."""
    assert split.sizes is not None
    rows = np.split(cosines, np.cumsum(split.sizes)[:-1])
    return first_choices(np.array([np.argmax(row) for row in rows]), split.texts, split.sizes)


def _analogies(method: WordVectorMethod, task: Task, splits: Mapping[str, Split]) -> Predictions:
    """For "a is to b as c is to": the word nearest to b - a + c (or a - b + c), or c if this is zero, as words without a vector are."""
    texts = np.concatenate([split.texts for split in splits.values()])  # all at once: a search reads the whole file
    a, b, c = (method.texts.vectors[texts[:, side]] for side in range(3))
    queries = b - a + c if method.settings.algebra == "b-a+c" else a - b + c
    answers = np.array([method.dataset.texts[text] for text in texts[:, 2]], dtype=object)
    if (searched := queries.any(axis=1)).any():
        answers[searched] = _nearest_words(method, task, queries[searched], texts[searched])
    ends = np.cumsum([len(split) for split in splits.values()])[:-1]
    return dict(zip(splits, np.split(answers, ends), strict=True))


def _nearest_words(method: WordVectorMethod, task: Task, queries: np.ndarray, texts: np.ndarray) -> list[str | None]:
    """The word nearest to each query that is not in its question, which has three texts, int64 (queries, 3). Raises InputError if there is none."""
    questions = [[method.dataset.texts[text] for text in row] for row in texts]
    words = [chain.from_iterable(method.texts.words[text] for text in row) for row in texts]  # of each question
    excluded = [{*question, *parts} for question, parts in zip(questions, words, strict=True)]
    nearest = nearest_words(method.file.blocks(), queries, excluded)
    if None in nearest:
        question = f"{task.id}'s {' : '.join(questions[nearest.index(None)])!r}"
        message = f"has no word that could answer {question}; give a file with more words in embeddings.path"
        raise InputError(message, path=method.file.path)
    return nearest


def unit_rows(vectors: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The rows scaled to length 1, (rows, dim), in a new array or in `out`; rows of zeros stay as they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    out = np.zeros_like(vectors) if out is None else out
    return np.divide(vectors, lengths[:, None], out=out, where=lengths[:, None] > 0)


def nearest_words(
    blocks: Iterable[tuple[Sequence[str], np.ndarray]], queries: np.ndarray, excluded: Sequence[Iterable[str]]
) -> list[str | None]:
    """For each query the word of a file whose vector has the highest cosine with it; among equals, the first. None if no word is left.

    Queries are float32 (queries, dim), not zero. The blocks hold words and their vectors, float32 (words, dim), which are overwritten.
    `excluded` has the words that are no answer to each query. No query is answered by what is not `is_word`."""
    directions = unit_rows(queries).T
    barred: dict[str, list[int]] = {}  # by word, the queries that it is no answer to
    for query, no_answers in enumerate(excluded):
        for word in set(no_answers):
            barred.setdefault(word, []).append(query)
    best = np.full(len(queries), -np.inf, dtype=np.float32)
    nearest: list[str | None] = [None] * len(queries)
    step = max(1, MOST_SCORES // max(1, len(queries)))
    for words, vectors in blocks:
        unit_rows(vectors, out=vectors)
        for start in range(0, len(words), step):
            scores = vectors[start : start + step] @ directions
            for row, word in enumerate(words[start : start + step]):
                if word == LINE_END or not is_word(word):
                    scores[row] = -np.inf
                elif word in barred:
                    scores[row, barred[word]] = -np.inf
            highest = scores.argmax(axis=0)
            values = scores[highest, np.arange(len(queries))]
            for query in np.flatnonzero(values > best).tolist():
                best[query], nearest[query] = values[query], words[start + highest[query]]
    return nearest
