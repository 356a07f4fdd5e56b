"""Train or download embeddings without a run."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtl.config.files import find_suite, shipped
from mtl.device import device_of
from mtl.embedders import EMBEDDERS
from mtl.embedders.recipes import fetch, load_recipe, trained_file
from mtl.embedders.train import train_on_files, train_on_suite, training_settings
from mtl.errors import InputError
from mtl.jobs.training_text import TrainingText
from mtl.tasks.suite import load_suite

logger = logging.getLogger("mtl")


def train_embeddings(
    name: str, text: TrainingText, settings: Mapping[str, Any], out: str | None = None, accelerator: str = "auto"
) -> Path:
    """Train vectors of the kind `name` and return their path. Raises InputError.

    settings: fields of `mtl.embedders.fasttext.FastTextTraining` or `mtl.embedders.elmo.training.ELMoTraining`.
    out: the file, or for an ELMo the folder, to write; None: a path below embeddings/ that is named after the suite.
    """
    text.check("embeddings train")
    if text.texts is not None and out is None:
        raise InputError("embeddings train: name what to write: out=PATH")
    if text.suite is None and text.language is None:
        raise InputError(
            "embeddings train: name the language of the texts, for the tokenizer: language=CODE, as in language=sv"
        )
    training = training_settings(name, settings)
    files = EMBEDDERS[name].files
    assert files is not None
    job = text.job()
    if job is not None:
        path = trained_file(Path("embeddings") / files.trained_name(job.suite.name), job.config.held_out)
    if out is not None:
        path = Path(out)
    if path.is_dir() and files.exists(path):
        raise InputError(
            f"{path}: holds an {EMBEDDERS[name].title} already; remove it or name another folder with out="
        )
    device = device_of(accelerator, "accelerator")
    if job is not None:
        train_on_suite(training, job.suite, job.data_dir, job.config.held_out, path, device, text.files)
    else:
        train_on_files(training, text.files, text.language or "", path, device)
    return path


def fetch_embeddings(name: str, recipe: str | None = None, embeddings_dir: str = "embeddings") -> Path:
    """Download the pretrained vectors of a recipe and return their path. Raises InputError.

    recipe: a name or a path; None: the recipe for this kind of embeddings that says where to download them, KLEJ's if there are several.
    """
    if recipe is None:
        recipes = [load_recipe(file.stem) for file in sorted(shipped("embeddings").glob("*.yaml"))]
        names = [found.name for found in recipes if found.embeddings == name and found.url]
        if not names:
            raise InputError(
                f"embeddings fetch: no recipe says where to download {name} embeddings; name your own: recipe=PATH"
            )
        klej = load_suite(find_suite("klej")).embeddings.get(name)
        recipe = klej if klej in names else names[0]
        logger.info("recipe=%s", recipe)
    return fetch(recipe, Path(embeddings_dir))
