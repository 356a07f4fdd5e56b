"""Pre-training of small transformers on one's own text: a subword vocabulary, masked language modelling, a folder that transformers loads.

The modules need the packages transformers and tokenizers, except `settings` and `resumable`; the command checks first that they are there."""
