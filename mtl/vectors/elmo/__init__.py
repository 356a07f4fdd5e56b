"""ELMo's language model and its training (Peters et al. 2018); `mtl.embedders.elmo` reads what it writes."""
