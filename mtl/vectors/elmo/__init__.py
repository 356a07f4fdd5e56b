"""ELMo's language model and its training (Peters et al. 2018); `mtl.embedders.elmo` reads what it writes."""

from mtl.embedders.interface import VectorTraining

TRAINING = VectorTraining(
    "mtl.vectors.elmo.training:ELMoTraining", extra="elmo", file_name=lambda suite: f"{suite}-elmo"
)
