"""Training of word vectors: one registry entry for each kind of embeddings that mtl trains. `mtl.embedders` reads what is written."""

from typing import NamedTuple


class VectorTraining(NamedTuple):
    """How vectors of one kind are trained."""

    settings: str  # the import path of a class that implements `mtl.vectors.words.training.Training`, as `mtl.base.wings.resolve` takes it
    extra: str  # the extra of mtl-baselines with the packages that training needs (`mtl.base.extras`)


# By name, as in `mtl.embedders.EMBEDDERS`.
TRAININGS = {
    "fasttext": VectorTraining("mtl.vectors.words.fasttext:FastTextTraining", extra="fasttext"),
    "elmo": VectorTraining("mtl.vectors.elmo.training:ELMoTraining", extra="elmo"),
    "word2vec": VectorTraining("mtl.vectors.words.word2vec:Word2VecTraining", extra="gensim"),
}
