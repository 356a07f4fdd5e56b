"""Readers of files of pretrained vectors: fastText models, text and gensim's files; `VectorFile` reads any of them."""
