"""How much each word counts in the mean of a text's word vectors."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

SMOOTHING = 1e-3  # the constant a of Arora et al. 2017, who recommend 1e-3 to 1e-4


@dataclass
class WordCounts:
    """How often words occur in texts."""

    texts: int = 0  # their number
    tokens: int = 0  # of all texts
    counts: Counter[str] = field(default_factory=Counter)  # how often each word occurs
    documents: Counter[str] = field(default_factory=Counter)  # in how many texts each word occurs

    def add(self, words: Sequence[str]) -> None:
        """Count the words of one more text."""
        self.texts += 1
        self.tokens += len(words)
        self.counts.update(words)
        self.documents.update(set(words))


def inverse_document_frequency(counts: WordCounts, word: str) -> float:
    """ln((1 + texts) / (1 + texts with the word)) + 1, as scikit-learn's TfidfVectorizer has it by default."""
    return math.log((1 + counts.texts) / (1 + counts.documents[word])) + 1


def smooth_inverse_frequency(counts: WordCounts, word: str) -> float:
    """a / (a + p), where p is the word's share of all tokens (Arora et al. 2017, "A simple but tough-to-beat baseline", section 3)."""
    return SMOOTHING / (SMOOTHING + counts.counts[word] / counts.tokens)


@dataclass(frozen=True)
class Weighting:
    """One way to weight words: an entry of WEIGHTINGS.

    Attributes:
        title: as in a table; None: the title does not name it.
        weight: returns a word's weight.
        by_weight: whether the mean is over the sum of weights; else over the number of words.
        removes_component: whether vectors lack their projection on the first singular vector of the texts' vectors.
        reads_texts: whether `weight` needs the counts.
    """

    title: str | None
    weight: Callable[[WordCounts, str], float]
    by_weight: bool = True
    removes_component: bool = False
    reads_texts: bool = True


# By name, as in `weighting=`.
WEIGHTINGS: Mapping[str, Weighting] = {
    "none": Weighting(None, lambda counts, word: 1.0, reads_texts=False),
    "tfidf": Weighting("TF-IDF", inverse_document_frequency),
    "sif": Weighting("SIF", smooth_inverse_frequency, by_weight=False, removes_component=True),
}
