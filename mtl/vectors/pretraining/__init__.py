"""Pre-training of transformers; all but `settings`, `unfinished` and `resumable` needs transformers and tokenizers."""
