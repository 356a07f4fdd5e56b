"""Trained encoders in the form of other programs: one registry entry for each format."""

from mtl.base.lazy import lazy
from mtl.export.form import ExportFormat
from mtl.export.tokenizer import can_express
from mtl.model.encoder import EncoderParts

ENCODER_KEYS = ("seed", "words", "license", "pooling", "centre", "data_dir")


def sentence_transformers_problem(parts: EncoderParts) -> str | None:
    """Its modules cut texts after all words are added, and its tokenizers do not split every language as Moses does."""
    if parts.boundary_words:
        return "boundary_words=true: sentence-transformers cuts long texts after these words are added"
    if not can_express(parts.language):
        return f"language {parts.language}: the library tokenizers cannot split its apostrophes as Moses does"
    return None


FORMATS: dict[str, ExportFormat] = {
    "sentence-transformers": ExportFormat(
        keys=ENCODER_KEYS,
        packages=("sentence_transformers",),
        extra="sentence-transformers",
        problem=sentence_transformers_problem,
        write=lazy("mtl.export.sentence_transformer:write"),
    ),
    "onnx": ExportFormat(
        keys=ENCODER_KEYS,
        packages=("onnx", "onnxruntime", "tokenizers"),
        extra="onnx",
        problem=lambda parts: None,
        write=lazy("mtl.export.onnx:write"),
    ),
    "vectors": ExportFormat(
        keys=("seed", "words", "license"),
        packages=(),
        extra=None,
        problem=lambda parts: None,
        write=lazy("mtl.export.word_vectors:write"),
    ),
    "transformers": ExportFormat(
        keys=("seed", "task", "license"),
        packages=("transformers", "tokenizers"),
        extra="transformers",
        problem=lambda parts: "holds a fine-tuned transformer, and this run has none",
        write_task=lazy("mtl.export.transformers_folder:write"),
    ),
}
