"""The features of a task's rows that each method reads: TF-IDF, n-grams of joined texts (the Superlim paper's models), or lines of tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from mtl.base.settings.schema import FloorConfig
from mtl.methods.floors.row_features import Document, RowFeatures, fitted_state, restore_fitted
from mtl.methods.floors.tfidf import TaskFeatures
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

COMPARES_PAIRS = ("overlap", "static", "fasttext")  # methods without features of joined texts
# Of joined texts, as in Superlim's paper: counts or TF-IDF, with the shortest and the longest word n-gram. The best on dev is taken.
VECTORIZERS = {
    f"{name}-1-{longest}": (kind, (1, longest))
    for name, kind in (("counts", CountVectorizer), ("tfidf", TfidfVectorizer))
    for longest in (2, 3)
}
SEPARATOR = " [SEP] "  # between joined texts
END = "</s>"  # which fastText takes for the end of a line


def new_features(method: str, settings: FloorConfig, task: Task, vectorizer: str | None) -> RowFeatures:
    """The features of a task's rows, before they are fitted. `vectorizer` is the one for joined texts; None: texts are not joined."""
    if method == "fasttext":
        return TokenLines()
    if target_kind(task).by_unit:
        return unit_features(settings)
    return joined_features(vectorizer) if vectorizer else TaskFeatures(method, settings, task)


@dataclass
class CountedFeatures(RowFeatures):
    """What one vectorizer of scikit-learn makes of rows, (rows, features)."""

    vectorizer: CountVectorizer
    read: Callable[[Sequence[Document]], Any]  # returns what the vectorizer reads of a row
    problem: str

    def fit(self, rows: Sequence[Sequence[Document]]) -> csr_matrix:
        return self.vectorizer.fit_transform(map(self.read, rows))

    def transform(self, rows: Sequence[Sequence[Document]]) -> csr_matrix:
        return self.vectorizer.transform(map(self.read, rows))

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
