"""A folder with a run's trained word vectors in word2vec's text format."""

from pathlib import Path

from mtl.base.files import replacing, write_text
from mtl.data.text import Vocabulary
from mtl.export.form import Export
from mtl.export.model_card import vectors_card

VECTORS = "vectors.vec"


def write(export: Export, folder: Path) -> None:
    """Write the vector of each word. Nine digits give each float32 back exactly."""
    words, vectors = export.parts.words, export.parts.vectors[Vocabulary.FIRST :].numpy()
    with replacing(folder / VECTORS) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{number:.9g}' for number in vector)}\n")
    write_text(folder / "README.md", vectors_card(export))
