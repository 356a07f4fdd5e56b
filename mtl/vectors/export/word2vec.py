"""The export of a run's word vectors in word2vec's text format."""

from pathlib import Path

from mtl.base.files import replacing, write_text
from mtl.data.text import Vocabulary
from mtl.vectors.export.card import card
from mtl.vectors.export.export import Export

VECTORS = "vectors.vec"


def write(export: Export, folder: Path) -> None:
    """Write the vectors of all words in word2vec's text format, and their card. Nine significant digits restore each float32 value exactly."""
    words, vectors = export.reader.vocabulary.words, export.word_vectors()[Vocabulary.FIRST :].numpy()
    with replacing(folder / VECTORS) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{number:.9g}' for number in vector)}\n")
    write_text(folder / "README.md", card(export, "word2vec.md", dim=vectors.shape[1]))
