"""Export a finished run: its encoder, its word vectors, or a task's fine-tuned transformer, as a folder that other programs read."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import replacing, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.terminal import escaped
from mtl.base.typed import check_known, typed
from mtl.base.wings import lazy
from mtl.data.text import UNKNOWN, Vocabulary, moses, text_lines
from mtl.methods.predictor import Predictor
from mtl.runs.summary import read_summary
from mtl.vectors.encoders.run import RunSettings, open_run
from mtl.vectors.export.model_card import code_block, shared_sections
from mtl.vectors.export.parts import EncoderParts, Export, TaskExport, encoder_parts

if TYPE_CHECKING:
    from mtl.methods.transformer.trained import TrainedTransformer

logger = logging.getLogger("mtl")

VECTORS = "vectors.vec"


@dataclass(frozen=True)
class ExportFormat:
    """One format. It has either `write` or `write_task`.

    Attributes:
        keys: the settings that it reads.
        extra: the extra of mtl-baselines with the packages that it needs (`mtl.base.extras`); None if there are none.
        problem: says why an encoder cannot be exported, or returns None.
        write: writes an encoder's files to a folder. Raises InputError if they do not give the vectors of the encoder.
        write_task: writes a task's whole model to a folder. Raises InputError also if the format has no such head.
    """

    keys: tuple[str, ...]
    extra: str | None = None
    problem: Callable[[EncoderParts], str | None] = lambda parts: None
    write: Callable[[Export, Path], None] | None = None
    write_task: Callable[[TaskExport, Path], None] | None = None


def write_vectors(export: Export, folder: Path) -> None:
    """Write the vectors of all words in word2vec's text format, and their card. Nine significant digits restore each float32 value exactly."""
    words, vectors = export.parts.words, export.parts.vectors[Vocabulary.FIRST :].numpy()
    with replacing(folder / VECTORS) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{number:.9g}' for number in vector)}\n")
    write_text(folder / "README.md", vectors_card(export))


def vectors_card(export: Export) -> str:
    """The card of a folder with word vectors."""
    parts = export.parts
    loading = f'vectors = KeyedVectors.load_word2vec_format("{VECTORS}")'
    sections = [
        f"# Word vectors of {escaped(export.description.title)}",
        f"{len(parts.words):,} vectors of {parts.vectors.shape[1]} numbers, as stage 1 of the training left them, in word2vec's text"
        " format: exact float32. Words are Moses tokens; case counts. The vector of unknown words is not among them.",
        f"## Usage\n\n{code_block('from gensim.models import KeyedVectors', '', loading)}\n\n"
        f"In mtl: `embeddings=fasttext embeddings.path={VECTORS}`.",
        *shared_sections(export),
    ]
    return "\n\n".join(sections) + "\n"


# By the name that `mtl export --format` takes.
EXPORT_FORMATS = {
    # The encoder as modules of sentence-transformers.
    "sentence-transformers": ExportFormat(
        keys=("seed", "words", "license", "pooling", "centre", "data_dir"),
        extra="sentence-transformers",
        problem=lazy("mtl.vectors.export.sentence_transformer:problem"),
        write=lazy("mtl.vectors.export.sentence_transformer:write"),
    ),
    "vectors": ExportFormat(keys=("seed", "words", "license"), write=write_vectors),
    # A task's fine-tuned transformer with its head.
    "transformers": ExportFormat(
        keys=("seed", "task", "license"),
        extra="transformers",
        problem=lambda parts: "holds a fine-tuned transformer, and this run has none",
        write_task=lazy("mtl.vectors.export.transformers_folder:write"),
    ),
}


@dataclass
class ExportSettings(RunSettings):
    """The settings of an export: those of a run's encoder, and these; each format reads some of them.

    Args:
        words: a text file, plain or gzipped, whose words get a vector too if the run looks new words up in its file of vectors.
        license: of the weights, for the model card.
    """

    words: str | None = None
    license: str | None = None


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
    if kind.write is None:
        assert kind.write_task is not None
        _export_task(run_dir, out, kind.write_task, checked, command)
        return
    encoder = open_run(run_dir, checked)
    predictor = encoder.predictor
    words = {UNKNOWN}  # stands for a text without a token, and may have a vector from its n-grams
    if checked.words is not None:
        for line in text_lines([Path(checked.words)], "tokenizing"):
            words.update(moses(predictor.suite.language)(line))
    parts = encoder_parts(predictor.model, sorted(words))
    if checked.words is not None and not parts.all_words:
        message = "this run has vectors for the words of its vocabulary alone; drop words="
        raise InputError(message, key="words", value=checked.words)
    if problem := kind.problem(parts):
        formats = [name for name, candidate in EXPORT_FORMATS.items() if candidate.problem(parts) is None]
        raise InputError(f"{problem}; choose --format {' or '.join(formats)}", path=run_dir)
    facts = (predictor.suite, read_summary(predictor.folder.summary), checked.license, command)
    export = Export(*facts, parts, encoder.pooling, encoder.centre, encoder.description)
    with new_folder(out) as partial:
        kind.write(export, partial)
    hint = "; all others are unknown to it, unlike the run: name a file of texts with words=" if parts.all_words else ""
    logger.info("%s: knows %s words%s", out, f"{len(parts.words):,}", hint)


def _export_task(
    run_dir: Path, out: Path, write: Callable[[TaskExport, Path], None], checked: ExportSettings, command: str
) -> None:
    """Write the model of one task of a fine-tuned transformer. Raises InputError as `export_run` does."""
    predictor = Predictor.load(run_dir, checked.seed, checked.task, encoder_task=checked.task)
    if predictor.config.method != "transformer" or not predictor.config.finetune.train_encoder:
        message = (
            "is no fine-tuned transformer (method=transformer, variant=finetune): transformers has no model of its"
        )
        raise InputError(f"{message} body and heads; choose another --format", path=run_dir)
    if checked.task is None and len(predictor.tasks) > 1:
        raise InputError(f"each task has its own model; set task= to one of {', '.join(predictor.tasks)}", key="task")
    task, model = predictor.suite.tasks[checked.task or predictor.tasks[0]], cast("TrainedTransformer", predictor.model)
    facts = (predictor.suite, read_summary(predictor.folder.summary), checked.license, command)
    export = TaskExport(*facts, model, task, predictor.seed)
    with new_folder(out) as partial:
        write(export, partial)
    logger.info("%s: the model of task %s, seed %d", out, task.id, predictor.seed)
