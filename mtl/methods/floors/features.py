"""What estimators read: features of a row's text, of its pair of texts, or of its texts joined into one (the Superlim paper's classical models)."""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import StandardScaler, normalize

from mtl.base.progress import progress
from mtl.base.settings.schema import FloorConfig
from mtl.data.dataset import Split, last_texts, marked_texts
from mtl.tasks.targets import TARGET_KINDS, target_kind
from mtl.tasks.task import Task

LEAST_SCALE = 1e-100  # of cosines, so that scaled ones are finite
MOST_UNITS = 2_000_000  # of training rows that linear models learn from, unless `floor.train_rows` says otherwise
KINDS = ("words", "characters")  # of n-grams, in the order of the features
COMPARES_PAIRS = ("overlap", "static", "fasttext")  # methods without features of joined texts
WORD_NGRAMS, CHARACTER_NGRAMS = (1, 2), (2, 5)  # the shortest and the longest one
# Of joined texts, as in Superlim's paper: counts or TF-IDF, with the shortest and the longest word n-gram. The best on dev is taken.
VECTORIZERS = {
    f"{name}-1-{longest}": (kind, (1, longest))
    for name, kind in (("counts", CountVectorizer), ("tfidf", TfidfVectorizer))
    for longest in (2, 3)
}
SEPARATOR = " [SEP] "  # between joined texts
Vectors = Mapping[str, csr_matrix]  # TF-IDF by kind of n-grams: (texts, n-grams)
Matrix: TypeAlias = csr_matrix | np.ndarray  # features: (rows, features)


class Document(NamedTuple):
    """A text and its tokens."""

    text: str
    tokens: list[str]


def unit_inputs(task: Task, split: Split, texts: Sequence[str]) -> Split:
    """The split of a task with units, each unit being an input of its own, as candidates of a choice are; any other split as it is."""
    if not TARGET_KINDS[task.kind].by_unit:
        return split
    kind = target_kind(task)
    sizes = np.array([len(kind.units(text)) for text in last_texts(task, split, texts)], dtype=np.int64)
    return replace(split, texts=np.repeat(split.texts, sizes, axis=0), sizes=sizes)


class RowFeatures:
    """What turns rows into features; `problem` says what is wrong if training rows have nothing to learn them from."""

    problem = "its training texts are empty"

    def fit(self, rows: Sequence[Sequence[Document]]) -> Any:
        """Learn from the documents of training rows, equally many in each, and return what the estimator reads: a matrix
        (rows, features), or lines. Raises ValueError if they have nothing to learn from. Here, nothing is learned."""
        return self.transform(rows)

    def transform(self, rows: Sequence[Sequence[Document]]) -> Any:
        """The features of rows, as `fit` returns them."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """What they have learned, as tensors and plain values; only features that can be kept."""
        raise NotImplementedError

    def restore(self, state: Mapping[str, Any]) -> None:
        """Learn what others with the same settings had learned. A state of another form raises KeyError, TypeError, ValueError or RecursionError."""
        raise NotImplementedError


def documents_of(
    task: Task,
    split: Split,
    texts: Sequence[str],
    words: Callable[[int], list[str]] | None,
    wanted: np.ndarray | None = None,
) -> Any:
    """The parts of each model input of a split, lists of documents that are read once: its texts, with their words. Of each unit of a split that
    `unit_inputs` returned, its features.

    Args:
        texts: those that the split has the numbers of.
        words: of the text with a number; None for `joined_features`, which read no words, but then what is marked in the texts.
        wanted: the numbers of the inputs that are wanted, in ascending order; None: all.
    """
    if TARGET_KINDS[task.kind].by_unit:
        return unit_documents(task, split, texts, wanted)
    documents = {text: Document(texts[text], words(text) if words else []) for text in np.unique(split.texts).tolist()}
    rows = [[documents[text] for text in row] for row in split.texts.tolist()]
    if not words and task.marked:
        marked = marked_texts(task, split, texts)
        rows = [[*row, *(Document(text, []) for text in spans)] for row, spans in zip(rows, marked, strict=True)]
    return rows if wanted is None else [rows[number] for number in wanted.tolist()]


def fitted_state(vectorizer: CountVectorizer) -> dict[str, Any]:
    """The n-grams that a vectorizer has chosen, as one text, and their weights, if it weights them: what `restore_fitted` takes."""
    ngrams = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.__getitem__)
    state: dict[str, Any] = {"ngrams": json.dumps(ngrams)}
    if isinstance(vectorizer, TfidfVectorizer):
        state["idf"] = torch.from_numpy(vectorizer.idf_)
    return state


def restore_fitted(vectorizer: CountVectorizer, state: Mapping[str, Any]) -> None:
    """Give an unfitted vectorizer what `fitted_state` described, which is not trusted. Errors are those of `RowFeatures.restore`."""
    ngrams = json.loads(state["ngrams"])
    if not isinstance(ngrams, list) or not all(isinstance(ngram, str) for ngram in ngrams):
        raise ValueError("its vocabulary is no list of n-grams")
    # The numbers of n-grams that occur twice would lie outside of the matrices, and scipy would read other memory.
    if not ngrams or len(set(ngrams)) < len(ngrams):
        raise ValueError("its vocabulary has no n-gram, or one of them twice")
    vectorizer.vocabulary_ = {ngram: number for number, ngram in enumerate(ngrams)}
    if isinstance(vectorizer, TfidfVectorizer):
        vectorizer.idf_ = finite_numbers(state["idf"], (len(ngrams),))


def finite_numbers(tensor: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A tensor of finite float64 numbers as an array. Raises ValueError for anything else, and for another shape."""
    if not isinstance(tensor, torch.Tensor) or tensor.dtype != torch.float64:
        raise ValueError("has something else where numbers are expected")
    if tensor.shape != shape:
        raise ValueError(f"has {list(tensor.shape)} numbers where {list(shape)} are expected")
    if not tensor.isfinite().all():
        raise ValueError("has a number that is not finite")
    return tensor.detach().resolve_neg().numpy()


def new_vectorizers(config: FloorConfig) -> dict[str, TfidfVectorizer]:
    """TF-IDF of word n-grams, and of character n-grams within words, both in lower case, by kind. Term frequencies are on a logarithmic scale. Each
    kind's vector has length 1, or 0 for a text with no known n-gram."""
    common = {"min_df": config.min_count, "max_features": config.max_features, "sublinear_tf": True}
    words = {"tokenizer": _tokens, "token_pattern": None, "lowercase": False}
    characters = {"preprocessor": lambda document: document.text.lower(), "analyzer": "char_wb"}
    return {
        "words": TfidfVectorizer(**words, ngram_range=WORD_NGRAMS, **common),
        "characters": TfidfVectorizer(**characters, ngram_range=CHARACTER_NGRAMS, **common),
    }


class TaskFeatures(RowFeatures):
    """The features that a method reads for the rows of one task: `pair_features` of pairs, `bag` of all others."""

    def __init__(self, method: str, config: FloorConfig, task: Task) -> None:
        self._method, self._task = method, task
        self._vectorizers = new_vectorizers(config)
        self._scaler = StandardScaler()
        self.problem = f"no n-gram occurs in floor.min_count={config.min_count} training texts; set fewer"

    def fit(self, rows: Sequence[Sequence[Document]]) -> Matrix:
        """Choose the n-grams and their weights from the distinct texts of training rows; return the rows' features."""
        documents, indices = _distinct(rows)
        vectors = {
            kind: vectorizer.fit_transform(progress(documents, f"{self._task.id} · n-grams of {kind}", "texts"))
            for kind, vectorizer in self._vectorizers.items()
        }
        sides = _sides(vectors, indices)
        if self._task.is_pair:
            self._scaler.fit(cosines(sides))
        return self._features(sides)

    def transform(self, rows: Sequence[Sequence[Document]]) -> Matrix:
        """The features of rows, (rows, features)."""
        documents, indices = _distinct(rows)
        vectors = {kind: vectorizer.transform(documents) for kind, vectorizer in self._vectorizers.items()}
        return self._features(_sides(vectors, indices))

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {kind: fitted_state(vectorizer) for kind, vectorizer in self._vectorizers.items()}
        if self._task.is_pair:
            state |= {name: torch.from_numpy(getattr(self._scaler, f"{name}_")) for name in ("mean", "scale")}
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        for kind, vectorizer in self._vectorizers.items():
            restore_fitted(vectorizer, state[kind])
        if self._task.is_pair:
            mean, scale = (finite_numbers(state[name], (len(KINDS),)) for name in ("mean", "scale"))
            self._scaler.mean_, self._scaler.scale_ = mean, scale
            if (self._scaler.scale_ < LEAST_SCALE).any():
                raise ValueError("its cosines have no scale")
            self._scaler.n_features_in_ = len(KINDS)

    def _features(self, sides: Sequence[Vectors]) -> Matrix:
        if not self._task.is_pair:
            return bag(sides)
        return pair_features(self._method, sides, self._scaler.transform(cosines(sides)))


def bag(sides: Sequence[Vectors]) -> csr_matrix:
    """The sum of the TF-IDF vectors of each row's texts, scaled to length 1: (rows, n-grams of both kinds)."""
    return hstack([normalize(sum(side[kind] for side in sides)) for kind in KINDS], format="csr")


def cosines(sides: Sequence[Vectors]) -> np.ndarray:
    """The cosine of a pair's two vectors by kind of n-grams, float64 (rows, 2), between 0 and 1."""
    return _sums(_products(sides))


def pair_features(method: str, sides: Sequence[Vectors], standardized: np.ndarray) -> Matrix:
    """What a method reads of pairs, (rows, features). Linear models and naive Bayes: the pair's n-grams (`bag`), |u - v| and u * v of each kind, and
    the cosines. Trees: the last three, and the sums of |u - v|. A forest: copies of the four that compare whole texts, too; of the sqrt(n) features
    that it draws at each split, two are such copies on average. Overlap: only the cosines.

    Args:
        sides: the vectors of the two sides.
        standardized: their cosines, (rows, 2), standardized by the mean and the standard deviation over the training rows, so that they
            need no large weights; naive Bayes, which takes no negative number, and overlap read them as they are.
    """
    if method == "overlap":
        return cosines(sides)
    first, second = sides
    differences = [abs(first[kind] - second[kind]) for kind in KINDS]
    compared = [*differences, *_products(sides)]
    if method not in ("tree", "forest"):
        whole = cosines(sides) if method == "naive_bayes" else standardized
        return hstack([bag(sides), *compared, whole], format="csr")
    features = hstack([*compared, standardized, _sums(differences)], format="csr")
    copies = round(features.shape[1] ** 0.5 / 2) if method == "forest" else 0
    return hstack([features, *[features[:, -4:]] * copies], format="csr")


def _products(sides: Sequence[Vectors]) -> list[csr_matrix]:
    first, second = sides
    return [first[kind].multiply(second[kind]) for kind in KINDS]


def _sums(matrices: Sequence[csr_matrix]) -> np.ndarray:
    """The sum of each row of each matrix, (rows, matrices)."""
    return np.column_stack([np.asarray(matrix.sum(axis=1)).ravel() for matrix in matrices])


def _distinct(rows: Sequence[Sequence[Document]]) -> tuple[list[Document], np.ndarray]:
    """The distinct documents of the rows, and the index of each row's documents in them, int64 (rows, sides)."""
    documents = {document.text: document for row in rows for document in row}
    index = {text: number for number, text in enumerate(documents)}
    return list(documents.values()), np.array([[index[document.text] for document in row] for row in rows])


def _sides(vectors: Vectors, indices: np.ndarray) -> list[Vectors]:
    """The vectors of the rows' first texts, and of the second texts of pairs."""
    return [{kind: matrix[side] for kind, matrix in vectors.items()} for side in indices.T]


def _tokens(document: Document) -> list[str]:
    return [token.lower() for token in document.tokens]


class CountedFeatures(RowFeatures):
    """What one vectorizer of scikit-learn makes of rows, (rows, features)."""

    def __init__(self, vectorizer: CountVectorizer, read: Callable[[Sequence[Document]], Any], problem: str) -> None:
        """`read` gives what the vectorizer reads of a row."""
        self.vectorizer, self._read, self.problem = vectorizer, read, problem

    def fit(self, rows: Sequence[Sequence[Document]]) -> csr_matrix:
        """Choose the features, and their weights, from training rows; return the rows'."""
        return self.vectorizer.fit_transform(map(self._read, rows))

    def transform(self, rows: Sequence[Sequence[Document]]) -> csr_matrix:
        """The features of rows."""
        return self.vectorizer.transform(map(self._read, rows))

    def state(self) -> dict[str, Any]:
        return fitted_state(self.vectorizer)

    def restore(self, state: Mapping[str, Any]) -> None:
        restore_fitted(self.vectorizer, state)


def joined_features(vectorizer: str) -> CountedFeatures:
    """Counts or TF-IDF of word n-grams (VECTORIZERS) with scikit-learn's words (two or more letters or digits), as they are written."""
    kind, lengths = VECTORIZERS[vectorizer]
    problem = "its training texts have no word of two letters or digits"
    counted = kind(ngram_range=lengths, lowercase=False)
    return CountedFeatures(counted, lambda row: SEPARATOR.join(part.text for part in row), problem)


def unit_documents(
    task: Task, split: Split, texts: Sequence[str], wanted: np.ndarray | None
) -> Iterator[list[Document]]:
    """The units of a split that `unit_inputs` returned, made when they are read: all at once, those of SQuAD would need 30 GB."""
    assert split.sizes is not None
    numbers = np.arange(len(split.texts))
    is_wanted = np.ones(len(numbers), dtype=bool) if wanted is None else np.isin(numbers, wanted)
    for stop, size in zip(np.cumsum(split.sizes).tolist(), split.sizes.tolist(), strict=True):
        chosen = np.flatnonzero(is_wanted[stop - size : stop]).tolist()
        if chosen:
            units = target_kind(task).unit_features([texts[text] for text in split.texts[stop - size].tolist()])
            yield from ([Document("", units[number])] for number in chosen)


def unit_features(config: FloorConfig) -> CountedFeatures:
    """The features of units (`TargetKind.unit_features`), each there or not."""
    limits = {"min_df": config.min_count, "max_features": config.max_features}
    vectorizer = CountVectorizer(analyzer=list, binary=True, dtype=np.int8, **limits)
    problem = "no feature of its units occurs often enough; set a smaller floor.min_count"
    return CountedFeatures(vectorizer, lambda row: row[0].tokens, problem)


def training_inputs(task: Task, train: Split, most_rows: int | None, in_pairs: bool) -> tuple[np.ndarray, np.ndarray]:
    """The inputs of the training rows, or of `most_rows` of them that are evenly spread over the file; of a split with units, of as many rows as have
    MOST_UNITS. With `in_pairs`, a row of a choice has two: its right candidate, and a wrong one, drawn at random, equally for all seeds."""
    rows = np.arange(len(train))
    if most_rows is None and target_kind(task).by_unit and train.sizes is not None:
        most_rows = max(1, MOST_UNITS * len(train) // max(MOST_UNITS, int(train.sizes.sum())))
    if most_rows is not None and most_rows < len(train):
        rows = np.arange(most_rows) * len(train) // most_rows
    inputs = _right_and_wrong(task, train, rows) if in_pairs and train.sizes is not None else train.inputs(rows)
    return inputs, target_kind(task).fit_targets(train.targets, train.sizes)[inputs]


def _right_and_wrong(task: Task, train: Split, rows: np.ndarray) -> np.ndarray:
    """The inputs of each row's right candidate and of one of its wrong ones, int64. A row with one candidate has no wrong one."""
    rng = np.random.default_rng(zlib.crc32(task.id.encode()))
    indices: list[int] = []
    for row in rows.tolist():
        inputs, right = train.inputs(np.array([row])), int(train.targets[row])
        indices.append(inputs[right])
        if len(inputs) > 1:
            indices.append(rng.choice(np.delete(inputs, right)))
    return np.array(indices)
