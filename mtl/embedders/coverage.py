"""How many words of a run's texts have vectors, and where these come from."""

from dataclasses import dataclass, field

import numpy as np

from mtl.data.text import BOUNDARIES, TokenizedTexts


@dataclass(frozen=True)
class Coverage:
    """How many types (distinct words) and tokens of the dataset's distinct texts have vectors: pairs (types, tokens), without boundary words."""

    found: tuple[int, int]  # with a vector of their own
    from_ngrams: tuple[int, int]  # with a vector from their character n-grams
    unknown: tuple[int, int]  # without one in the file or vocabulary, also if they get a random one
    unknown_types: np.ndarray = field(repr=False, compare=False)  # bool (types,), the words without a vector

    def __str__(self) -> str:
        counts = {"known": self.found, "from n-grams": self.from_ngrams, "unknown": self.unknown}
        all_types, all_tokens = map(sum, zip(*counts.values(), strict=True))
        return "; ".join(
            f"{name} {types:,} types ({types / all_types:.1%}), {tokens:,} tokens ({tokens / all_tokens:.1%})"
            for name, (types, tokens) in counts.items()
            if types
        )

    def as_dict(self) -> dict[str, dict[str, int]]:
        """The numbers as in summary.json: {"found": {"types": …, "tokens": …}, …}."""
        counts = {"found": self.found, "from_ngrams": self.from_ngrams, "unknown": self.unknown}
        return {name: {"types": types, "tokens": tokens} for name, (types, tokens) in counts.items()}


def coverage(texts: TokenizedTexts, has_vector: np.ndarray, from_ngrams: np.ndarray | None = None) -> Coverage:
    """Count the types and tokens of the dataset's distinct texts. `has_vector` are the types with a vector of their own, bool (types,), and
    `from_ngrams` those whose vectors come from their n-grams, bool (types,); None for embeddings without n-grams."""
    counts = np.bincount(texts.tokens, minlength=len(has_vector))
    is_word = np.array([word not in BOUNDARIES for word in texts.types], dtype=bool)
    from_ngrams = np.zeros_like(has_vector) if from_ngrams is None else from_ngrams
    unknown = is_word & ~(has_vector | from_ngrams)

    def count(chosen: np.ndarray) -> tuple[int, int]:
        """The numbers of words and of their tokens among the chosen types, bool (types,)."""
        return int((chosen & is_word).sum()), int(counts[chosen & is_word].sum())

    return Coverage(count(has_vector), count(from_ngrams), count(unknown), unknown)
