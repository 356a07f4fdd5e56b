"""Features of a row whose texts are joined into one: the features of the Superlim paper's classical models."""

from collections.abc import Sequence

from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from mtl.methods.floors.features import Document

VECTORIZERS = {"counts": CountVectorizer, "tfidf": TfidfVectorizer}


class JoinedFeatures:
    """Counts or TF-IDF of word n-grams, with scikit-learn's own words (two or more letters or digits) and its defaults, but without
    lower-casing.

    problem: the error to report if the training texts have no word.
    """

    problem = "its training texts have no word of two letters or digits"

    def __init__(self, vectorizer: str, separator: str) -> None:
        """vectorizer: counts or tfidf with its shortest and longest n-gram, as in "tfidf-1-2". separator: between the texts."""
        weights, shortest, longest = vectorizer.split("-")
        self._vectorizer = VECTORIZERS[weights](ngram_range=(int(shortest), int(longest)), lowercase=False)
        self._separator = separator

    def fit(self, rows: Sequence[Sequence[Document]]) -> csr_matrix:
        """Choose the n-grams, and their weights, from training rows; return the rows' features, (rows, n-grams).

        rows: the texts of each row, in the order in which they are joined. Raises ValueError if they have no word.
        """
        return self._vectorizer.fit_transform(self._joined(rows))

    def transform(self, rows: Sequence[Sequence[Document]]) -> csr_matrix:
        """The features of rows, (rows, n-grams)."""
        return self._vectorizer.transform(self._joined(rows))

    def _joined(self, rows: Sequence[Sequence[Document]]) -> list[str]:
        return [self._separator.join(part.text for part in row) for row in rows]
