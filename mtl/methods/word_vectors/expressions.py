"""The vectors of words and expressions: an expression's vector is the mean of its words' vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mtl.data.text import Tokenizer
from mtl.embedders.vectors import WordVectors


@dataclass(frozen=True)
class Expressions:
    """Texts of one or more words.

    vectors: float32 (texts, dim), the mean of the vectors of those words that have one; zeros if none has. words: the words of each
    text. source: where each word's vector is from: FOUND, FROM_NGRAMS or NO_VECTOR.
    """

    vectors: np.ndarray
    words: list[list[str]]
    source: dict[str, str]

    @property
    def known(self) -> np.ndarray:
        """Which texts have a vector, bool (texts,)."""
        return np.array([any(self.source[word] != NO_VECTOR for word in words) for words in self.words], dtype=bool)

    def counts(self, texts: np.ndarray) -> dict[str, int]:
        """How many of these texts, int64 (texts,), and of their distinct words, have no vector, or one from n-grams."""
        chosen = np.unique(texts)
        words = {word for text in chosen.tolist() for word in self.words[text]}
        return {
            "expressions": len(chosen),
            "expressions_without_vector": int((~self.known[chosen]).sum()),
            "words": len(words),
            "words_without_vector": sum(self.source[word] == NO_VECTOR for word in words),
            "words_from_ngrams": sum(self.source[word] == FROM_NGRAMS for word in words),
        }


FOUND, FROM_NGRAMS, NO_VECTOR = "found", "from n-grams", "no vector"


def expressions(
    texts: Sequence[str], tokenize: Tokenizer, read: Callable[[Sequence[str]], WordVectors], ignore_case: bool
) -> Expressions:
    """The vectors of texts. read: returns the vectors of words.

    ignore_case: a word that is not in the file is looked up in lower case, capitalized and in upper case as well, in this order; only
    then is its vector computed from its n-grams, if the file has any.
    """
    words = [tokenize(text) for text in texts]
    distinct = dict.fromkeys(word for of_text in words for word in of_text)
    forms = {word: cases(word) if ignore_case else [word] for word in distinct}
    places = {form: place for place, form in enumerate(dict.fromkeys(form for of in forms.values() for form in of))}
    vectors = read(list(places))
    chosen, source = dict[str, int](), dict[str, str]()
    for word, of_word in forms.items():
        tried = [places[form] for form in of_word]
        found = next((place for place in tried if vectors.found[place]), None)
        chosen[word] = tried[0] if found is None else found
        source[word] = FOUND if found is not None else FROM_NGRAMS if vectors.from_ngrams[tried[0]] else NO_VECTOR
    means = np.zeros((len(texts), vectors.dim), dtype=np.float32)
    for text, of_text in enumerate(words):
        if known := [chosen[word] for word in of_text if source[word] != NO_VECTOR]:
            means[text] = vectors.vectors[known].mean(axis=0)
    return Expressions(means, words, source)


def cases(word: str) -> list[str]:
    """The word as it is, in lower case, capitalized, and in upper case, each once."""
    return list(dict.fromkeys([word, word.lower(), word.capitalize(), word.upper()]))


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The cosine of each row of one and the same row of the other, float32 (rows,); 0 where either is zero."""
    return np.einsum("ij,ij->i", unit_rows(one), unit_rows(other))


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """The rows scaled to length 1, (rows, dim); rows of zeros stay as they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.divide(vectors, lengths[:, None], out=np.zeros_like(vectors), where=lengths[:, None] > 0)
