"""Vectors: sentence encoders, mteb, exports, and the pre-training of ELMo and of transformers (README.md)."""
