"""ELMo: contextual word vectors from a character-level bidirectional language model (Peters et al. 2018)."""

from mtl.embedders.elmo.model import ELMo as ELMo
