"""Pre-training of small transformers on one's own text: a subword vocabulary, masked language modelling, a folder that transformers loads.

Only the modules `tokens`, `network` and `training` need the packages transformers and tokenizers; `pretrain` checks that they are there."""
