"""Training of word vectors: one registry entry for each kind of embeddings that mtl trains. `mtl.embedders` reads what is written."""

# By name, as in `mtl.embedders.EMBEDDERS`: the path of a class that implements `mtl.vectors.words.training.Training`, as
# `mtl.base.wings.resolve` takes it, and the extra of mtl-baselines with the packages that the training needs.
TRAININGS = {
    "fasttext": ("mtl.vectors.words.fasttext:FastTextTraining", "fasttext"),
    "elmo": ("mtl.vectors.elmo.training:ELMoTraining", "elmo"),
    "word2vec": ("mtl.vectors.words.word2vec:Word2VecTraining", "gensim"),
}
