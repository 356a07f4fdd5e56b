"""Export a finished run: its encoder, its word vectors, or a task's fine-tuned transformer, as a folder that other programs read."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.typed import check_known, typed
from mtl.data.text import UNKNOWN, moses, tokenized_lines
from mtl.methods.predictor import Predictor
from mtl.runs.summary import read_summary
from mtl.vectors.encoders.run import RunSettings, open_run
from mtl.vectors.export import EXPORT_FORMATS
from mtl.vectors.export.format import Export, TaskExport
from mtl.vectors.export.parts import encoder_parts

if TYPE_CHECKING:
    from mtl.methods.transformer.trained import TrainedTransformer

logger = logging.getLogger("mtl")


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
    if kind.write_task is not None:
        _export_task(run_dir, out, kind.write_task, checked, command)
        return
    assert kind.write is not None
    encoder = open_run(run_dir, checked)
    predictor = encoder.predictor
    words = {UNKNOWN}  # stands for a text without a token, and may have a vector from its n-grams
    if checked.words is not None:
        for line in tokenized_lines([Path(checked.words)], moses(predictor.suite.language)):
            words.update(line)
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
