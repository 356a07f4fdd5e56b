"""Pre-training of small transformers on one's own text: a subword vocabulary, masked language modelling, a folder that transformers loads.
All modules but `settings` and `resumable` need the packages transformers and tokenizers; the command checks first that they are there."""
