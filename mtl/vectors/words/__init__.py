"""Training of word vectors: one registry entry for each kind of embeddings that mtl trains. `mtl.embedders` reads what is written."""

from dataclasses import dataclass


@dataclass(frozen=True)
class VectorTraining:
    """How vectors of one kind are trained.

    Attributes:
        settings: the import path of the class that implements `mtl.vectors.words.training.Training`, as `mtl.base.wings.resolve` takes it.
        extra: the extra of mtl-baselines with the packages that training needs (`mtl.base.extras`).
        ending: what follows the name of a suite in the name of the file or folder of the vectors that are trained on it.
    """

    settings: str
    extra: str
    ending: str


# By name, as in `mtl.embedders.EMBEDDERS`.
TRAININGS = {
    "fasttext": VectorTraining("mtl.vectors.words.fasttext:FastTextTraining", extra="fasttext", ending=".bin"),
    "elmo": VectorTraining("mtl.vectors.elmo.training:ELMoTraining", extra="elmo", ending="-elmo"),
    "word2vec": VectorTraining("mtl.vectors.words.word2vec:Word2VecTraining", extra="gensim", ending="-word2vec.bin"),
}
