"""Trained encoders in the form of other programs: one registry entry for each format."""

from pathlib import Path

from mtl.export.kind import Export, ExportFormat, TaskExport
from mtl.export.tokenizer import can_express
from mtl.model.parts import EncoderParts

ENCODER_KEYS = ("seed", "words", "license", "pooling", "centre", "data_dir")


def sentence_transformers_problem(parts: EncoderParts) -> str | None:
    """Its modules cut texts after all words are added, and its tokenizers do not split every language as Moses does."""
    if parts.boundary_words:
        return "boundary_words=true: sentence-transformers cuts long texts after these words are added"
    if not can_express(parts.language):
        return f"language {parts.language}: the library tokenizers cannot split its apostrophes as Moses does"
    return None


def write_sentence_transformers(export: Export, folder: Path) -> None:
    from mtl.export.sentence_transformer import write

    write(export, folder)


def write_onnx(export: Export, folder: Path) -> None:
    from mtl.export.onnx_folder import write

    write(export, folder)


def write_vectors(export: Export, folder: Path) -> None:
    from mtl.export.word_vectors import write

    write(export, folder)


def write_transformers(export: TaskExport, folder: Path) -> None:
    from mtl.export.transformers_folder import write

    write(export, folder)


FORMATS: dict[str, ExportFormat] = {
    "sentence-transformers": ExportFormat(
        keys=ENCODER_KEYS,
        packages=("sentence_transformers",),
        extra="sentence-transformers",
        problem=sentence_transformers_problem,
        write=write_sentence_transformers,
    ),
    "onnx": ExportFormat(
        keys=ENCODER_KEYS,
        packages=("onnx", "onnxruntime", "tokenizers"),
        extra="onnx",
        problem=lambda parts: None,
        write=write_onnx,
    ),
    "vectors": ExportFormat(
        keys=("seed", "words", "license"),
        packages=(),
        extra=None,
        problem=lambda parts: None,
        write=write_vectors,
    ),
    "transformers": ExportFormat(
        keys=("seed", "task", "license"),
        packages=("transformers", "tokenizers"),
        extra="transformers",
        problem=lambda parts: "holds a fine-tuned transformer, and this run has none",
        write_task=write_transformers,
    ),
}
