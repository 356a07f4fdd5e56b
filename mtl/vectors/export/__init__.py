"""The forms in which a finished run is exported, by the name that `mtl export --format` takes."""

from mtl.base.wings import lazy
from mtl.vectors.export.format import ExportFormat

EXPORT_FORMATS: dict[str, ExportFormat] = {
    # The encoder as modules of sentence-transformers.
    "sentence-transformers": ExportFormat(
        keys=("seed", "words", "license", "pooling", "centre", "data_dir"),
        extra="sentence-transformers",
        problem=lazy("mtl.vectors.export.sentence_transformer:problem"),
        write=lazy("mtl.vectors.export.sentence_transformer:write"),
    ),
    # The word vectors alone, in word2vec's text format.
    "vectors": ExportFormat(keys=("seed", "words", "license"), write=lazy("mtl.vectors.export.word_vectors:write")),
    # A task's fine-tuned transformer with its head.
    "transformers": ExportFormat(
        keys=("seed", "task", "license"),
        extra="transformers",
        problem=lambda parts: "holds a fine-tuned transformer, and this run has none",
        write_task=lazy("mtl.vectors.export.transformers_folder:write"),
    ),
}
