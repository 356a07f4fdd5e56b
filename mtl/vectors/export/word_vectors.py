"""A folder with a run's trained word vectors in word2vec's text format."""

from pathlib import Path

from mtl.base.files import replacing, write_text
from mtl.base.terminal import escaped
from mtl.data.text import Vocabulary
from mtl.vectors.export.format import Export
from mtl.vectors.export.model_card import code_block, shared_sections

VECTORS = "vectors.vec"


def write(export: Export, folder: Path) -> None:
    """Write the vectors of all words, and their card. Nine significant digits are enough to restore each float32 value exactly."""
    words, vectors = export.parts.words, export.parts.vectors[Vocabulary.FIRST :].numpy()
    with replacing(folder / VECTORS) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{number:.9g}' for number in vector)}\n")
    write_text(folder / "README.md", vectors_card(export))


def vectors_card(export: Export) -> str:
    """The card of a folder with word vectors."""
    parts = export.parts
    loading = 'vectors = KeyedVectors.load_word2vec_format("vectors.vec")'
    used = code_block("from gensim.models import KeyedVectors", "", loading)
    sections = [
        f"# Word vectors of {escaped(export.description.title)}",
        f"{len(parts.words):,} vectors of {parts.vectors.shape[1]} numbers, as stage 1 of the training left them, in word2vec's text"
        " format: exact float32. Words are Moses tokens; case counts. The vector of unknown words is not among them.",
        f"## Usage\n\n{used}\n\nIn mtl: `embeddings=fasttext embeddings.path=vectors.vec`.",
        *shared_sections(export),
    ]
    return "\n\n".join(sections) + "\n"
