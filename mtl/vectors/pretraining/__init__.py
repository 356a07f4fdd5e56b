"""Pre-training of transformers; all but `settings` and `resumable` needs transformers and tokenizers."""
