"""`mtl pretrain transformer`: a BERT from text files and a suite's training text."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.data.dataset import training_texts
from mtl.jobs.text_training import TrainingText
from mtl.vectors.pretraining.settings import read_settings

if TYPE_CHECKING:
    from mtl.vectors.pretraining.tokens import PretrainingTexts


def pretrain_transformer(
    text: TrainingText, settings: Mapping[str, Any], out: str | None, config: str = "small", accelerator: str = "auto"
) -> Path:
    """Pre-train a BERT and return its folder, `out`.

    Args:
        config: a name in configs/pretrain, or a path.
        settings: fields of `mtl.vectors.pretraining.settings.PretrainingSettings`, which replace those of the file.

    Raises:
        UserError: for bad input, and for training that diverges.
    """
    text.check("pretrain transformer")
    if out is None:
        raise InputError("pretrain transformer: name the folder to write: out=DIR")
    checked = read_settings(config, settings)
    check_installed("transformers")
    from mtl.vectors.pretraining.pretrain import pretrain

    device = device_of(accelerator, "accelerator")
    pretrain(_texts(text), checked, Path(out), device)
    return Path(out)


def _texts(text: TrainingText) -> "PretrainingTexts":
    from mtl.vectors.pretraining.tokens import PretrainingTexts

    job = text.job()
    if job is None:
        return PretrainingTexts(text.files, language=text.language)
    texts = training_texts(job.suite, job.data_dir, job.config.held_out)
    return PretrainingTexts(text.files, texts, job.suite.language, f"training texts of suite {job.suite.name}")
