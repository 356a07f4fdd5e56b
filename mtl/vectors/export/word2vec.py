"""The export of a run's word vectors in word2vec's text format."""

from pathlib import Path

from mtl.base.files import replacing, write_text
from mtl.base.wording import escaped
from mtl.data.text import Vocabulary
from mtl.vectors.export.card import card, code_block
from mtl.vectors.export.export import Export

VECTORS = "vectors.vec"


def write(export: Export, folder: Path) -> None:
    """Write the vectors of all words in word2vec's text format, and their card. Nine significant digits restore each float32 value exactly."""
    words, vectors = export.reader.vocabulary.words, export.word_vectors()[Vocabulary.FIRST :].numpy()
    with replacing(folder / VECTORS) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{number:.9g}' for number in vector)}\n")
    loading = f'vectors = KeyedVectors.load_word2vec_format("{VECTORS}")'
    introduction = [
        f"# Word vectors of {escaped(export.encoder.description.title)}",
        f"{len(words):,} vectors of {vectors.shape[1]} numbers, as stage 1 of the training left them, in word2vec's text format: exact"
        " float32. Words are Moses tokens; case counts. The vector of unknown words is not among them.",
        f"## Usage\n\n{code_block('from gensim.models import KeyedVectors', '', loading)}\n\n"
        f"In mtl: `embeddings=fasttext embeddings.path={VECTORS}`.",
    ]
    write_text(folder / "README.md", card(export, {}, introduction))
