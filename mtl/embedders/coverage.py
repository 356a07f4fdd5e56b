"""How many words of a dataset's texts have a vector."""

from dataclasses import dataclass, field

import numpy as np

from mtl.data.text import BOUNDARIES, TokenizedTexts


@dataclass(frozen=True)
class Coverage:
    """The numbers of types (distinct words) and tokens in the dataset's distinct texts, (types, tokens), by the source of their vectors.

    Boundary words are not counted. found: the word has a vector. from_ngrams: its vector comes from its character n-grams. unknown: it has
    no vector in the embeddings' file or vocabulary, also if it gets a random one (`embeddings.missing=random`).
    unknown_types: bool (types,), the words without a vector. ngram_types: bool (types,), the words whose vectors come from their
    character n-grams; None for embeddings without n-grams.
    """

    found: tuple[int, int]
    from_ngrams: tuple[int, int]
    unknown: tuple[int, int]
    unknown_types: np.ndarray = field(repr=False, compare=False)
    ngram_types: np.ndarray | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        types, tokens = (sum(kind[i] for kind in (self.found, self.from_ngrams, self.unknown)) for i in (0, 1))

        def share(kind: tuple[int, int]) -> str:
            return f"{kind[0]:,} types ({kind[0] / types:.1%}), {kind[1]:,} tokens ({kind[1] / tokens:.1%})"

        kinds = {"known": self.found, "from n-grams": self.from_ngrams, "unknown": self.unknown}
        return "; ".join(f"{name} {share(kind)}" for name, kind in kinds.items() if kind[0])

    def as_dict(self) -> dict[str, dict[str, int]]:
        """The numbers as in summary.json: {"found": {"types": …, "tokens": …}, …}."""
        kinds = {"found": self.found, "from_ngrams": self.from_ngrams, "unknown": self.unknown}
        return {name: dict(zip(("types", "tokens"), kind, strict=True)) for name, kind in kinds.items()}


def coverage(texts: TokenizedTexts, found: np.ndarray, from_ngrams: np.ndarray | None = None) -> Coverage:
    """Count the types and tokens of texts. found, from_ngrams: bool (types,)."""
    counts = np.bincount(texts.tokens, minlength=len(found))
    words = np.array([word not in BOUNDARIES for word in texts.types], dtype=bool)
    built = np.zeros_like(found) if from_ngrams is None else from_ngrams
    unknown = ~(found | built)

    def size(kind: np.ndarray) -> tuple[int, int]:
        return int((kind & words).sum()), int(counts[kind & words].sum())

    return Coverage(size(found), size(built), size(unknown), unknown, from_ngrams)
