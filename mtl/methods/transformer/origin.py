"""The transformer that a run starts from: a folder, a name on the Hub, or a tiny one that is trained first."""

import logging
from collections.abc import Sequence
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.wings import wings
from mtl.data.dataset import training_texts
from mtl.methods.method import BuildRequest, LoadRequest
from mtl.methods.transformer.entry import OWN
from mtl.methods.transformer.pretrained import Pretrained, open_pretrained

logger = logging.getLogger("mtl")


def open_origin(request: BuildRequest) -> Pretrained:
    """The transformer that `transformer.path` names; without a path, a tiny one, which is pre-trained on the training texts of all the suite's
    tasks if it does not exist.

    Raises InputError as `open_pretrained` does.
    """
    config, suite = request.config, request.suite
    path = config.transformer.path
    if path is None:
        train = next((wing.own_body for wing in wings() if wing.own_body), None)
        if train is None:
            message = "names no transformer: a folder, or a name on the Hugging Face Hub"
            raise InputError(message, key="transformer.path")
        texts = training_texts(suite, request.data_dir, config.held_out)
        path = str(train(texts, suite.language, Path(config.embeddings_dir) / f"{suite.name}-transformer", OWN))
    pretrained = open_pretrained(path, config.transformer.tokenizer)
    logger.info(
        "transformer %s: %d layers of %d, %s weights",
        *(path, pretrained.layers, pretrained.dim, f"{pretrained.parameters:,}"),
    )
    if pretrained.longest is not None and pretrained.longest < config.max_length:
        logger.info(
            "max_length=%d: the transformer takes %d tokens at most, and inputs are cut to these",
            *(config.max_length, pretrained.longest),
        )
    return pretrained


def tasks_seen(request: LoadRequest, trained_on: Sequence[str]) -> list[str]:
    """The ids of the tasks whose training rows a body has seen that was trained on these; the tiny one has read those of the suite."""
    if request.config.transformer.path is not None:
        return list(trained_on)
    return [id for id, task in request.suite.tasks.items() if task.files.get("train") is not None]


def model_folder(folder: Path) -> Path:
    """Where a run in this folder keeps the transformer's configuration and tokenizer."""
    return folder / "transformer"
