"""Export a finished run: its encoder, or its word vectors, as a folder that other programs read."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mtl.config.settings import check_known, typed_settings
from mtl.data.text import UNKNOWN, moses, tokenized_lines
from mtl.encoders.run import open_run
from mtl.errors import InputError
from mtl.export import FORMATS
from mtl.export.kind import Export, ExportFormat
from mtl.files import check_new_folder, new_folder, read_json

logger = logging.getLogger("mtl")

OWN_KEYS = ("words", "license")  # the other keys are those of a run's encoder


@dataclass
class ExportSettings:
    """The settings of an export beside those of the encoder.

    words: a text file, plain or gzipped, whose words get a vector too if the run looks new words up in its file of vectors. license: of
    the exported model, for its card.
    """

    words: str | None = None
    license: str | None = None


def export_run(run_dir: Path, out: Path, format: str, settings: Mapping[str, Any], command: str) -> None:
    """Write the encoder of a finished run to a new folder.

    format: a key of FORMATS. settings: of `ExportSettings`, and of `mtl.encoders.run.RunSettings`. command: for the model card. Raises
    InputError for a folder that is not empty, an unknown format or key, a run that is not finished or keeps no models, an encoder that
    the format cannot express, and a package that is missing.
    """
    kind = _known(format)
    check_known(settings, set(kind.keys))
    chosen = typed_settings(ExportSettings, {key: value for key, value in settings.items() if key in OWN_KEYS})
    if not run_dir.is_dir():
        raise InputError(f"{run_dir}: no such folder; only runs can be exported, so name a run's folder")
    if chosen.words is not None and Path(chosen.words).is_dir():
        raise InputError(f"words={chosen.words}: is a folder; name a text file")
    check_new_folder(out)
    _check_packages(format, kind)
    encoder = open_run(str(run_dir), {key: value for key, value in settings.items() if key not in OWN_KEYS})
    predictor = encoder.predictor
    words = {UNKNOWN}  # stands for a text without a token, and may have a vector from its n-grams
    if chosen.words is not None:
        words.update(
            word for line in tokenized_lines([Path(chosen.words)], moses(predictor.suite.language)) for word in line
        )
    parts = predictor.model.parts(sorted(words))
    if chosen.words is not None and not parts.all_words:
        raise InputError(
            f"words={chosen.words}: this run has vectors for the words of its vocabulary alone; drop words="
        )
    if problem := kind.problem(parts):
        others = [name for name, other in FORMATS.items() if other.problem(parts) is None]
        raise InputError(f"{run_dir}: {problem}; choose --format {' or '.join(others)}")
    export = Export(
        parts,
        encoder.pooling,
        encoder.centre,
        encoder.description,
        predictor.suite,
        read_json(predictor.folder.summary),
        chosen.license,
        command,
    )
    with new_folder(out) as partial:
        kind.write(export, partial)
    hint = "; all others are unknown to it, unlike the run: name a file of texts with words=" if parts.all_words else ""
    logger.info("%s: knows %s words%s", out, f"{len(parts.words):,}", hint)


def _known(format: str) -> ExportFormat:
    if format not in FORMATS:
        raise InputError(f"--format {format}: must be one of {', '.join(FORMATS)}")
    return FORMATS[format]


def _check_packages(format: str, kind: ExportFormat) -> None:
    """Raise InputError if a package that the format needs is not installed."""
    if missing := [name for name in kind.packages if find_spec(name) is None]:
        raise InputError(
            f"--format {format}: needs the package {missing[0]}; install it: pip install mtl-baselines[{kind.extra}]"
        )
