"""Texts as TF-IDF of their n-grams."""

from collections.abc import Sequence
from typing import NamedTuple

from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import FeatureUnion

from mtl.config import FloorConfig


class Document(NamedTuple):
    """A row's text, a pair's two joined by a line end, and its tokens."""

    text: str
    tokens: list[str]


class Features:
    """TF-IDF of word n-grams and of character n-grams within words, side by side, in lower case.

    Term frequencies are taken by their logarithm; each kind's vector has length 1.
    """

    def __init__(self, config: FloorConfig) -> None:
        common = {"min_df": config.min_count, "max_features": config.max_features, "sublinear_tf": True}
        words = TfidfVectorizer(
            preprocessor=_tokens,
            tokenizer=_same,
            token_pattern=None,
            lowercase=False,
            ngram_range=tuple(config.word_ngrams),
            **common,
        )
        characters = TfidfVectorizer(
            preprocessor=_text, analyzer="char_wb", ngram_range=tuple(config.char_ngrams), **common
        )
        self._kinds = FeatureUnion([("words", words), ("characters", characters)])

    def fit(self, documents: Sequence[Document]) -> csr_matrix:
        """Choose the n-grams and weigh them by these documents, and return their features, (documents, n-grams)."""
        return self._kinds.fit_transform(documents)

    def transform(self, documents: Sequence[Document]) -> csr_matrix:
        """The features of documents, (documents, n-grams)."""
        return self._kinds.transform(documents)


def _tokens(document: Document) -> list[str]:
    return [token.lower() for token in document.tokens]


def _text(document: Document) -> str:
    return document.text.lower()


def _same(tokens: list[str]) -> list[str]:
    return tokens
