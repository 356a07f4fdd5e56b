"""Rows as lines of tokens, which fastText's classifier reads."""

from collections.abc import Sequence

from mtl.methods.floors.classifiers import END
from mtl.methods.floors.features import Document
from mtl.methods.floors.floor import Floor
from mtl.tasks.task import Task


class FastTextFloor(Floor):
    """`mtl.methods.method.Method` of fastText's classifier: a floor whose features are lines of tokens."""

    def new_features(self, task: Task, vectorizer: str | None) -> "TokenLines":
        return TokenLines()


class TokenLines:
    """The tokens of a row in lower case. Those of a pair have marks that say what other floors' features say with numbers:
    1: only in the first text, 2: only in the second one, =: in both.
    """

    problem = "its training texts are empty"

    def fit(self, rows: Sequence[Sequence[Document]]) -> list[str]:
        """The lines of training rows: nothing is learned from them."""
        return self.transform(rows)

    def transform(self, rows: Sequence[Sequence[Document]]) -> list[str]:
        """One line for each row."""
        return [_line(row) for row in rows]


def _line(row: Sequence[Document]) -> str:
    sides = [[token.lower() for token in document.tokens if token != END] for document in row]
    if len(sides) == 1:
        return " ".join(sides[0])
    first, second = sides
    known_first, known_second = set(first), set(second)
    marked = [f"={token}" if token in known_second else f"1:{token}" for token in first]
    marked += [f"={token}" if token in known_first else f"2:{token}" for token in second]
    return " ".join(marked)
