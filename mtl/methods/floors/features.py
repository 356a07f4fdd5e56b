"""The features that estimators read: of a row's text, its pair of texts, its texts joined into one (the Superlim paper's models), or a unit."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import StandardScaler, normalize

from mtl.base.progress import progress
from mtl.base.settings.schema import FloorConfig
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LEAST_SCALE = 1e-100  # of cosines, so that scaled ones are finite
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
END = "</s>"  # which fastText takes for the end of a line
Vectors = Mapping[str, csr_matrix]  # TF-IDF by kind of n-grams: (texts, n-grams)
Matrix: TypeAlias = csr_matrix | np.ndarray  # features: (inputs, features)


class Document(NamedTuple):
    """A text and its tokens."""

    text: str
    tokens: list[str]


class RowFeatures:
    """What turns rows, which are model inputs, into features. Each row has equally many documents."""

    problem = "its training texts are empty"  # what messages say if training rows have nothing to learn from

    def fit(self, rows: Sequence[Sequence[Document]]) -> Any:
        """Learn from training rows, and return what the estimator reads: a matrix (rows, features), or a line for each row. Raises ValueError if the
        rows have nothing to learn from."""
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


def new_features(method: str, settings: FloorConfig, task: Task, vectorizer: str | None) -> RowFeatures:
    """The features of a task's rows, before they are fitted. `vectorizer` is the one for joined texts; None: texts are not joined."""
    if method == "fasttext":
        return TokenLines()
    if target_kind(task).by_unit:
        return unit_features(settings)
    return joined_features(vectorizer) if vectorizer else TaskFeatures(method, settings, task)


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
            state |= {"mean": torch.from_numpy(self._scaler.mean_), "scale": torch.from_numpy(self._scaler.scale_)}
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        for kind, vectorizer in self._vectorizers.items():
            restore_fitted(vectorizer, state[kind])
        if self._task.is_pair:
            self._scaler.mean_ = finite_numbers(state["mean"], (len(KINDS),))
            self._scaler.scale_ = finite_numbers(state["scale"], (len(KINDS),))
            if (self._scaler.scale_ < LEAST_SCALE).any():
                raise ValueError("its cosines have no scale")
            self._scaler.n_features_in_ = len(KINDS)

    def _features(self, sides: Sequence[Vectors]) -> Matrix:
        if not self._task.is_pair:
            return bag(sides)
        return pair_features(self._method, sides, self._scaler.transform(cosines(sides)))


def new_vectorizers(config: FloorConfig) -> dict[str, TfidfVectorizer]:
    """TF-IDF of word n-grams, and of character n-grams within words, both in lower case, by kind. Term frequencies are on a logarithmic scale. Each
    kind's vector has length 1, or 0 for a text with no known n-gram."""
    common = {"min_df": config.min_count, "max_features": config.max_features, "sublinear_tf": True}
    words = {"tokenizer": _lower_tokens, "token_pattern": None, "lowercase": False}
    characters = {"preprocessor": lambda document: document.text.lower(), "analyzer": "char_wb"}
    return {
        "words": TfidfVectorizer(**words, ngram_range=WORD_NGRAMS, **common),
        "characters": TfidfVectorizer(**characters, ngram_range=CHARACTER_NGRAMS, **common),
    }


def bag(sides: Sequence[Vectors]) -> csr_matrix:
    """The sum of the TF-IDF vectors of each row's texts, scaled to length 1: (rows, n-grams of both kinds)."""
    return hstack([normalize(sum(side[kind] for side in sides)) for kind in KINDS], format="csr")


def cosines(sides: Sequence[Vectors]) -> np.ndarray:
    """The cosine of a pair's two vectors by kind of n-grams, float64 (rows, 2), between 0 and 1."""
    return _row_sums(_products(sides))


def pair_features(method: str, sides: Sequence[Vectors], standardized: np.ndarray) -> Matrix:
    """What a method reads of pairs, (rows, features). Linear models and naive Bayes: the pair's n-grams (`bag`), |u - v| and u * v of each kind, and
    the cosines. Trees: the last three, and the sums of |u - v|. A forest: copies of the four that compare whole texts, too; of the sqrt(n) features
    that it draws at each split, two are such copies on average. Overlap: only the cosines.

    `standardized` are the cosines of the two sides, (rows, 2), standardized by the mean and the standard deviation over the training rows, so that
    they need no large weights; naive Bayes, which takes no negative number, and overlap read them as they are."""
    if method == "overlap":
        return cosines(sides)
    first, second = sides
    differences = [abs(first[kind] - second[kind]) for kind in KINDS]
    compared = [*differences, *_products(sides)]
    if method not in ("tree", "forest"):
        similarities = cosines(sides) if method == "naive_bayes" else standardized
        return hstack([bag(sides), *compared, similarities], format="csr")
    features = hstack([*compared, standardized, _row_sums(differences)], format="csr")
    copies = round(features.shape[1] ** 0.5 / 2) if method == "forest" else 0
    return hstack([features, *[features[:, -4:]] * copies], format="csr")


def _products(sides: Sequence[Vectors]) -> list[csr_matrix]:
    """The product of a pair's two vectors, number by number, for each kind of n-grams."""
    first, second = sides
    return [first[kind].multiply(second[kind]) for kind in KINDS]


def _row_sums(matrices: Sequence[csr_matrix]) -> np.ndarray:
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


def _lower_tokens(document: Document) -> list[str]:
    return [token.lower() for token in document.tokens]


class CountedFeatures(RowFeatures):
    """What one vectorizer of scikit-learn makes of rows, (rows, features)."""

    def __init__(self, vectorizer: CountVectorizer, read: Callable[[Sequence[Document]], Any], problem: str) -> None:
        """`read` returns what the vectorizer reads of a row."""
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
    return CountedFeatures(counted, lambda row: SEPARATOR.join(document.text for document in row), problem)


def unit_features(config: FloorConfig) -> CountedFeatures:
    """The features of units (`TargetKind.unit_features`), each there or not."""
    limits = {"min_df": config.min_count, "max_features": config.max_features}
    vectorizer = CountVectorizer(analyzer=list, binary=True, dtype=np.int8, **limits)
    problem = "no feature of its units occurs often enough; set a smaller floor.min_count"
    return CountedFeatures(vectorizer, lambda row: row[0].tokens, problem)


class TokenLines(RowFeatures):
    """What fastText reads of rows: a line of the tokens of each row, in lower case. Those of a pair have marks that say what other floors' features
    say with numbers: 1: only in the first text, 2: only in the second one, =: in both."""

    def transform(self, rows: Sequence[Sequence[Document]]) -> list[str]:
        """One line for each row."""
        return [" ".join(self._tokens(row)) for row in rows]

    def _tokens(self, row: Sequence[Document]) -> list[str]:
        sides = [[token.lower() for token in document.tokens if token != END] for document in row]
        if len(sides) == 1:
            return sides[0]
        shared = {*sides[0]} & {*sides[1]}
        marked = zip("12", sides, strict=True)
        return [f"={token}" if token in shared else f"{mark}:{token}" for mark, side in marked for token in side]


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
