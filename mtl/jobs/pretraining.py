"""Pre-train a transformer without a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtl.data.dataset import training_texts
from mtl.device import device_of
from mtl.errors import InputError
from mtl.jobs.training_text import TrainingText
from mtl.pretraining.library import check_installed
from mtl.pretraining.pretrain import pretrain
from mtl.pretraining.settings import read_settings
from mtl.pretraining.texts import PretrainingTexts


def pretrain_transformer(
    text: TrainingText, settings: Mapping[str, Any], out: str | None, config: str = "small", accelerator: str = "auto"
) -> Path:
    """Pre-train a BERT and return its folder, `out`. Raises InputError, and DivergedError if the training diverges.

    config: a name in configs/pretrain, or a path. settings: fields of `mtl.pretraining.settings.PretrainingSettings`, which replace those
    of the file.
    """
    text.check("pretrain transformer")
    if out is None:
        raise InputError("pretrain transformer: name the folder to write: out=DIR")
    checked = read_settings(config, settings)
    check_installed()
    device = device_of(accelerator, "accelerator")
    pretrain(_texts(text), checked, Path(out), device)
    return Path(out)


def _texts(text: TrainingText) -> PretrainingTexts:
    job = text.job()
    if job is None:
        return PretrainingTexts(text.files, language=text.language)
    texts = training_texts(job.suite, job.data_dir, job.config.held_out)
    return PretrainingTexts(text.files, texts, job.suite.language, f"training texts of suite {job.suite.name}")
