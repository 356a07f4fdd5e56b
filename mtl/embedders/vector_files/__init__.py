"""Readers of files of pretrained vectors: fastText models, text and word2vec's binary format; `VectorFile` reads any of them."""
