"""Export a finished run's encoder or word vectors, as a folder that other programs read, with a model card."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.log import logger
from mtl.base.typed import check_choice, check_known, typed
from mtl.base.wings import lazy
from mtl.data.files import text_lines
from mtl.data.text import UNKNOWN, moses
from mtl.embedders.new_words import WordReader
from mtl.methods.lstm.trained import TrainedLstm
from mtl.vectors.encoders.run import RunEncoder, RunSettings, open_run


@dataclass
class ExportSettings(RunSettings):
    """The settings of an export: those of a run's encoder, and these; each format reads some of them."""

    words: str | None = None  # a text file whose words get a vector too if the run looks new words up in its vectors
    license: str | None = None  # of the weights, for the model card


@dataclass(frozen=True)
class Export:
    """The encoder of an LSTM that is exported, and what its card says of it."""

    encoder: RunEncoder
    model: TrainedLstm  # that of the encoder
    reader: WordReader  # that of the model, which knows the exported words and no others
    settings: ExportSettings
    command: str  # the command line of the export
    looks_up: bool  # whether the run looks new words up in a file of vectors

    @torch.no_grad()
    def word_vectors(self) -> Tensor:
        """The vectors of padding (zero), of the unknown word, and of the words of the reader, float32 (ids, dim)."""
        return self.reader.embedder(torch.arange(len(self.reader.vocabulary))[None])[0].float()


@dataclass(frozen=True)
class ExportFormat:
    """A form in which an encoder is exported."""

    keys: tuple[str, ...]  # the settings of `ExportSettings` that it reads
    # Writes the files and the card to a folder. Raises InputError for an encoder whose vectors the format cannot express.
    write: Callable[[Export, Path], None]
    extra: str | None = None  # the extra of mtl-baselines with the packages that it needs (`mtl.base.extras`)


def export_run(run_dir: Path, out: Path, format: str, settings: Mapping[str, Any], command: str) -> None:
    """Write a finished run's encoder to a new folder, with settings of `ExportSettings`. Raises InputError for a folder
    that is not empty, an unknown format or key, a run without models or of another form, or a missing package."""
    check_choice("--format", format, EXPORT_FORMATS)
    kind = EXPORT_FORMATS[format]
    check_known(settings, set(kind.keys))
    check_new_folder(out)
    if kind.extra is not None:
        check_installed(kind.extra, key=f"--format {format}")
    export = _open_export(run_dir, typed(ExportSettings, settings), command)
    with new_folder(out) as partial:
        kind.write(export, partial)
    hint = "; all others are unknown to it, unlike the run: name a file of texts with words=" if export.looks_up else ""
    logger.info("%s: knows %s words%s", out, f"{len(export.reader.vocabulary.words):,}", hint)


def _open_export(run_dir: Path, settings: ExportSettings, command: str) -> Export:
    """The encoder of an LSTM, changed to know the words of the run and of `words=` alone, in float32. Raises InputError if it cannot be exported."""
    encoder = open_run(run_dir, settings)
    model = encoder.model
    if not isinstance(model, TrainedLstm):
        raise InputError("this run's encoder is a transformer, and only an LSTM can be exported; use mtl encode")
    reader = model.embeddings
    if not isinstance(reader, WordReader):
        message = "a word's vector depends on its text, so other programs cannot look it up"
        raise InputError(message, key="embeddings", value=model.config.embeddings.name)
    looks_up = reader.source is not None
    words = {UNKNOWN}  # it stands for a text without a token
    if settings.words is not None:
        for line in text_lines([Path(settings.words)], "tokenizing"):
            words.update(moses(model.language)(line))
        if not looks_up:
            message = "this run has vectors for the words of its vocabulary alone; drop words="
            raise InputError(message, key="words", value=settings.words)
    reader.look_up(sorted(words))
    reader.source = None
    model.config = replace(model.config, trainer=replace(model.config.trainer, precision="32-true"))
    return Export(encoder, model, reader, settings, command, looks_up)


# By the name that `mtl export --format` takes.
EXPORT_FORMATS = {
    "sentence-transformers": ExportFormat(
        ("seed", "words", "license", "pooling", "centre", "suite_data_dir"),
        lazy("mtl.vectors.export.sentence_transformer:write"),
        extra="sentence-transformers",
    ),
    "vectors": ExportFormat(("seed", "words", "license"), lazy("mtl.vectors.export.word2vec:write")),
}
