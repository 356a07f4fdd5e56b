"""Requests to build embeddings of the small suite's words, and trainings of embeddings that are short."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mtl.base.settings.schema import EmbedderOptions
from mtl.data.dataset import load_dataset
from mtl.data.text import TokenizedTexts, Vocabulary, tokenized
from mtl.embedders import recipes
from mtl.embedders.find import find_vectors
from mtl.embedders.interface import EmbeddingsRequest
from mtl.embedders.words import WordEmbeddings, coverage
from mtl.jobs.job import Job
from mtl.tasks.suite import load_suite


def build_request(suite_file: Path, options: EmbedderOptions, path: Path | None = None) -> EmbeddingsRequest:
    """For the texts of the task `kansla`: 60 of train, 30 of dev, 10 of test. Each ends in a number of its own."""
    suite = load_suite(suite_file)
    dataset = load_dataset(suite, suite.choose(["kansla"]), suite_file.parent / "data", 0.1)
    texts = tokenized(dataset.texts, suite.language, 50)
    cache_dir = suite_file.parent / "cache"
    return EmbeddingsRequest(options, texts, dataset.distinct_texts("train"), path, cache_dir, torch.device("cpu"))


def vectors_of(run: Job) -> Path | None:
    """The file or folder of a run's vectors, which are trained first if they do not exist."""
    if vectors := find_vectors(run.config, run.suite):
        vectors.check_obtainable()
        vectors.train_if_missing(run.suite, run.data_dir, run.config.held_out, torch.device("cpu"))
    return None if vectors is None else vectors.path


# Of padding and of the unknown word, then of the words pies and kot.
VECTORS = np.array([[0, 0], [2, 4], [1, 2], [3, 6]], dtype=np.float32)


def two_words() -> WordEmbeddings:
    """Of the words pies and kot, in this order, with these vectors."""
    texts = TokenizedTexts(["kot pies kot"], "pl", 9)
    return WordEmbeddings(Vocabulary(["pies", "kot"]), 2, VECTORS, coverage(texts, np.ones(2, dtype=bool)), True)


def train_one_epoch(patch: pytest.MonkeyPatch) -> None:
    """Let each training of a recipe last one epoch."""
    load = recipes.load_recipe

    def shortened(name: str) -> recipes.Recipe:
        recipe = load(name)
        return replace(recipe, train={**recipe.train, "epochs": 1})

    patch.setattr(recipes, "load_recipe", shortened)
