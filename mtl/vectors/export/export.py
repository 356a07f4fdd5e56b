"""Export a finished run: its encoder, its word vectors, or a task's fine-tuned transformer, as a folder that other programs read."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import replacing, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.terminal import escaped
from mtl.base.typed import check_known, typed
from mtl.base.wings import lazy
from mtl.data.text import UNKNOWN, Vocabulary, moses, text_lines
from mtl.embedders.new_words import WordReader
from mtl.methods.lstm.trained import TrainedLstm
from mtl.methods.predictor import Predictor
from mtl.vectors.encoders.run import open_run
from mtl.vectors.export.exported import Export, ExportSettings, code_block, encoder_card

logger = logging.getLogger("mtl")

VECTORS = "vectors.vec"


@dataclass(frozen=True)
class ExportFormat:
    """One format.

    Attributes:
        keys: the settings that it reads.
        write: writes the files and the card of an `Export` to a folder. Raises InputError for a model that the format cannot express, and if the
            files do not give the outputs of the run.
        extra: the extra of mtl-baselines with the packages that it needs (`mtl.base.extras`); None if there are none.
        of_task: whether a task's whole model is exported, not the encoder of an LSTM.
    """

    keys: tuple[str, ...]
    write: Callable[[Export, Path], None]
    extra: str | None = None
    of_task: bool = False


def write_vectors(export: Export, folder: Path) -> None:
    """Write the vectors of all words in word2vec's text format, and their card. Nine significant digits restore each float32 value exactly."""
    words, vectors = export.model.reader.vocabulary.words, export.word_vectors()[Vocabulary.FIRST :].numpy()
    with replacing(folder / VECTORS) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{number:.9g}' for number in vector)}\n")
    loading = f'vectors = KeyedVectors.load_word2vec_format("{VECTORS}")'
    begin = [
        f"# Word vectors of {escaped(export.encoder.description.title)}",
        f"{len(words):,} vectors of {vectors.shape[1]} numbers, as stage 1 of the training left them, in word2vec's text format: exact"
        " float32. Words are Moses tokens; case counts. The vector of unknown words is not among them.",
        f"## Usage\n\n{code_block('from gensim.models import KeyedVectors', '', loading)}\n\n"
        f"In mtl: `embeddings=fasttext embeddings.path={VECTORS}`.",
    ]
    write_text(folder / "README.md", encoder_card(export, {}, begin))


# By the name that `mtl export --format` takes.
EXPORT_FORMATS = {
    # The encoder as modules of sentence-transformers.
    "sentence-transformers": ExportFormat(
        ("seed", "words", "license", "pooling", "centre", "suite_data_dir"),
        lazy("mtl.vectors.export.sentence_transformer:write"),
        extra="sentence-transformers",
    ),
    "vectors": ExportFormat(("seed", "words", "license"), write_vectors),
    # A task's fine-tuned transformer with its head.
    "transformers": ExportFormat(
        ("seed", "task", "license"),
        lazy("mtl.vectors.export.transformers_folder:write"),
        extra="transformers",
        of_task=True,
    ),
}


def export_run(run_dir: Path, out: Path, format: str, settings: Mapping[str, Any], command: str) -> None:
    """Write the encoder of a finished run, or the model of one of its tasks, to a new folder.

    The settings are those of `ExportSettings`. Raises InputError for a folder that is not empty, an unknown format or key, a run that is
    not finished or keeps no models, an encoder or a model that the format cannot express, and a package that is missing.
    """
    if format not in EXPORT_FORMATS:
        raise InputError(f"must be one of {', '.join(EXPORT_FORMATS)}", key=f"--format {format}")
    kind = EXPORT_FORMATS[format]
    check_known(settings, set(kind.keys))
    checked = typed(ExportSettings, settings)
    if not run_dir.is_dir():
        raise InputError("no such folder; only runs can be exported, so name a run's folder", path=run_dir)
    if checked.words is not None and Path(checked.words).is_dir():
        raise InputError("is a folder; name a text file", key="words", value=checked.words)
    check_new_folder(out)
    if kind.extra is not None:
        check_installed(kind.extra, key=f"--format {format}")
    export = _open_task(run_dir, checked, command) if kind.of_task else _open_lstm(run_dir, checked, command)
    with new_folder(out) as partial:
        kind.write(export, partial)
    if kind.of_task:
        logger.info("%s: the model of task %s, seed %d", out, export.task.id, export.predictor.seed)
        return
    hint = "; all others are unknown to it, unlike the run: name a file of texts with words=" if export.looks_up else ""
    logger.info("%s: knows %s words%s", out, f"{len(export.model.reader.vocabulary.words):,}", hint)


def _open_lstm(run_dir: Path, settings: ExportSettings, command: str) -> Export:
    """The encoder of an LSTM, which knows the words of the run and of `words=`, and no others."""
    encoder = open_run(run_dir, settings)
    model = encoder.predictor.model
    if not isinstance(model, TrainedLstm):
        message = "this run's encoder is a transformer, and this format takes an LSTM; mtl encode gives its vectors, and a fine-tuned one can"
        raise InputError(f"{message} be exported with --format transformers")
    if not isinstance(model.reader, WordReader):
        message = "a word's vector depends on its text, so other programs cannot look it up"
        raise InputError(message, key="embeddings", value=model.config.embeddings.name)
    looks_up, words = model.reader.source is not None, {UNKNOWN}  # it stands for a text without a token
    if settings.words is not None:
        for line in text_lines([Path(settings.words)], "tokenizing"):
            words.update(moses(model.language)(line))
        if not looks_up:
            message = "this run has vectors for the words of its vocabulary alone; drop words="
            raise InputError(message, key="words", value=settings.words)
    model.reader.look_up(sorted(words))
    model.reader.source = None
    return Export(encoder.predictor, settings, command, encoder, looks_up)


def _open_task(run_dir: Path, settings: ExportSettings, command: str) -> Export:
    """The model of one task of a fine-tuned transformer."""
    predictor = Predictor.load(run_dir, settings.seed, settings.task, encoder_task=settings.task)
    if predictor.config.method != "transformer" or not predictor.config.finetune.train_encoder:
        message = "is no fine-tuned transformer (method=transformer, variant=finetune): transformers has no model of its body and heads"
        raise InputError(f"{message}; choose another --format", path=run_dir)
    if settings.task is None and len(predictor.tasks) > 1:
        raise InputError(f"each task has its own model; set task= to one of {', '.join(predictor.tasks)}", key="task")
    return Export(predictor, settings, command, task=predictor.suite.tasks[settings.task or predictor.tasks[0]])
